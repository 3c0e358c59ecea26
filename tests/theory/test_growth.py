"""Growth of a linear mode with a head start: against closed forms, and against the simulator."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray
from thinned import few_and_many

from flexpress import InputError, Plan, Quadratic, Scenario, simulate
from flexpress.scenario import Algorithm, Clock
from flexpress.theory import RoundTrips, growth, stable_rate
from flexpress.theory.stability import _Landing, _Landings

TABLE = {  # share a of a tour: Sync, then four transporters that land evenly spread over the tour
    0.10: ([0.887, 0.891, 0.894, 0.897, 0.900], [0.881, 0.885, 0.889, 0.892, 0.895]),
    0.30: ([0.548, 0.474, 0.600, 0.662, 0.700], [0.683, 0.640, 0.596, 0.553, 0.564]),
    0.50: ([0.707, 0.612, 0.500, 0.354, 0.500], [0.824, 0.761, 0.697, 0.634, 0.575]),
    0.80: ([0.894, 0.775, 0.632, 0.447, 0.200], [0.983, 0.894, 0.802, 0.711, 0.834]),
    0.99: ([0.995, 0.862, 0.704, 0.497, 0.010], [1.067, 0.961, 0.853, 0.825, 0.997]),
}
"""Growth per tour for gamma = 0, 0.25, 0.5, 0.75, 1, from a prototype of one page."""


def evenly_spread(num_transporters: int) -> _Landings:
    """A tour of one slot with one step, in which they land one after another."""
    landings = [_Landing(np.array([k]), np.ones(1)) for k in range(num_transporters)]
    return _Landings(np.full(num_transporters, 1 / num_transporters), landings, 1.0, repeat=True)


def per_tour(num_transporters: int, share: float, gamma: float) -> float:
    return float(evenly_spread(num_transporters).growths(np.array([1 - share]), gamma)[0])


@pytest.mark.parametrize("share", TABLE)
def test_landings_spread_evenly_over_the_tour(share: float) -> None:
    for num, row in zip((1, 4), TABLE[share], strict=True):
        found = [per_tour(num, share, gamma) for gamma in (0, 0.25, 0.5, 0.75, 1)]
        assert found == pytest.approx(row, abs=6e-4)


def test_sync_has_the_roots_of_a_quadratic() -> None:
    """z^2 + (gamma a - 1) z + (1 - gamma) a = 0."""
    for share in np.linspace(0.01, 1.5, 12):
        for gamma in np.linspace(0, 1, 7):
            roots = np.roots([1, gamma * share - 1, (1 - gamma) * share])
            assert per_tour(1, share, gamma) == pytest.approx(np.abs(roots).max(), abs=1e-7)


def test_a_full_head_start_is_the_ideal_link() -> None:
    """Of which a tour leaves 1 - a."""
    for share in (0.1, 0.5, 0.9, 1.3, 2.1):
        assert per_tour(1, share, 1.0) == pytest.approx(abs(1 - share))


def test_four_that_are_staggered() -> None:
    """Unstable from a = 0.84 on without a head start, stable for all a < 1 from 0.25 to 0.95."""
    assert per_tour(4, 0.83, 0.0) < 1 < per_tour(4, 0.84, 0.0)
    for gamma in (0.25, 0.5, 0.75, 0.95):
        assert max(per_tour(4, a, gamma) for a in np.linspace(0.001, 0.999, 60)) < 1


@dataclass(frozen=True)
class Fleet:
    scenario: Scenario
    plan: Plan
    algorithm: Algorithm
    step: float

    @property
    def longest(self) -> int:
        return max(tour.round_trip_slots for tour in self.plan.transporters)


def random_fleet(seed: int) -> Fleet:
    """On a ruler, so that exact round trips have a common multiple too; every third one is not."""
    rng = np.random.default_rng([18, seed])
    num = int(rng.integers(1, 5))
    clients = num + int(rng.integers(0, 5))
    places = 64.0 * rng.integers(1, 12, clients) * rng.choice([-1, 1], clients)
    speeds = rng.choice([8.0, 16.0], num)
    if seed % 3 == 0:
        places, speeds = 500 * rng.standard_normal(clients), rng.uniform(8, 16, num)
    clock: Clock = "slots" if seed % 2 else "exact"
    scenario = Scenario.from_dict(
        {
            "slot": 32.0,
            "network": {"server": [0.0, 0.0], "clients": [[x, 0.0] for x in places.tolist()]},
            "fleet": {"speeds": speeds.tolist()},
            "link": {"transfer_time": 8.0},
            "run": {"clock": clock, "eval_every": 10**6, "head_start": float(rng.random())},
        }
    )
    owners = np.concatenate([np.arange(num), rng.integers(0, num, clients - num)])
    tours = [[int(i) + 1 for i in np.flatnonzero(owners == k)] for k in range(num)]
    plan = Plan.of(scenario, "sws", tours, solver="exact", seed=0, seconds=0.0)
    algorithm: Algorithm = "sync" if seed % 5 == 0 else "async"
    longest = max(tour.round_trip_slots for tour in plan.transporters)
    step = float(1 - (1 - rng.uniform(0.05, 1)) ** (1 / longest))
    if seed % 4 in (1, 2):  # many of these grow
        scenario = scenario.replace(run={"head_start": float(rng.choice([0.0, 0.1]))})
        step = float(rng.uniform(0.3, 1.5))
    return Fleet(scenario, plan, algorithm, step)


def simulated(fleet: Fleet, horizon: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The server's models, and when they are known, in slots."""
    ids = fleet.scenario.client_ids
    flat, centres = np.ones((len(ids), 1, 1)), np.zeros((len(ids), 1))
    mode = Quadratic(ids, flat, centres, np.ones(1), learning_rate=fleet.step)
    models: list[float] = []
    trace = simulate(
        fleet.scenario,
        fleet.plan,
        mode,
        algorithm=fleet.algorithm,
        horizon=horizon,
        on_update=lambda slot, model: models.append(float(model[0])),
    )
    slot = fleet.scenario.slot
    times = [0.0, *(update.seconds / slot for update in trace.updates)]
    return np.array(models), np.array(times)


