"""Measurements as text: a Markdown table that reads well on a terminal too."""

from __future__ import annotations

from collections.abc import Sequence

from measure import Measurement

Row = Sequence[str]


def comparison_row(label: str, measurements: Sequence[Measurement | None]) -> list[str]:
    """Value, distance to the best of the row, and seconds of every solver."""
    values = [m.value for m in measurements if m is not None and m.value is not None]
    best = min(values, default=None)
    return [label, *(cell(measurement, best) for measurement in measurements)]


def cell(measurement: Measurement | None, best: float | None) -> str:
    if measurement is None:
        return "-"
    seconds = f"{measurement.wall:.1f} / {measurement.cpu:.1f} s"
    if measurement.value is None or best is None:
        return f"none found, {seconds}"
    return f"{number(measurement.value)} {gap(measurement.value, best)}, {seconds}"


def gap(value: float, best: float) -> str:
    """Per cent above the best; what is below a thousandth of that is rounding."""
    above = 100 * (value / best - 1)
    return "best" if above < 1e-3 else f"+{above:.2f} %"


def number(value: float) -> str:
    return f"{value:,.2f}" if value < 1e5 else f"{value:,.0f}"


def table_head(head: Row, widths: Sequence[int]) -> str:
    rule = ["-" * width for width in widths]
    return f"{table_row(head, widths)}\n{table_row(rule, widths)}"


def table_row(row: Row, widths: Sequence[int]) -> str:
    """Widths are fixed beforehand, so that a row can be printed as soon as it is known."""
    cells = (text.ljust(width) for text, width in zip(row, widths, strict=True))
    return f"| {' | '.join(cells)} |"
