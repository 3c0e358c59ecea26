"""One fleet run twice: by the simulator and by the literal loop."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import floor

import numpy as np
from fleets import Fleet, random_fleet, with_head_start
from literal import LiteralDirect, LiteralLoop, Upload
from quadratic import Quadratic, Watched
from timetable import Moment, Timetable, exactly, flying, in_slots

from flexpress.arrays import FloatArray
from flexpress.learning import Vector
from flexpress.planning import Plan
from flexpress.scenario import Algorithm, Clock, Scenario
from flexpress.simulation import Trace, simulate

TOLERANCE = 1e-12
"""Relative to the largest parameter that the model ever had."""


@dataclass(frozen=True, eq=False)
class Run:
    """What the simulator told while it ran, and what it asked the learner for."""

    trace: Trace
    updates: list[tuple[int, Vector]]
    learner: Watched

    def models(self, horizon: int) -> FloatArray:
        """x^0, x^1, ..., x^horizon: at each slot the last one that was announced by then."""
        return self._models([slot for slot, _ in self.updates], horizon)

    def models_by_seconds(self, horizon: int) -> FloatArray:
        """The same by the seconds of the trace: the model at the moment when each slot begins."""
        unit = Fraction(self.trace.timetable.slot)
        seconds = [0.0, *(update.seconds for update in self.trace.updates)]
        return self._models([Fraction(second) / unit for second in seconds], horizon)

    def _models(self, moments: Sequence[Moment], horizon: int) -> FloatArray:
        latest = [bisect_right(moments, t) - 1 for t in range(horizon + 1)]
        return np.array([self.updates[j][1] for j in latest])


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
    """By the scenario's clock; in whole slots everyone is met at the slot of departure.

    But not clients with x^0 on board: they train until they are met, so it matters when.
    """
    if fleet.scenario.run.clock == "exact" or fleet.scenario.run.preloaded:
        return real_timetables(fleet)
    return [in_slots(tour) for tour in flying(fleet.plan)]


def real_timetables(fleet: Fleet) -> list[Timetable]:
    """Clients are met in the slot in which the transporter arrives, or at the very second."""
    slot, tours = fleet.scenario.slot, flying(fleet.plan)
    if fleet.scenario.run.clock == "exact":
        return [exactly(tour, slot) for tour in tours]
    return [in_slots(tour, [floor(arrival / slot) for arrival in tour.arrivals]) for tour in tours]


def literal_run(
    fleet: Fleet,
    learner: Quadratic,
    algorithm: Algorithm,
    times: list[Timetable] | None = None,
) -> tuple[FloatArray, LiteralLoop]:
    """x at every slot, and the loop with its books."""
    flown, ours = algorithm != "direct", fleet.scenario.run
    kind = LiteralLoop if flown else LiteralDirect
    loop = kind(
        timetables(fleet) if times is None else times,
        learner.initial_model(),
        learner.gradient,
        learner.learning_rate,
        sync=algorithm != "async",
        gamma=ours.head_start if flown else 0.0,
        preloaded=ours.preloaded and flown,
    )
    return np.array(list(loop.models(fleet.horizon))), loop


@dataclass(frozen=True, eq=False)
class Pair:
    """Both runs of one fleet; `expected` has x at every slot."""

    fleet: Fleet
    learner: Quadratic
    found: Run
    expected: FloatArray
    loop: LiteralLoop

    @property
    def received(self) -> list[tuple[Moment, Upload]]:
        """What the literal server got up to the horizon."""
        return [pair for pair in self.loop.server.received if pair[0] <= self.fleet.horizon]


@cache
def pair(seed: int, algorithm: Algorithm, clock: Clock, *, head_start: bool = False) -> Pair:
    """Kept, for several tests look at the same pairs."""
    fleet, learner = drawn(seed, clock, head_start=head_start)
    expected, loop = literal_run(fleet, learner, algorithm)
    return Pair(fleet, learner, run(fleet, learner, algorithm), expected, loop)


@cache
def drawn(seed: int, clock: Clock, *, head_start: bool = False) -> tuple[Fleet, Quadratic]:
    fleet = random_fleet(seed).with_clock(clock)
    if head_start:
        fleet = with_head_start(fleet, seed)
    return fleet, Quadratic.drawn(fleet.scenario.client_ids, seed)


def assert_equal_models(found: Vector, expected: Vector) -> None:
    """To 1e-12 of the scale, at every slot."""
    scale = np.abs(expected).max()
    np.testing.assert_allclose(found, expected, rtol=0, atol=TOLERANCE * scale)
