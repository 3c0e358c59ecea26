"""CARP and its 2-OPT: valid and reproducible plans, close to the optimum; each part by itself."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from operator import attrgetter
from random import Random
from typing import Any

import numpy as np
import pytest
from cases import (
    OBJECTIVES,
    block_network,
    four_clients,
    random_cases,
    random_problem,
)
from thinned import by_default

from flexpress.arrays import FloatArray
from flexpress.errors import InputError
from flexpress.planning import carp
from flexpress.planning.carp import (
    GibbsSampler,
    Inner,
    Routes,
    _q_schedule,
    gibbs_probabilities,
    solve_carp,
)
from flexpress.planning.exact import held_karp_tour, solve_exact
from flexpress.planning.problem import Problem
from flexpress.planning.progress import Effort, Progress, Watch
from flexpress.planning.two_opt import route_length, shortest_route
from flexpress.scenario import Objective

NETWORK = block_network(0)


@pytest.mark.parametrize("number", by_default(1, [10, 30]))
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_is_close_to_the_optimum_of_small_cases(objective: Objective, number: int) -> None:
    gaps = []
    for problem in random_cases(number, max_clients=8, max_transporters=3):
        optimal = solve_exact(problem, objective)
        tours = solve_carp(problem, objective, Effort())
        assert (tours is None) == (optimal is None)
        if tours is not None and optimal is not None:
            assert sorted(itertools.chain(*tours)) == list(range(1, problem.num_clients + 1))
            assert problem.feasible(tours)
            gaps.append(problem.cost(objective, tours) / problem.cost(objective, optimal))
    assert min(gaps) > 1 - 1e-9
    assert np.mean(np.array(gaps) < 1 + 1e-9) >= 0.9
    assert np.mean(gaps) < 1.02


@pytest.mark.parametrize(
    ("objective", "best_known"),
    [
        ("minmax", 411.4514),
        pytest.param("sws", 6276928.5, marks=pytest.mark.slow),
        pytest.param("total", 1565.248, marks=pytest.mark.slow),
    ],
)
def test_is_within_5_percent_on_the_papers_network(objective: Objective, best_known: float) -> None:
    tours = solve_carp(NETWORK, objective, Effort(iterations=12_000))
    assert tours is not None
    assert NETWORK.feasible(tours)
    assert NETWORK.cost(objective, tours) <= 1.05 * best_known


@pytest.mark.parametrize("inner", ["two_opt", "exact"])
def test_four_clients(inner: Inner) -> None:
    problem = four_clients(1.0, 2.0)
    tours = solve_carp(problem, "sws", Effort(iterations=400), inner=inner)
    assert tours is not None
    assert problem.cost("sws", tours) == pytest.approx(520.0)


def test_the_clock_starts_when_the_code_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that has just begun must read it, or even make it."""
    log = []

    def logged(name: str) -> None:
        function = attrgetter(name)(carp)

        def call(*arguments: Any) -> Any:
            log.append(name)
            return function(*arguments)

        monkeypatch.setattr(f"{carp.__name__}.{name}", call)

    for name in ("time.perf_counter", "shortest_route", "route_length"):
        logged(name)
    assert solve_carp(four_clients(1.0, 2.0), "sws", Effort(seconds=0.01))
    assert log[:3] == ["shortest_route", "route_length", "time.perf_counter"]


def test_says_none_when_no_plan_fits() -> None:
    grounded = replace(NETWORK, budgets=np.full(4, 1.0))
    assert solve_carp(grounded, "sws", Effort(iterations=200)) is None


def test_same_seed_same_plan() -> None:
    first, again, other = (
        solve_carp(NETWORK, "total", Effort(iterations=120, seed=seed)) for seed in (7, 7, 8)
    )
    assert first == again
    assert first != other


def test_reports_progress_and_stops_when_told() -> None:
    log: list[Progress] = []
    tours = solve_carp(
        NETWORK,
        "sws",
        Effort(iterations=10_000),
        Watch(on_progress=log.append, should_stop=lambda: len(log) == 30),
    )
    assert len(log) == 30
    costs = [report.cost for report in log if report.cost is not None]
    assert costs == sorted(costs, reverse=True)
    assert all(before.fraction < after.fraction < 1 for before, after in itertools.pairwise(log))
    assert tours is not None
    assert NETWORK.cost("sws", tours) == pytest.approx(costs[-1])


def test_exact_routes_refuse_too_many_clients() -> None:
    with pytest.raises(InputError, match="40 clients"):
        solve_carp(NETWORK, "sws", Effort(), inner="exact")


