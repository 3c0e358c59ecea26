"""Theorem 3, for FedEx-Sync with a head start, and each step of its proof; Theorem 2 with one.

A case counts against a statement as in test_bounds_hold.py. Right-hand sides are written here once
more, as docs/theory.md has them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from bound_cases import KINDS, Case, Kind, random_case
from noises import Arrow
from shapes import Array, Waves
from sides import (
    ROUNDING,
    Run,
    deviations,
    drift,
    mean_square,
    running_means,
    square,
    terms,
    verdict,
)

from flexpress import InputError, theory
from flexpress.theory.bounds import theorem3_rate, theorem3_spread

Z = deviations(num_comparisons=10**7)
GAMMAS = (1.0, 0.0, 0.5, 1.0, 0.8, 1.0)


def cases(kind: Kind, seed: int, num: int, longest: int) -> Iterator[tuple[Case, float]]:
    """At rates at which Theorem 3 holds, up to its limit; some without noise."""
    for i in range(num):
        rng = np.random.default_rng([seed, 18, KINDS.index(kind), i])
        case, gamma = random_case(rng, kind, 48, longest), GAMMAS[i % len(GAMMAS)]
        problem = case.problem
        if i % 4 == 0:
            problem = replace(problem, noise=Arrow(0.0))
        limit = theorem3_rate(problem.constants, case.tours, gamma)
        rate = float(limit * min(0.97, 10 ** rng.uniform(-2, 0.3)))
        yield replace(case, problem=replace(problem, learning_rate=rate)), gamma


def rho(run: Run) -> float:
    eta, delta = run.problem.learning_rate, run.tours.longest
    return float((1 + eta * run.problem.smoothness) ** delta - 1)


def apart(run: Run) -> float:
    """h: by how much the updates of one tour differ, if all start together and L is 0."""
    c, eta, delta = run.problem.constants, run.problem.learning_rate, run.tours.longest
    assert c.dissimilarity is not None
    return float(eta * (delta * c.dissimilarity + delta**0.5 * c.noise))


def spread(run: Run, gamma: float) -> float:
    return (apart(run) * (1 + rho(run)) * (1 + gamma) / (1 - gamma * rho(run))) ** 2


def averaged_bound(run: Run, gamma: float, horizon: Array) -> Array:
    """For v^{t - Delta}."""
    (c, eta, noise), delta = terms(run), run.tours.longest
    lag = (1 - gamma) ** 2 * drift(run) * delta**2
    delay = c.smoothness**2 * (lag + spread(run, gamma))
    first = delta / horizon * c.start_gradient
    return 2 / (eta * horizon) * c.start_gap + first + (1 - delta / horizon) * (delay + noise)


def server_bound(run: Run, gamma: float, horizon: Array) -> Array:
    """For the server's own x^t: Theorem 3."""
    (c, eta, noise), delta = terms(run), run.tours.longest
    first, share = delta / horizon * c.start_gradient, eta * c.smoothness * delta
    return (1 + share) * (
        averaged_bound(run, gamma, horizon) - first + (1 - delta / horizon) * noise
    ) + first


def check(case: Case, gamma: float) -> None:
    run, delta = case.run("sync", gamma), max(case.periods)
    horizons = np.arange(delta + 1.0, case.num_slots + 1)
    pairs = {
        "averaged": (
            running_means(run.problem, run.averaged),
            averaged_bound(run, gamma, horizons),
        ),
        "server": (running_means(run.problem, run.real), server_bound(run, gamma, horizons)),
    }
    for name, (left, right) in pairs.items():
        assert verdict(left[delta:], right, Z).excess <= 1 + ROUNDING, (name, case, gamma)
    centre = run.local.mean(axis=1)
    scattered = square(run.local - centre[:, np.newaxis]).mean(axis=1)
    rounding = (1e-12 * np.abs(run.local).max()) ** 2
    limit = np.full(len(scattered), spread(run, gamma) + rounding)
    assert verdict(scattered, limit, Z).excess <= 1 + ROUNDING, (case, gamma)


@pytest.mark.parametrize("kind", KINDS)
def test_theorem3_holds(kind: Kind) -> None:
    for case, gamma in cases(kind, seed=1, num=12, longest=8):
        check(case, gamma)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3, 4, 5])
@pytest.mark.parametrize("kind", KINDS)
def test_theorem3_holds_in_many_cases(kind: Kind, seed: int) -> None:
    for case, gamma in cases(kind, seed, num=60, longest=25):
        check(case, gamma)


def test_the_package_has_the_same_bounds() -> None:
    for case, gamma in cases("waves", seed=6, num=12, longest=8):
        c, rate, tours = case.problem.constants, case.problem.learning_rate, case.tours
        run, horizon = case.run("sync", gamma), np.array(float(case.num_slots))
        ours = theory.theorem3(c, rate, tours, case.num_slots, gamma).total
        assert ours == pytest.approx(float(server_bound(run, gamma, horizon)), rel=1e-12)
        assert theorem3_spread(c, rate, tours, gamma) == pytest.approx(spread(run, gamma))


