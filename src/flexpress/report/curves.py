"""Learning curves: how good the global model is, slot by slot, one line for each algorithm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from flexpress.arrays import FloatArray
from flexpress.report.curve import Curve, curve_of
from flexpress.report.curve_axes import (
    CROSS,
    DOT,
    add_time,
    add_title,
    explain_marks,
    plain,
    scale_accuracy,
    scale_loss,
    scale_slots,
)
from flexpress.report.curve_labels import label_curves
from flexpress.report.palette import ALGORITHMS
from flexpress.report.png import png_bytes
from flexpress.scenario import Algorithm
from flexpress.simulation import Trace

DOTS_PER_INCH = 200
SIZE = (6.0, 5.2)  # inches
HEIGHTS = (2.2, 1.0)  # of accuracy and loss

MANY = 1500  # points from which lines are thin
DASH, PAUSE = 4, 8  # a line twice as long lies between: three that coincide take turns


def curves_png(traces: Mapping[Algorithm, Trace], title: str) -> bytes:
    """The same traces give the same bytes; the numbers are those of `metrics.csv`."""
    return png_bytes(curves_figure(traces, title), DOTS_PER_INCH)


def curves_figure(traces: Mapping[Algorithm, Trace], title: str) -> Figure:
    """Accuracy above, loss below, both against slots; the simulated time on top."""
    curves = [curve for curve in map(curve_of, traces.values()) if len(curve.slots)]
    accuracies = [100 * curve.accuracies for curve in curves]
    losses = [curve.losses for curve in curves]
    upper, lower = new_axes()
    draw(upper, curves, accuracies)
    draw(lower, curves, losses)
    scale_slots(lower, max((float(curve.slots[-1]) for curve in curves), default=0.0))
    scale_accuracy(upper, accuracies)
    scale_loss(lower, losses)
    add_time(upper, max((trace.timetable.slot for trace in traces.values()), default=1.0))
    label_curves(upper, curves, [float(values[-1]) for values in accuracies])
    dots = any(curve.setting_out is not None for curve in curves)
    crosses = not all(curve.complete for curve in curves)
    explain_marks(lower, [DOT] * dots + [CROSS] * crosses)
    add_title(upper, title)
    figure = upper.figure
    assert isinstance(figure, Figure)
    return figure


def new_axes() -> tuple[Axes, Axes]:
    figure = Figure(figsize=SIZE, facecolor="white")
    FigureCanvasAgg(figure)
    grid = {"height_ratios": HEIGHTS, "hspace": 0.1}
    upper, lower = figure.subplots(2, 1, sharex=True, gridspec_kw=grid)
    upper.tick_params(axis="x", length=0)
    plain(upper)
    plain(lower)
    return upper, lower


def draw(ax: Axes, curves: Sequence[Curve], heights: Sequence[FloatArray]) -> None:
    """A line each; of lines that coincide the later ones are dashed, so that all are seen."""
    for j, (curve, height) in enumerate(zip(curves, heights, strict=True)):
        beneath = sum(np.array_equal(height, other) for other in heights[:j])
        ax.plot(
            curve.slots,
            height,
            label=curve.algorithm,
            color=ALGORITHMS[curve.algorithm],
            linewidth=1.6 if len(height) < MANY else 0.6,
            linestyle=(DASH * beneath, (DASH, PAUSE)) if beneath else "-",
            marker="o" if len(height) == 1 else "",
            zorder=2 + 0.1 * j,
        )
        mark(ax, curve, height)


def mark(ax: Axes, curve: Curve, height: FloatArray) -> None:
    """A dot where the model is about to change for the first time, a cross at an early end."""
    colour, start = ALGORITHMS[curve.algorithm], curve.setting_out
    if start is not None:
        dot = ax.scatter(curve.slots[start], height[start], s=30, color=colour, zorder=3)
        dot.set(edgecolors="white", linewidths=0.8, clip_on=False)
    if not curve.complete:
        ax.scatter(curve.slots[-1], height[-1], s=50, marker="x", color=colour, clip_on=False)
