"""The aligned view against transporters that really meet their clients on the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import pytest
from aligned import aligned
from bound_cases import KINDS, Kind, random_case, random_problem
from noises import Arrow

from flexpress.learning import Job, Learner, Vector

ALGORITHMS: tuple[Literal["sync", "async"], ...] = ("sync", "async")


def flown(
    learner: Learner,
    groups: Sequence[Sequence[int | str]],
    periods: Sequence[int],
    offsets: dict[int | str, int],
    num_slots: int,
) -> list[Vector]:
    """x^t of Sections FedEx-Sync (all periods the same) and FedEx-Async: clients met on the way."""
    num = sum(len(group) for group in groups)
    x = learner.initial_model()
    carried = [x] * len(groups)
    collected = [np.zeros_like(x) for _ in groups]  # u_k
    local: dict[int | str, Vector] = {}
    update: dict[int | str, Vector] = {}  # m_i
    steps = dict.fromkeys(offsets, 0)
    history: list[Vector] = []
    for t in range(num_slots + 1):
        landed = [k for k, period in enumerate(periods) if t % period == 0]
        x = x - sum((collected[k] for k in landed), start=np.zeros_like(x)) / num
        for k in landed:
            carried[k], collected[k] = x, np.zeros_like(x)
        history.append(x)
        for k, group in enumerate(groups):
            for i in group:
                if t % periods[k] == offsets[i] % periods[k]:
                    collected[k] = collected[k] + update.get(i, np.zeros_like(x))
                    local[i], update[i] = carried[k], np.zeros_like(x)
        for i, model in local.items():
            step = learner.train([Job(i, model, steps[i], 1)])[0]
            local[i], update[i] = model - step, update[i] + step
            steps[i] += 1
    return history


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_server_cannot_tell_the_aligned_view_from_the_flight(
    algorithm: Literal["sync", "async"], kind: Kind
) -> None:
    rng = np.random.default_rng([3, KINDS.index(kind)])
    problem = random_problem(rng, kind, num=6, replicates=3)
    problem = replace(problem, learning_rate=0.1 / problem.smoothness)
    groups, periods = [[1, 4], [2, 3, 6], [5]], [4, 7, 2]
    flying = [7, 7, 7] if algorithm == "sync" else periods
    offsets: dict[int | str, int] = {
        i: int(rng.integers(period))
        for group, period in zip(groups, flying, strict=True)
        for i in group
    }
    paths = aligned(problem, groups, periods, 40, algorithm)
    real = flown(problem, groups, flying, offsets, 40)
    assert paths.real == pytest.approx(np.stack(real), rel=1e-9, abs=1e-9)
    assert not np.allclose(paths.real[0], paths.real[-1])


@pytest.mark.parametrize("seed", range(6))
def test_the_sequences_are_the_sums_that_the_paper_writes(seed: int) -> None:
    """x^t and v^t of Section "Convergence Bound", from the gradients at the local models."""
    case = random_case(np.random.default_rng([4, seed]), KINDS[seed % 5], 3, longest=6)
    problem = case.problem
    for algorithm in ALGORITHMS:
        paths = case.run(algorithm).paths
        steps = np.stack(
            [
                problem.train(
                    [Job(i, x, t, 1) for i, x in zip(problem.client_ids, now, strict=True)]
                )
                for t, now in enumerate(paths.local)
            ]
        )  # (slots, clients, parameters)
        for t, received in enumerate(paths.received):
            arrived = sum(steps[: last + 1, i].sum(axis=0) for i, last in enumerate(received))
            expected = problem.initial_model() - arrived / problem.num_clients
            assert paths.real[t] == pytest.approx(expected, rel=1e-9, abs=1e-9)
            virtual = problem.initial_model() - steps[:t].sum(axis=0).mean(axis=0)
            assert paths.virtual[t] == pytest.approx(virtual, rel=1e-9, abs=1e-9)


def test_delays_by_hand() -> None:
    """Two transporters of 2 and 3 slots: nothing before 4 and 6, which the text calls 2 Delta_k."""
    rng = np.random.default_rng(5)
    problem = random_problem(rng, "slide", num=2, replicates=1)
    paths = aligned(problem, [[1], [2]], [2, 3], 12, "async")
    assert paths.received[:, 0].tolist() == [-1, -1, -1, -1, 1, 1, 3, 3, 5, 5, 7, 7, 9]
    assert paths.received[:, 1].tolist() == [-1, -1, -1, -1, -1, -1, 2, 2, 2, 5, 5, 5, 8]
    assert paths.restart[:, 1].tolist() == [0, 0, 0, 3, 3, 3, 6, 6, 6, 9, 9, 9, 12]


@pytest.mark.parametrize("seed", range(10))
def test_a_gradient_is_under_way_for_less_than_two_tours(seed: int) -> None:
    """(t - 1) - phi_i(t) <= 2 Delta_k, says the paper: it is 2 Delta_k - 1, and that is reached."""
    case = random_case(np.random.default_rng([6, seed]), "slide", 1, longest=6)
    case = replace(case, num_slots=4 * max(case.periods))
    paths = case.run("async").paths
    delay = np.arange(len(paths.real))[:, np.newaxis] - 1 - paths.received
    periods = np.repeat(case.periods, case.clients)
    assert np.array_equal(delay.max(axis=0), 2 * periods - 1)


def test_equal_tours_make_the_algorithms_one() -> None:
    rng = np.random.default_rng(7)
    problem = replace(random_problem(rng, "hills", num=4, replicates=2), noise=Arrow(0.5))
    paths = [aligned(problem, [[1, 2], [3, 4]], [5, 5], 40, name) for name in ALGORITHMS]
    for name in ("real", "virtual", "local", "received"):
        assert np.array_equal(getattr(paths[0], name), getattr(paths[1], name))
