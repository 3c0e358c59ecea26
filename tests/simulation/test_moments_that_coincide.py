"""Moments that coincide: rounding must not tear apart what happens at once, nor time stop."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from fleets import Fleet, plan_of
from quadratic import Quadratic
from runs import Run, assert_equal_models, literal_run, run

from flexpress.learning import Vector
from flexpress.planning.problem import Tours
from flexpress.scenario import Algorithm, Clock, Scenario
from flexpress.simulation import simulate

each_algorithm = pytest.mark.parametrize("algorithm", get_args(Algorithm))


def on_a_line(
    places: list[float],
    tours: Tours,
    *,
    slot: float,
    transfer_time: float,
    horizon: int,
    clock: Clock = "exact",
) -> Fleet:
    """Clients on a line through the server, transporters of 1 m/s."""
    scenario = Scenario.from_dict(
        {
            "slot": slot,
            "network": {"server": [0, 0], "clients": [[x, 0] for x in places]},
            "fleet": {"speeds": [1.0] * len(tours)},
            "link": {"transfer_time": transfer_time},
            "run": {"clock": clock, "eval_every": 1, "head_start": 0.0},
        }
    )
    return Fleet(scenario, plan_of(scenario, tours), horizon)


def run_of(fleet: Fleet, algorithm: Algorithm) -> Run:
    return run(fleet, Quadratic.drawn(fleet.scenario.client_ids, 1), algorithm)


@each_algorithm
@pytest.mark.parametrize(
    ("slot", "transfer_time", "place", "delta"),
    [
        (2.7, 0.0, 4.05, 3),
        (8.1, 1.8, 23.4, 6),  # 48.6 s become 48.599999999999994
        (7.3, 1.0, 21.4, 6),
        (5.6, 0.5, 22.15, 8),
        (8.1, 0.0, 24.3, 6),
        (0.1, 0.1, 0.1, 3),  # met at the end of the first slot
        (0.5, 0.1, 0.7, 3),
        (60.0, 20.0, 80.0, 3),
    ],
)
def test_tours_of_whole_slots(
    slot: float, transfer_time: float, place: float, delta: int, algorithm: Algorithm
) -> None:
    """Decimals are not binary fractions: 3 x 2.7 s are three slots of 2.7 s all the same.

    Delta_k is rounded up with a guard, so that it is 3; then both clocks must tell the same.
    """
    fleet = on_a_line([place], [[1]], slot=slot, transfer_time=transfer_time, horizon=6 * delta)
    slots, exact = (run_of(fleet.with_clock(clock), algorithm) for clock in ("slots", "exact"))
    assert fleet.slots == [delta]
    assert [slot for slot, _ in exact.updates] == [slot for slot, _ in slots.updates]
    steps = [[(job.first_step, job.num_steps) for job in r.learner.jobs] for r in (exact, slots)]
    assert steps[0] == steps[1]
    assert np.array_equal(exact.models(fleet.horizon), slots.models(fleet.horizon))


def test_equal_tours_land_together() -> None:
    """The same way, once flown the other way round: 3.0 s and 2.9999999999999996 s.

    Who lands at one moment is merged together, and all leave with the new model.
    """
    places = [0.3, 0.6, 0.9, 1.3]
    mirrored = [*places, *(-place for place in places)]
    tours = [[1, 2, 3, 4], [8, 7, 6, 5]]
    fleet = on_a_line(mirrored, tours, slot=0.5, transfer_time=0.1, horizon=24)
    one, other = (tour.round_trip for tour in fleet.plan.transporters)
    assert one != other
    assert one == pytest.approx(other, rel=1e-15)
    updates = run_of(fleet, "async").trace.updates
    assert [len(update.contributions) for update in updates] == [2, 2, 2]


def test_a_last_visit_at_the_moment_of_landing() -> None:
    """A client beside the server, a transfer of no time: still one landing, with the other's."""
    fleet = on_a_line([8, 0, -8], [[1, 2], [3]], slot=4.0, transfer_time=0.0, horizon=20)
    assert fleet.plan.transporters[0].arrivals[-1] == fleet.plan.transporters[0].round_trip
    learner = Quadratic.drawn(fleet.scenario.client_ids, 1)
    expected, _ = literal_run(fleet, learner, "async")
    assert_equal_models(run(fleet, learner, "async").models(fleet.horizon), expected)


@each_algorithm
def test_announcements_and_measurements_speak_of_the_same_slots(algorithm: Algorithm) -> None:
    """With an evaluation at every slot, what is measured at slot t is what was announced until t.

    A round trip of 1.75 slots.
    """
    fleet = on_a_line([3.0], [[1]], slot=4.0, transfer_time=1.0, horizon=12)
    learner = Quadratic.drawn(fleet.scenario.client_ids, 1)
    found = run(fleet, learner, algorithm)
    losses = [learner.evaluate(model)[0] for model in found.models(fleet.horizon)]
    assert [measured.loss for measured in found.trace.metrics] == losses


@each_algorithm
def test_a_tour_of_no_time_takes_one_slot(algorithm: Algorithm) -> None:
    """Delta_k is at least 1 slot for whoever has clients, or else time would stand still."""
    fleet = on_a_line([0.0], [[1]], slot=4.0, transfer_time=0.0, horizon=5, clock="slots")
    announced: list[int] = []

    def announce(slot: int, model: Vector) -> None:
        announced.append(slot)
        assert len(announced) <= 6

    learner = Quadratic.drawn(fleet.scenario.client_ids, 1)
    simulate(
        fleet.scenario, fleet.plan, learner, algorithm=algorithm, horizon=5, on_update=announce
    )
    assert announced == ([0, 1, 2, 3, 4, 5] if algorithm == "direct" else [0, 2, 3, 4, 5])
