"""The loop that judges the simulator, judged itself: by recurrences and by hand."""

from __future__ import annotations

from fractions import Fraction
from math import floor

import numpy as np
import pytest
from fleets import Fleet, random_fleet
from literal import LiteralDirect, LiteralLoop
from quadratic import Quadratic
from timetable import Timetable, drawn_in_slots, exactly, flying, in_slots

from flexpress.learning import Vector

SEEDS = range(40)


def update(learner: Quadratic, client: int | str, x: Vector, first: int, number: int) -> Vector:
    """eta times the sum of the gradients of so many local steps from x."""
    local = x
    for step in range(first, first + number):
        local = local - learner.learning_rate * learner.gradient(client, local, step)
    return x - local


def aligned(
    fleet: list[Timetable], learner: Quadratic, horizon: int, *, sync: bool, gamma: float = 0.0
) -> list[Vector]:
    """The equivalent view: whoever leaves at t_0 trains at once, and the update is late.

    x^{t} = x^{t-1} - (1/N) sum of updates of Delta_k steps from x^{t - 2 Delta_k}, over all k with
    a landing at t; with a head start, from this model less gamma times the update before.
    """
    num_clients = sum(len(times.clients) for times in fleet)
    longest = max(int(times.round_trip) for times in fleet)
    models = [learner.initial_model()]
    last = {i: np.zeros_like(models[0]) for times in fleet for i in times.clients}
    for t in range(1, horizon + 1):
        total = np.zeros_like(models[0])
        for times in fleet:
            delta = longest if sync else int(times.round_trip)
            if t % delta == 0 and t >= 2 * delta:
                start = t - 2 * delta
                for i in times.clients:
                    begun = models[start] - gamma * last[i]
                    last[i] = update(learner, i, begun, start, delta)
                    total += last[i]
        models.append(models[-1] - total / num_clients)
    return models


def drawn(fleet: Fleet, seed: int) -> Quadratic:
    return Quadratic.drawn(fleet.scenario.client_ids, seed)


def literal(
    fleet: list[Timetable], learner: Quadratic, horizon: int, *, sync: bool, gamma: float = 0.0
) -> list[Vector]:
    start, eta = learner.initial_model(), learner.learning_rate
    loop = LiteralLoop(fleet, start, learner.gradient, eta, sync=sync, gamma=gamma)
    return list(loop.models(horizon))