def test_the_steps_of_the_proof() -> None:
    """For each tour, with |.| for the root mean square over clients and replicates."""
    for kind in KINDS:
        for case, gamma in cases(kind, seed=7, num=4, longest=6):
            case = replace(case, num_slots=5 * max(case.periods))
            run, delta = case.run("sync", gamma), max(case.periods)
            centre = run.local.mean(axis=1)
            lag = centre - run.virtual  # what all clients are behind
            steps = -np.diff(run.virtual, axis=0)
            before = np.zeros_like(lag[0])
            starts = run.local - centre[:, np.newaxis]  # e of the proof
            last = 0.0
            for tour in range(5):
                first = tour * delta
                for s in range(delta):  # the clients' mean moves as v does
                    assert lag[first + s] == pytest.approx((1 - gamma) * before, abs=1e-9)
                before = steps[first : first + delta].sum(axis=0)
                begin = size(starts[first])
                assert begin <= gamma * last * (1 + 1e-9) + 1e-12  # gamma D
                last = bound_of_updates(run, gamma * last)
                for s in range(delta):
                    grown = begin + run.problem.learning_rate * growth_of(run, s)
                    limit = grown * (1 + run.problem.learning_rate * run.problem.smoothness) ** s
                    assert size(starts[first + s]) <= limit * 1.25 + 1e-9  # 48 replicates
            limit = (1 + rho(run)) * apart(run) / (1 - gamma * rho(run))
            assert last <= limit * (1 + 1e-9)


def size(vectors: Array) -> float:
    return float(np.sqrt(square(vectors).mean()))


def bound_of_updates(run: Run, begin: float) -> float:
    """|d| of the next tour: (1 + rho) h + rho times where the clients began."""
    return (1 + rho(run)) * apart(run) + rho(run) * begin


def growth_of(run: Run, steps: int) -> float:
    c = run.problem.constants
    assert c.dissimilarity is not None
    return float(steps * c.dissimilarity + steps**0.5 * c.noise)


def equal_clients(seed: int) -> Case:
    """One client, and others just like it, without noise."""
    rng = np.random.default_rng([18, seed])
    case = random_case(rng, "waves", 2, longest=8)
    shapes = case.problem.shapes
    assert isinstance(shapes, Waves)
    same = Waves(*(np.repeat(each[:1], 3, axis=0) for each in (shapes.height, shapes.phase)))
    problem = replace(case.problem, shapes=same, noise=Arrow(0.0), client_ids=(1, 2, 3))
    limit = theorem3_rate(problem.constants, case.tours, 1.0)
    problem = replace(problem, learning_rate=0.9 * limit)
    delta = max(case.periods)
    return Case(problem, (3,), (delta,), 9 * delta)


def test_equal_clients_without_noise_have_an_ideal_link_one_tour_later() -> None:
    """Their models and their bound: a tour at x^0, then what local gradient descent has."""
    for seed in range(8):
        case = equal_clients(seed)
        run, delta = case.run("sync", 1.0), max(case.periods)
        c, rate = run.problem.constants, run.problem.learning_rate
        model, link = run.problem.start.copy(), []
        for t in range(case.num_slots + 1 - delta):
            if t % delta == 0:
                sent = model
            link.append(sent)
            model = model - rate * run.problem.gradient(model)
        assert run.real[:delta, 0] == pytest.approx(np.tile(run.problem.start, (delta, 1)))
        assert run.real[delta:, 0] == pytest.approx(np.array(link), abs=1e-9)
        assert c.dissimilarity == pytest.approx(0, abs=1e-7)
        exact = replace(c, dissimilarity=0.0)
        horizon = case.num_slots
        found = theory.theorem3(exact, rate, case.tours, horizon)
        assert (found.delay, found.noise) == (0, 0)
        later = horizon - delta
        of_link = (1 + rate * c.smoothness * delta) * 2 * c.start_gap / (rate * later)
        assert found.total * horizon == pytest.approx(delta * c.start_gradient + later * of_link)


@pytest.mark.parametrize("kind", KINDS)
def test_theorem2_holds_with_a_head_start(kind: Kind) -> None:
    for i in range(8):
        rng = np.random.default_rng([9, 18, KINDS.index(kind), i])
        case, gamma = random_case(rng, kind, 48, longest=8), GAMMAS[i % len(GAMMAS)]
        run = case.run("async", gamma)
        local = square(run.virtual[:, np.newaxis] - run.local).mean(axis=1)
        limit = np.full(len(local), (4 + gamma) ** 2 * drift(run) * mean_square(run))
        assert verdict(local, limit, Z).excess <= 1 + ROUNDING
        c, rate = case.problem.constants, case.problem.learning_rate
        lemma = theory.lemma2_local(c, rate, case.tours, gamma)
        assert lemma == pytest.approx(max(18 / (4 + gamma) ** 2, 1) * limit[0])
        under_way = square(run.virtual - run.real)
        lemma = theory.lemma2_global(c, rate, case.tours)
        assert verdict(under_way, np.full(len(under_way), lemma), Z).excess <= 1 + ROUNDING
        horizons = range(max(case.periods) + 1, case.num_slots + 1)
        right = [theory.theorem2(c, rate, case.tours, t, gamma).total for t in horizons]
        left = running_means(run.problem, run.real)[max(case.periods) :]
        assert verdict(left, np.array(right), Z).excess <= 1 + ROUNDING


