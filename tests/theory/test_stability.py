"""Which rates are stable: against the roots of the recursion, and against the simulator."""

from __future__ import annotations

import numpy as np
import pytest

from flexpress import Quadratic, Scenario, make_plan, simulate
from flexpress.scenario import Algorithm
from flexpress.theory import RoundTrips, stable_rate
from flexpress.theory.rates import _stable_share


def largest_root(landings: int, share: float) -> float:
    """Of z^{2K} - z^{2K-1} + a/K."""
    polynomial = np.zeros(2 * landings + 1)
    polynomial[[0, 1, -1]] += [1, -1, share / landings]
    return float(np.abs(np.roots(polynomial)).max())


@pytest.mark.parametrize("landings", [1, 2, 3, 4, 7, 20, 50])
def test_the_border_is_where_a_root_has_length_one(landings: int) -> None:
    share = _stable_share(landings)
    assert largest_root(landings, share) == pytest.approx(1, abs=1e-9)
    assert largest_root(landings, 0.99 * share) < 1 < largest_root(landings, 1.01 * share)


def test_more_landings_are_less_stable() -> None:
    shares = [_stable_share(k) for k in range(1, 200)]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] == pytest.approx(1)
    assert shares[-1] == pytest.approx(np.pi / 4, abs=1e-3)


def remaining(algorithm: Algorithm, share_of_limit: float) -> float:
    """|x| after 4,000 slots of the paper's network by the exact clock; 1 at the start."""
    paper = Scenario.preset("paper").replace(run={"clock": "exact", "eval_every": 4000})
    plan = make_plan(paper, objective="sws", iterations=2000)
    limit = stable_rate("async", RoundTrips.of(paper, plan), smoothness=1.0)
    curvatures, centres = np.ones((40, 1, 1)), np.zeros((40, 1))
    rate = share_of_limit * limit
    problem = Quadratic(paper.client_ids, curvatures, centres, np.ones(1), learning_rate=rate)
    return abs(float(simulate(paper, plan, problem, algorithm=algorithm, horizon=4000).model[0]))


def test_async_blows_up_where_sync_does_not() -> None:
    """Tours of 6.3 to 7.0 slots are seldom evenly spread, yet the border is about there."""
    assert remaining("async", 0.8) < 1e-6
    assert remaining("async", 1.3) > 1e6
    assert remaining("sync", 1.3) < 1e-6