class TestGibbs:
    def test_probabilities_by_hand(self) -> None:
        # exp(-1), exp(-2), exp(-2) relative to the first: 1, 1/e, 1/e
        expected = [0.576117, 0.211942, 0.211942]
        assert gibbs_probabilities([10.0, 20.0, 20.0], q=10.0) == pytest.approx(expected, abs=1e-6)
        assert gibbs_probabilities([3.0], q=1e-9) == [1.0]

    @pytest.mark.parametrize("q", [1e-300, 1e-3, 1.0])
    def test_extreme_costs_do_not_overflow(self, q: float) -> None:
        assert gibbs_probabilities([1e300, 2e300, 1e300], q) == [0.5, 0.0, 0.5]

    def test_q_decreases_in_equal_ratios(self) -> None:
        assert _q_schedule(40.0, (1.0, 0.01), sweeps=3) == pytest.approx([40.0, 4.0, 0.4])
        assert min(_q_schedule(0.0, (1.0, 0.01), sweeps=3)) > 0.0

    def test_only_differences_count(self) -> None:
        near, far = ([0.0, 1.0, 3.0], [1e6, 1e6 + 1, 1e6 + 3])
        assert gibbs_probabilities(near, 2.0) == pytest.approx(gibbs_probabilities(far, 2.0))

    def test_a_client_stays_when_nobody_can_take_it(self) -> None:
        problem = replace(four_clients(1.0, 1.0), budgets=np.full(2, 1.0))
        sampler = GibbsSampler(Routes(problem), [0, 1, 0, 1], 2, Random(0))
        assert all(m == [0b0101, 0b1010] for m in sampler.run("sws", [9.0, 3.0, 1.0]))

    def test_a_client_leaves_the_transporter_over_its_budget(self) -> None:
        problem = replace(four_clients(1.0, 1.0), budgets=np.array([1.0, np.inf]))
        sampler = GibbsSampler(Routes(problem), [0, 0, 0, 0], 2, Random(0))
        assert list(sampler.run("sws", [1.0]))[-1] == [0, 0b1111]

    def test_never_leaves_the_budgets_once_inside(self) -> None:
        problem = random_problem(1, 8, 2, tightness=1.5)
        tours = solve_exact(problem, "total")
        assert tours is not None
        owners = [0 if i in tours[0] else 1 for i in range(1, 9)]
        routes = Routes(problem, inner="exact")
        sampler = GibbsSampler(routes, owners, 2, Random(0))
        assert all(routes.feasible(members) for members in sampler.run("total", [50.0] * 20))


class TestRoutes:
    @pytest.mark.parametrize("inner", ["two_opt", "exact"])
    def test_remembered_lengths_equal_recomputed_ones(self, inner: Inner) -> None:
        routes = Routes(NETWORK, inner, seed=3)
        rng = Random(0)
        sets = [sum(1 << i for i in rng.sample(range(40), 7)) for _ in range(10)]
        for clients in [*sets, *sets]:
            fresh = Routes(NETWORK, inner, seed=3)
            assert routes.length(clients) == fresh.length(clients)
            assert routes.length(clients) == pytest.approx(NETWORK.length(routes.tour(clients)))

    def test_figures_equal_those_of_the_problem(self) -> None:
        problem = random_problem(5, 6, 3, tightness=1.0)
        routes, clients = Routes(problem), 0b101101
        tour = routes.tour(clients)
        assert sorted(tour) == [1, 3, 4, 6]
        for k in range(3):
            assert routes.round_trip(k, clients) == pytest.approx(problem.round_trip(k, tour))
            assert routes.energy(k, clients) == pytest.approx(problem.energy(k, tour))
            assert routes.within_budget(k, clients) == problem.within_budget(k, tour)

    def test_nobody_to_visit(self) -> None:
        assert Routes(NETWORK).tour(0) == []
        assert Routes(NETWORK).length(0) == 0.0


class TestTwoOpt:
    @pytest.mark.parametrize("num_nodes", [1, 2, 3, 4, 5, 8, 20, 41])
    def test_no_switch_of_two_edges_is_shorter(self, num_nodes: int) -> None:
        distances = NETWORK.distances()
        length, best = shortest_route(distances, np.arange(num_nodes), 1, 5)
        route = best.tolist()
        assert route[0] == 0
        assert sorted(route) == list(range(num_nodes))
        assert length == pytest.approx(NETWORK.length(route[1:]))
        for first, last in itertools.combinations(range(1, num_nodes), 2):
            switched = [*route[:first], *route[first : last + 1][::-1], *route[last + 1 :]]
            assert NETWORK.length(switched[1:]) >= length * (1 - 1e-9)

    def test_mostly_finds_the_optimum_of_small_sets(self) -> None:
        distances, rng = NETWORK.distances(), np.random.default_rng(0)
        gaps = [
            gap_to_held_karp(NETWORK, distances, rng.permutation(40)[:9] + 1) for _ in range(40)
        ]
        assert min(gaps) > -1e-9
        assert np.mean(np.abs(gaps) < 1e-9) > 0.9

    def test_more_starts_are_never_worse(self) -> None:
        distances, nodes = NETWORK.distances(), np.arange(41)
        lengths = [shortest_route(distances, nodes, starts, 1)[0] for starts in (1, 2, 5, 20)]
        assert lengths == sorted(lengths, reverse=True)

    def test_length_of_a_square(self) -> None:
        corners = np.array([[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
        distances = np.hypot(*(corners[:, None] - corners[None, :]).transpose(2, 0, 1))
        assert route_length(distances, np.arange(4)) == pytest.approx(2 + 2 * math.sqrt(2))
        assert shortest_route(distances, np.arange(4), 1, 0)[0] == pytest.approx(4.0)


def gap_to_held_karp(problem: Problem, distances: FloatArray, clients: np.ndarray) -> float:
    length, _ = shortest_route(distances, np.array([0, *clients]), 8, 0)
    return float(length / problem.length(held_karp_tour(distances, clients.tolist())) - 1)
