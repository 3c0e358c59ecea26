"""Measurements as text: a Markdown table that reads well on a terminal too."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from statistics import median

from measure import Measurement

Row = Sequence[str]


def comparison_row(label: str, found: Sequence[Sequence[Measurement]]) -> list[str]:
    """Value, distance to the best of the row, and seconds of every solver: none if it has none."""
    best = min((median for median in map(median_value, found) if median is not None), default=None)
    return [label, *(cell(measurements, best) for measurements in found)]


def median_value(measurements: Sequence[Measurement]) -> float | None:
    """None if most runs found no plan, as if that were the greatest value."""
    values = sorted(inf if m.value is None else m.value for m in measurements)
    middle = values[len(values) // 2] if values else inf
    return middle if middle < inf else None


def cell(measurements: Sequence[Measurement], best: float | None) -> str:
    if not measurements:
        return "-"
    wall, cpu = (median([getattr(m, kind) for m in measurements]) for kind in ("wall", "cpu"))
    seconds, value = f"{wall:.1f} / {cpu:.1f} s", median_value(measurements)
    if value is None or best is None:
        return f"none found, {seconds}"
    return f"{number(value)} {gap(value, best)}{value_range(measurements)}, {seconds}"


def value_range(measurements: Sequence[Measurement]) -> str:
    texts = ["none" if m.value is None else number(m.value) for m in measurements]
    if len(set(texts)) == 1:
        return ""
    values = [m.value for m in measurements if m.value is not None]
    return f" ({number(min(values))}-{'none' if 'none' in texts else number(max(values))})"


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