@pytest.mark.parametrize("kind", KINDS)
def test_lemma1_holds_with_a_head_start(kind: Kind) -> None:
    """For the server's models and every client, at rates up to 1/L."""
    for i in range(8):
        rng = np.random.default_rng([10, 18, KINDS.index(kind), i])
        case, gamma = random_case(rng, kind, 48, longest=8), GAMMAS[i % len(GAMMAS)]
        run = case.run("sync", gamma)
        away = square(run.real[:, np.newaxis] - run.local)
        steps = max(case.periods) * (1 + gamma) - 1
        c, rate = case.problem.constants, case.problem.learning_rate
        assert steps**2 * drift(run) <= theory.lemma1(c, rate, case.tours)
        limit = np.full(away.shape[:-1], steps**2 * drift(run) + ROUNDING)
        assert verdict(away, limit, Z).excess <= 1 + ROUNDING


@pytest.mark.parametrize("gamma", [0.0, 0.5, 1.0])
def test_best_rates(gamma: float) -> None:
    """Against all rates of a grid, up to the last for which the theorem holds."""
    theorem = partial(theory.theorem3, head_start=gamma)
    tours = theory.RoundTrips((5, 4, 3), (8, 6, 4))
    for zeta in (0.0, 0.3, 3.0):
        constants = theory.Constants(2.0, 1.5, 1.0, 2.3, 0.7, dissimilarity=zeta)
        rates = theorem3_rate(constants, tours, gamma) * np.logspace(-6, -1e-6, 2000)
        for horizon in (100, 10_000):
            rate = theory.best_rate(theorem, constants, tours, horizon)
            least = min(theorem(constants, each, tours, horizon).total for each in rates)
            assert theorem(constants, rate, tours, horizon).total <= least * (1 + 1e-9)
        reached = theory.soonest(theorem, constants, tours, 0.1)
        assert theorem(constants, reached.rate, tours, reached.slots).total <= 0.1 * (1 + 1e-9)


def test_what_is_refused() -> None:
    constants = theory.Constants(2.0, 1.5, 1.0, 2.3, 0.7)
    tours = theory.RoundTrips((2,), (8,))
    text = "dissimilarity = None: must be a number for Theorem 3; .* or a head_start of 0"
    with pytest.raises(InputError, match=text):
        theory.theorem3(constants, 0.01, tours, 100)
    constants = replace(constants, dissimilarity=1.0)
    most = (2 ** (1 / 8) - 1) / 2
    with pytest.raises(InputError, match=rf"0\.1: must be more than 0, less than {most:.6g} for"):
        theory.theorem3(constants, 0.1, tours, 100)
    with pytest.raises(InputError, match="horizon 8: must be more than the longest round trip"):
        theory.theorem3(constants, 0.01, tours, 8)
    for theorem in (theory.theorem2, theory.theorem3):
        with pytest.raises(InputError, match=r"head_start = 1\.5: must be"):
            theorem(constants, 0.01, tours, 100, 1.5)
    with pytest.raises(InputError, match=r"theorem = .*: must be theorem1, theorem1_simplified"):
        theory.paper_order(theory.theorem3, constants, tours)


def test_dissimilarity_replaces_delay() -> None:
    """With gamma = 1 the bound does not depend on G; with clients alike it beats Theorem 1."""
    constants = theory.Constants(2.0, 1.5, 0.1, 2.3, 0.7, dissimilarity=0.1)
    tours = theory.RoundTrips((5, 4, 3), (8, 6, 4))
    delays = [theory.theorem3(constants, 0.01, tours, 1000, gamma).delay for gamma in (0, 0.5, 1)]
    assert delays == sorted(delays, reverse=True)
    steep = replace(constants, gradient=100.0)
    one = theory.theorem3(constants, 0.01, tours, 1000)
    assert theory.theorem3(steep, 0.01, tours, 1000) == one
    assert one.total < theory.theorem1(constants, 0.01, tours, 1000).total


def test_the_gamma_with_the_smallest_delay() -> None:
    """At small rates: (G^2 - z^2) / (G^2 + z^2), z = zeta + sigma / sqrt(Delta)."""
    tours, gammas = theory.RoundTrips((3,), (9,)), np.linspace(0, 1, 1001)
    for zeta, sigma in ((0.0, 0.0), (0.5, 0.6), (1.0, 0.9), (3.0, 0.0)):
        constants = theory.Constants(1.0, 2.0, sigma, 1.0, 1.0, dissimilarity=zeta)
        delays = [theory.theorem3(constants, 1e-7, tours, 1000, gamma).delay for gamma in gammas]
        z = zeta + sigma / 3
        best = max(0.0, (4 - z**2) / (4 + z**2))
        assert gammas[np.argmin(delays)] == pytest.approx(best, abs=2e-3)
