"""One fleet run twice: by the simulator and by the literal loop."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from fleets import Fleet
from literal import LiteralDirect, LiteralLoop
from numpy.typing import NDArray
from quadratic import Quadratic, Watched
from timetable import Timetable, exactly, flying, in_slots

from flexpress.learning import Vector
from flexpress.planning import Plan
from flexpress.scenario import Algorithm, Scenario
from flexpress.simulation import Trace, simulate

TOLERANCE = 1e-12
"""Relative to the largest parameter that the model ever had."""

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Run:
    """What the simulator told while it ran, and what it asked the learner for."""

    trace: Trace
    updates: list[tuple[int, Vector]]
    learner: Watched

    def models(self, horizon: int) -> FloatArray:
        """x^0, x^1, ..., x^horizon: at each slot the last one that was announced."""
        latest = dict(self.updates)
        models = [latest[0]]
        for t in range(1, horizon + 1):
            models.append(latest.get(t, models[-1]))
        return np.array(models)


def watch(
    scenario: Scenario, plan: Plan, learner: Quadratic, algorithm: Algorithm, horizon: int
) -> Run:
    updates: list[tuple[int, Vector]] = []
    watched = Watched(learner)
    trace = simulate(
        scenario,
        plan,
        watched,
        algorithm=algorithm,
        horizon=horizon,
        on_update=lambda slot, model: updates.append((slot, model.copy())),
    )
    return Run(trace, updates, watched)


def run(fleet: Fleet, learner: Quadratic, algorithm: Algorithm) -> Run:
    return watch(fleet.scenario, fleet.plan, learner, algorithm, fleet.horizon)


def timetables(fleet: Fleet) -> list[Timetable]:
    """By the scenario's clock; in whole slots everyone is met at the slot of departure."""
    tours = flying(fleet.plan)
    if fleet.scenario.run.clock == "exact":
        return [exactly(tour, fleet.scenario.slot) for tour in tours]
    return [in_slots(tour) for tour in tours]


def literal_run(
    fleet: Fleet,
    learner: Quadratic,
    algorithm: Algorithm,
    times: list[Timetable] | None = None,
) -> tuple[FloatArray, LiteralLoop]:
    """x at every slot, and the loop with its books."""
    kind = LiteralDirect if algorithm == "direct" else LiteralLoop
    loop = kind(
        timetables(fleet) if times is None else times,
        learner.initial_model(),
        learner.gradient,
        learner.learning_rate,
        sync=algorithm != "async",
    )
    return np.array(list(loop.models(fleet.horizon))), loop


def assert_equal_models(found: FloatArray, expected: FloatArray) -> None:
    """To 1e-12 of the scale, at every slot."""
    scale = np.abs(expected).max()
    np.testing.assert_allclose(found, expected, rtol=0, atol=TOLERANCE * scale)
