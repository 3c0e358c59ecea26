"""Learning curves of one or more runs: test accuracy and loss, one line per run.

An algorithm has its colour; with a head start its line is dashed.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from flexpress.arguments import check_all, check_path, check_text
from flexpress.arrays import FloatArray
from flexpress.files.disk import write_file
from flexpress.report.figures.curve_axes import (
    CROSS,
    DOT,
    add_time,
    add_title,
    explain_marks,
    plain,
    scale_accuracy,
    scale_loss,
    scale_slots,
    write_beside,
)
from flexpress.report.figures.picture import new_figure, png_bytes
from flexpress.report.figures.style import ALGORITHMS, DASHES, LineStyle
from flexpress.simulation import Measurement, RunName, Trace
from flexpress.simulation.events import Update

_SIZE = (6.0, 5.2)  # inches
_HEIGHTS = (2.2, 1.0)  # of accuracy and loss

_MANY = 1500  # points from which lines are thin
_DASH, _PAUSE = 4, 16  # five lines that coincide take turns


@dataclass(frozen=True, eq=False)
class _Curve:
    """All measurements of a trace, and the last slot at which the model was still x^0."""

    label: str
    colour: str
    dashed: bool
    slots: FloatArray  # (points,)
    accuracies: FloatArray  # (points,)
    losses: FloatArray  # (points,)
    first_update: int | None  # the point at which the model is about to change
    complete: bool  # whether it reaches the horizon


def _curve_of(trace: Trace) -> _Curve:
    """The model stays x^0 until the first update: one more point keeps the line flat until then."""
    points, first = list(trace.metrics), None
    update = next((event for event in trace.events() if isinstance(event, Update)), None)
    if update is not None and points:
        first = bisect_left(points, update.seconds, key=lambda point: point.seconds)
        start = points[0]
        flat = Measurement(update.slot, update.seconds, start.loss, start.accuracy)
        points.insert(first, flat)
    seconds, losses, accuracies = (
        np.array([(point.seconds, point.loss, point.accuracy) for point in points], dtype=float)
        .reshape(-1, 3)
        .T
    )
    return _Curve(
        label=trace.label,
        colour=ALGORITHMS[trace.timetable.algorithm],
        dashed=trace.head_start > 0,
        slots=seconds / trace.timetable.slot,
        accuracies=accuracies,
        losses=losses,
        first_update=first,
        complete=trace.complete,
    )


def save_curves(traces: Sequence[Trace], path: str | Path, *, title: str = "") -> None:
    """Draw the learning curves of these runs as a PNG file; an existing file is replaced."""
    traces = check_all("traces", traces, Trace, "make them with simulate")
    check_text("title", title)
    write_file(check_path("path", path), png_bytes(_curves_figure(traces, title)))


def curves_png(traces: Mapping[RunName, Trace], title: str) -> bytes:
    return png_bytes(_curves_figure(list(traces.values()), title))


def _curves_figure(traces: Sequence[Trace], title: str) -> Figure:
    """Accuracy above, loss below, both over slots; the simulated time on top."""
    curves = [curve for curve in map(_curve_of, traces) if len(curve.slots)]
    accuracies = [100 * curve.accuracies for curve in curves]
    losses = [curve.losses for curve in curves]
    upper, lower = _new_axes()
    _draw(upper, curves, accuracies)
    _draw(lower, curves, losses)
    scale_slots(lower, max((float(curve.slots[-1]) for curve in curves), default=0.0))
    scale_accuracy(upper, accuracies)
    scale_loss(lower, losses)
    add_time(upper, max((trace.timetable.slot for trace in traces), default=1.0))
    _label_curves(upper, curves, [float(values[-1]) for values in accuracies])
    dots = any(curve.first_update is not None for curve in curves)
    crosses = not all(curve.complete for curve in curves)
    explain_marks(lower, [DOT] * dots + [CROSS] * crosses)
    add_title(upper, title)
    figure = upper.figure
    assert isinstance(figure, Figure)
    return figure


def _new_axes() -> tuple[Axes, Axes]:
    grid = {"height_ratios": _HEIGHTS, "hspace": 0.1}
    upper, lower = new_figure(*_SIZE).subplots(2, 1, sharex=True, gridspec_kw=grid)
    upper.tick_params(axis="x", length=0)
    plain(upper)
    plain(lower)
    return upper, lower


def _draw(ax: Axes, curves: Sequence[_Curve], heights: Sequence[FloatArray]) -> None:
    """One line per curve; where lines coincide, the later ones are dashed so that all are seen."""
    for j, (curve, height) in enumerate(zip(curves, heights, strict=True)):
        beneath = sum(np.array_equal(height, other) for other in heights[:j])
        ax.plot(
            curve.slots,
            height,
            label=curve.label,
            color=curve.colour,
            linewidth=1.6 if len(height) < _MANY else 0.6,
            linestyle=_style(curve, beneath),
            marker="o" if len(height) == 1 else "",
            zorder=2 + 0.1 * j,
        )
        _mark(ax, curve, height)


def _style(curve: _Curve, beneath: int) -> LineStyle:
    """`beneath` is the number of lines that it would hide."""
    if beneath:
        return _DASH * beneath, (_DASH, _PAUSE)
    return DASHES if curve.dashed else "-"


def _mark(ax: Axes, curve: _Curve, height: FloatArray) -> None:
    """A dot at the first update of the model, a cross where a run ends early."""
    colour, start = curve.colour, curve.first_update
    if start is not None:
        dot = ax.scatter(curve.slots[start], height[start], s=30, color=colour, zorder=3)
        dot.set(edgecolors="white", linewidths=0.8, clip_on=False)
    if not curve.complete:
        ax.scatter(curve.slots[-1], height[-1], s=50, marker="x", color=colour, clip_on=False)


def _label_curves(ax: Axes, curves: Sequence[_Curve], ends: Sequence[float]) -> None:
    """Write each run and its final value in per cent to the right of the axes."""
    texts = [_label_text(curve, end) for curve, end in zip(curves, ends, strict=True)]
    write_beside(ax, texts, [curve.colour for curve in curves], ends)


def _label_text(curve: _Curve, end: float) -> str:
    text = f"{curve.label}  {end:.1f} %"
    return text if curve.complete else f"{text} at slot {curve.slots[-1]:,.0f}"
