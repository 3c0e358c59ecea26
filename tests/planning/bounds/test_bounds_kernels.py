"""The compiled parts of the bounds against brute force over all tours of a few clients."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest
from small_problems import small_problem

from flexpress.arrays import FloatArray
from flexpress.planning.bounds.completions import most_prizes
from flexpress.planning.bounds.enumeration import enumerate_tours
from flexpress.planning.bounds.pricing import make_labels, price
from flexpress.planning.bounds.pricing_data import (
    FREE,
    SWS,
    TOTAL,
    PricingTask,
    kinds_of,
    pricing_data,
    shortest_tours,
    tour_rules,
)
from flexpress.planning.problem import BUDGET_TOLERANCE, Problem

COSTS = {"free": FREE, "total": TOTAL, "sws": SWS}
SEEDS = range(40)
SEVEN_CLIENTS = [21, 36]
LABELS = make_labels(20_000)
STEPS = 64


class Pricing:
    """A small problem, prizes and limits, all drawn, and what brute force says about them."""

    def __init__(self, seed: int, cost: int, *, max_clients: int = 5) -> None:
        rng = np.random.default_rng([seed, cost])
        self.problem = small_problem(seed, max_clients=max_clients)
        nodes = self.problem.num_clients + 1
        self.kind = kinds_of(self.problem)[0]
        length = self.problem.length(range(1, nodes))
        everyone = self.kind.time_per_metre * length + self.kind.time_per_client * nodes
        self.latest = np.full(nodes, rng.choice([0.3, 0.6, 1.0, np.inf]) * everyone)
        self.rules = tour_rules(self.kind, cost, self.latest, self.problem.distances())
        self.data = pricing_data(self.problem, int(rng.integers(1, 6)))
        typical = {FREE: 1.0, TOTAL: everyone, SWS: everyone**2}[cost]
        self.prizes: FloatArray = np.append(0.0, 2 * typical / nodes * rng.random(nodes - 1))
        self.cost = cost

    def task(self, below: float = 0.0) -> PricingTask:
        return PricingTask(self.data, self.rules, self.prizes, below)

    def allowed_tours(self) -> Iterator[tuple[tuple[int, ...], float, float]]:
        """Every tour within budget and time: its clients, its length, its cost - prizes."""
        for tour in elementary_tours(self.problem):
            count, length = len(tour), self.problem.length(tour)
            kind = self.kind
            round_trip = kind.time_per_metre * length + kind.time_per_client * count
            energy = kind.energy_per_metre * length + kind.energy_per_client * count
            in_time = round_trip <= self.latest[count] * (1 + 1e-12)
            if in_time and energy <= kind.budget * (1 + BUDGET_TOLERANCE):
                costs = {FREE: 0.0, TOTAL: round_trip, SWS: count * round_trip**2}
                yield tour, length, costs[self.cost] - self.prizes[list(tour)].sum()

    def least(self, below: float) -> float:
        return min((value for _, _, value in self.allowed_tours()), default=below)


def elementary_tours(problem: Problem) -> Iterator[tuple[int, ...]]:
    clients = range(1, problem.num_clients + 1)
    for count in clients:
        yield from itertools.permutations(clients, count)


@pytest.mark.parametrize("cost", COSTS.values(), ids=COSTS)
def test_price_is_never_above_the_cheapest_tour(cost: int) -> None:
    exact = 0
    for seed in SEEDS:
        case = Pricing(seed, cost)
        least = case.least(below=0.0)
        low, proven, _, _ = price(case.task(), LABELS, 0, STEPS, 5)
        assert proven
        assert low <= min(least, 0.0) + 1e-9 * case.prizes.sum(), seed
        exact += low >= min(least, 0.0) - 1e-9 * case.prizes.sum()
    assert exact > 0.7 * len(SEEDS)  # routes that visit a client twice make the rest


@pytest.mark.parametrize("cost", COSTS.values(), ids=COSTS)
def test_price_with_full_memory_is_the_cheapest_tour(cost: int) -> None:
    for seed in SEEDS:
        case = Pricing(seed, cost)
        case.data = pricing_data(case.problem, 12)
        low, _, routes, _ = price(case.task(), LABELS, 0, STEPS, 5)
        assert low == pytest.approx(min(case.least(below=0.0), 0.0), abs=1e-8 * case.prizes.sum())
        for route in routes:
            tour = route[route > 0].tolist()
            assert len(set(tour)) == len(tour)


def test_price_without_room_or_with_narrow_layers_claims_nothing() -> None:
    case = Pricing(3, SWS)
    for labels, width in [(make_labels(1), 0), (LABELS, 1)]:
        low, proven, _, _ = price(case.task(), labels, width, STEPS, 5)
        assert not proven
        assert low >= case.least(below=0.0) - 1e-9 * case.prizes.sum()


@pytest.mark.parametrize("cost", COSTS.values(), ids=COSTS)
def test_most_prizes_is_never_below_what_a_way_home_collects(cost: int) -> None:
    for seed in SEEDS:
        case = Pricing(seed, cost)
        table = most_prizes(case.task(), STEPS)
        step = case.rules.reach / STEPS
        distances = case.problem.distances()
        for tour in elementary_tours(case.problem):
            way = sum(distances[i, j] for i, j in itertools.pairwise([*tour, 0]))
            entry = int(way / step)
            if len(tour) < len(case.rules.longest) and entry < STEPS:
                collected = case.prizes[list(tour[1:])].sum()
                assert table[len(tour) - 1, tour[0], entry] >= collected * (1 - 1e-9), (seed, tour)


@pytest.mark.parametrize("cost", COSTS.values(), ids=COSTS)
def test_enumeration_finds_the_sets_that_brute_force_finds(cost: int) -> None:
    cases = [Pricing(seed, cost) for seed in SEEDS]
    cases += [Pricing(seed, cost, max_clients=7) for seed in SEVEN_CLIENTS]
    for seed, case in enumerate(cases):
        below = float(np.random.default_rng(seed).uniform(-1.0, 0.5)) * case.prizes.sum()
        expected: dict[int, float] = {}
        for tour, length, value in case.allowed_tours():
            if value < below:
                clients = sum(1 << (i - 1) for i in tour)
                expected[clients] = min(length, expected.get(clients, np.inf))
        sets, lengths, complete = enumerate_tours(case.task(below), STEPS, 1000)
        assert complete
        assert len(set(sets.tolist())) == len(sets)
        found = dict(zip(sets.tolist(), lengths.tolist(), strict=True))
        assert found == pytest.approx(expected), seed


def test_enumeration_without_room_says_that_it_is_not_complete() -> None:
    case = Pricing(3, FREE)
    _, _, complete = enumerate_tours(case.task(1.0), STEPS, 2)
    assert not complete


@pytest.mark.parametrize("seed", SEEDS)
def test_no_tour_is_shorter_than_so_many_shortest_legs(seed: int) -> None:
    problem = small_problem(seed, max_clients=5)
    shortest = shortest_tours(problem.distances())
    for tour in elementary_tours(problem):
        assert shortest[len(tour)] <= problem.length(tour) * (1 + 1e-12)
