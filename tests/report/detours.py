"""The valley with two no-fly zones, and ways around them that were set by hand."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from flexpress import Plan, Scenario
from flexpress.scenario import Point

TOURS = [[6, 8, 10, 9, 7], [12, 5, 4, 3], [2, 11, 1]]
WAYS: dict[tuple[int, int], tuple[Point, ...]] = {
    (0, 6): ((1250.0, 1100.0),),
    (7, 0): ((1150.0, 1500.0), (800.0, 1300.0)),
}
ZONES: tuple[tuple[Point, ...], ...] = (
    ((900.0, 900.0), (1250.0, 1100.0), (1150.0, 1500.0), (800.0, 1300.0)),
    ((1900.0, 700.0), (2300.0, 650.0), (2350.0, 1000.0)),
)


class Detours(Scenario):
    """Distances that follow the ways, as they are where zones are given."""

    @property
    def no_fly(self) -> tuple[tuple[Point, ...], ...]:
        return ZONES

    def corners(self, i: int, j: int) -> tuple[Point, ...]:
        return WAYS.get((i, j), WAYS.get((j, i), ())[::-1])

    @cached_property
    def distances(self) -> NDArray[np.float64]:
        nodes = range(len(self.positions))
        return np.array([[self.metres(i, j) for j in nodes] for i in nodes])

    def metres(self, i: int, j: int) -> float:
        return length([self.positions[i], *self.corners(i, j), self.positions[j]])


def length(points: list[Point]) -> float:
    return float(np.hypot(*np.diff(np.array(points), axis=0).T).sum())


def valley_with_detours() -> tuple[Scenario, Plan]:
    scenario = Detours.preset("valley").replace(fleet={"budgets": None})
    return scenario, Plan.of(scenario, "sws", TOURS, solver="search", seed=0, seconds=1.0)
