"""What the sweeps found: differences with their intervals over networks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from flexpress.experiments.results import Result, Results
from flexpress.experiments.statistics import Interval, over_networks
from flexpress.experiments.sweeps import Sweep, SweepPoint


@dataclass(frozen=True)
class SweptPoint:
    series: str
    x: float
    mean: Interval  # differences of mean accuracies
    final: Interval
    networks: int


def measure_sweep(sweep: Sweep, results: Results) -> list[SweptPoint]:
    """Series by series; points without a run are left out."""
    return [
        found
        for series in sweep.series
        for point in series.points
        if (found := _measure(series.label, point, results))
    ]


def _measure(label: str, point: SweepPoint, results: Results) -> SweptPoint | None:
    first, second = results.of(point.first), results.of(point.second)
    cells = [cell for cell in first if cell in second]
    if not cells:
        return None

    def difference(of: Callable[[Result], float]) -> Interval:
        return over_networks({cell: of(first[cell]) - of(second[cell]) for cell in cells})

    return SweptPoint(
        label,
        point.x,
        difference(lambda run: run.mean_accuracy),
        difference(lambda run: run.final_accuracy),
        len({network for network, _ in cells}),
    )


def where_surely(points: list[SweptPoint], series: str, sign: int) -> list[float]:
    """Where the whole interval of the mean accuracy has this sign."""
    return [
        point.x
        for point in points
        if point.series == series
        and point.mean.low is not None
        and point.mean.high is not None
        and min(sign * point.mean.low, sign * point.mean.high) > 0
    ]