def measured_growth(fleet: Fleet, horizon: int) -> float:
    """Per slot: the largest model of the last third against the largest of the third before."""
    models, times = simulated(fleet, horizon)
    thirds = [
        np.abs(models[(times > horizon * j / 3) & (times <= horizon * (j + 1) / 3)]).max()
        for j in (1, 2)
    ]
    return float((thirds[1] / thirds[0]) ** (3 / horizon))


@few_and_many(range(6), range(100))
def test_the_simulator_agrees(seeds: range) -> None:
    """Both algorithms, both clocks, steps of up to 1.5 and all kinds of tours."""
    kinds = set()
    for seed in seeds:
        fleet = random_fleet(seed)
        found = growth(fleet.scenario, fleet.plan, fleet.step, algorithm=fleet.algorithm)
        tours = min(200, int(400 / abs(math.log(found.per_slot**fleet.longest))))
        measured = measured_growth(fleet, tours * fleet.longest)
        apart = math.log(measured / found.per_slot) * fleet.longest  # per tour
        assert apart < 0.01 + 6 / tours, (seed, fleet, found, measured)
        loose = 0 if found.exact else 2 * fleet.longest / found.slots  # a norm, not a radius
        assert apart > -0.01 - 6 / tours - loose, (seed, fleet, found, measured)
        kinds.add((found.exact, found.per_slot < 1))
    assert kinds >= {(True, True), (False, True)}
    if len(seeds) > 20:
        assert len(kinds) == 4


def test_tours_without_a_common_multiple() -> None:
    """The bound comes down to the growth of nearly the same tours that have one."""
    near, far = RoundTrips((3, 4), (6.5, 7.0)), RoundTrips((3, 4), (6.5 + 1e-9, 7.0))
    found = [_Landings.of_tours(tours) for tours in (near, far)]
    assert [each.repeat for each in found] == [True, False]
    assert found[0].slots == 91
    for gamma in (0.0, 0.4, 0.8):
        exact, bound = (float(each.growths(np.array([0.8]), gamma)[0]) for each in found)
        assert exact < bound < exact * 1.002


def test_stable_rates() -> None:
    """At gamma = 0 by the formula for landings evenly spread; then by the landings themselves."""
    tours = RoundTrips((10, 11, 10, 9), (6.31, 6.61, 7.03, 6.43))
    assert stable_rate("async", tours, 2.0, 0.0) == stable_rate("async", tours, 2.0)
    few, some, more = (stable_rate("async", tours, 1.0, gamma) for gamma in (0.01, 0.1, 0.5))
    assert 0.24 < few < some < more == 1.0
    assert stable_rate("sync", tours, 2.0, 0.5) == 0.5
    for rate, border in ((0.97 * some, -1), (1.03 * some, 1)):
        lands = _Landings.of_tours(tours).growths(np.array([1 - rate]), 0.1)
        assert np.sign(np.log(lands[0])) == border


def test_what_is_refused() -> None:
    fleet = random_fleet(0)
    with pytest.raises(InputError, match="head_start = 2: must be"):
        growth(fleet.scenario, fleet.plan, 0.1, head_start=2)
    with pytest.raises(InputError, match="head_start = -1: must be"):
        stable_rate("async", RoundTrips((1,), (1,)), 1.0, -1)
    with pytest.raises(InputError, match="step = 0: must be"):
        growth(fleet.scenario, fleet.plan, 0)
    with pytest.raises(InputError, match='algorithm = "direct": must be one of sync, async'):
        growth(fleet.scenario, fleet.plan, 0.1, algorithm="direct")