@pytest.mark.parametrize("gamma", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("sync", [True, False])
def test_the_equivalent_view(sync: bool, gamma: float) -> None:
    for seed in SEEDS:
        fleet, rng = random_fleet(seed), np.random.default_rng(seed)
        times = [drawn_in_slots(tour, rng, ordered=False) for tour in flying(fleet.plan)]
        learner = drawn(fleet, seed)
        real = literal(times, learner, fleet.horizon, sync=sync, gamma=gamma)
        view = aligned(times, learner, fleet.horizon, sync=sync, gamma=gamma)
        np.testing.assert_allclose(real, view, rtol=1e-12, atol=1e-11)


@pytest.mark.parametrize("sync", [True, False])
def test_offsets_change_nothing(sync: bool) -> None:
    """Bit for bit, as long as the order of visits, in which the updates are added, is the same."""
    for seed in SEEDS:
        fleet, rng = random_fleet(seed), np.random.default_rng(seed)
        learner, tours = drawn(fleet, seed), flying(fleet.plan)
        at_once = literal([in_slots(t) for t in tours], learner, fleet.horizon, sync=sync)
        times = [drawn_in_slots(tour, rng, ordered=True) for tour in tours]
        assert np.array_equal(literal(times, learner, fleet.horizon, sync=sync), at_once)


def test_direct_is_local_sgd() -> None:
    for seed in SEEDS:
        fleet = random_fleet(seed)
        learner, ids = drawn(fleet, seed), fleet.scenario.client_ids
        times = [in_slots(tour) for tour in flying(fleet.plan)]
        delta = max(int(k.round_trip) for k in times)
        x = learner.initial_model()
        loop = LiteralDirect(times, x, learner.gradient, learner.learning_rate, sync=True)
        for t, model in enumerate(loop.models(fleet.horizon)):
            if t and t % delta == 0:
                x = x - np.mean([update(learner, i, x, t - delta, delta) for i in ids], axis=0)
            np.testing.assert_allclose(model, x, rtol=1e-12, atol=1e-11)


def pull(client: int | str, x: Vector, local_step: int) -> Vector:
    """The gradient of x^2 / 2."""
    return x


def test_one_client_with_a_long_stride_returns_every_six_rounds() -> None:
    """With one step and eta = 1, x^{t+1} = x^t - x^{t-1}: 1, 1, 0, -1, -1, 0, and again."""
    once = Timetable((7,), (0,), 1)
    loop = LiteralLoop([once], np.array([1.0]), pull, 1.0, sync=False)
    assert [float(x[0]) for x in loop.models(13)] == [1, 1, 0, -1, -1, 0, 1, 1, 0, -1, -1, 0, 1, 1]


@pytest.mark.parametrize(
    ("gamma", "expected"),
    [(0.5, [1, 1, 0, -0.5, -0.25, 0.125, 0.1875]), (1.0, [1, 1, 0, 0, 0, 0, 0])],
)
def test_the_same_client_with_a_head_start(gamma: float, expected: list[float]) -> None:
    """It starts from b = x - gamma m, and then m = b: with gamma = 1 it stays where it is."""
    once = Timetable((7,), (0,), 1)
    loop = LiteralLoop([once], np.array([1.0]), pull, 1.0, sync=False, gamma=gamma)
    assert [float(x[0]) for x in loop.models(6)] == expected


def test_preloaded_by_hand() -> None:
    """Met in slots 0, 1 and 2 of tours of 3, every gradient 1, eta 1: the first tour brings 1."""
    fleet = [Timetable(("a", "b", "c"), (0, 1, 2), 3)]
    loop = LiteralLoop(
        fleet, np.zeros(1), lambda client, x, step: np.ones(1), 1.0, sync=True, preloaded=True
    )
    assert [-float(x[0]) for x in loop.models(9)] == [0, 0, 0, 1, 1, 1, 4, 4, 4, 7]
    steps = [(upload.first_step, upload.num_steps) for _, upload in loop.server.received]
    assert steps == [(0, 0), (0, 1), (0, 2), (0, 3), (1, 3), (2, 3), (3, 3), (4, 3), (5, 3)]
    assert [meeting.client for meeting in loop.meetings] == ["a", "b", "c"] * 3 + ["a"]


def test_two_transporters_by_hand() -> None:
    """One client each, Delta 1 and 2, every gradient 1, eta 1, N = 2.

    From slot 2 on each landing of the first takes 1/2, from slot 4 on each of the second takes 1.
    """
    fleet = [Timetable(("a",), (0,), 1), Timetable(("b",), (1,), 2)]

    def one(client: int | str, x: Vector, local_step: int) -> Vector:
        return np.ones(1)

    loop = LiteralLoop(fleet, np.zeros(1), one, 1.0, sync=False)
    assert [-float(x[0]) for x in loop.models(7)] == [0, 0, 0.5, 1, 2.5, 3, 4.5, 5]
    loop = LiteralLoop(fleet, np.zeros(1), one, 1.0, sync=True)
    assert [-float(x[0]) for x in loop.models(7)] == [0, 0, 0, 0, 2, 2, 4, 4]


def test_steps_of_the_exact_clock() -> None:
    """floor(b / slot) - floor(a / slot) between visits at a and b; landings seen at whole slots."""
    for seed in SEEDS:
        fleet = random_fleet(seed)
        times = [exactly(tour, fleet.scenario.slot) for tour in flying(fleet.plan)]
        learner = drawn(fleet, seed)
        loop = LiteralLoop(times, learner.start, learner.gradient, 0.1, sync=False)
        assert len(list(loop.models(fleet.horizon))) == fleet.horizon + 1
        found = {(upload.client, now): upload.num_steps for now, upload in loop.server.received}
        assert found == {key: steps for k in times for key, steps in expected(k, fleet.horizon)}


def expected(times: Timetable, horizon: int) -> list[tuple[tuple[int | str, Fraction], int]]:
    """(client, landing) and the steps it brings, for all landings until the horizon has passed."""
    steps = []
    for client, offset in zip(times.clients, times.offsets, strict=True):
        tour, delta = 1, Fraction(times.round_trip)
        while (tour + 1) * delta < horizon + 1:
            visit = tour * delta + offset
            count = floor(visit) - floor(visit - delta)
            steps.append(((client, (tour + 1) * delta), count))
            tour += 1
    return steps


def test_a_clock_of_whole_slots_is_a_case_of_the_exact_one() -> None:
    """Tours that last whole slots: where inside a slot a visit falls is just another offset."""
    rng = np.random.default_rng(5)
    learner = Quadratic.drawn(range(6), 5)
    for _ in range(30):
        deltas = rng.integers(1, 6, 3).tolist()
        exact, slots = [], []
        for k, delta in enumerate(deltas):
            parts = sorted(rng.integers(0, 8 * delta, 2).tolist())
            offsets = tuple(Fraction(part, 8) for part in parts)
            exact.append(Timetable((2 * k, 2 * k + 1), offsets, Fraction(delta)))
            slots.append(Timetable((2 * k, 2 * k + 1), (0, 0), delta))
        for sync in (True, False):
            assert np.array_equal(
                literal(exact, learner, 30, sync=sync), literal(slots, learner, 30, sync=sync)
            )
