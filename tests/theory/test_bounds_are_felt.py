"""How near the left-hand sides come to the bounds, and which terms cannot be left out."""

from __future__ import annotations

from typing import Literal

import hard_cases as hard
import pytest
from sides import async_sides, deviations, running_means, sync_sides, verdict

from flexpress.theory import theorem1, theorem2
from flexpress.theory.bounds import Theorem

Z = deviations(num_comparisons=10**4)

TIGHT = {
    # statement: (case, algorithm, share of the bound that is surely exceeded)
    "lemma 1, averaged": (hard.one_against_all(delta=60, num_clients=60), "sync", 0.93),
    "lemma 1, real": (hard.one_against_all(delta=60, num_clients=2), "sync", 0.24),
    "lemma 2, global": (hard.slide(delta=60, num_rounds=4, share=0.1), "async", 0.98),
    "lemma 2, local": (hard.out_of_step(periods=(34, 37, 41, 46), num_slots=600), "async", 0.12),
    "theorem 1, real": (hard.slide(delta=2, num_rounds=200, share=0.04), "sync", 0.46),
    "theorem 1, averaged": (hard.slide(delta=2, num_rounds=200, share=0.04), "sync", 0.46),
    "theorem 1 simplified, real": (hard.slide(delta=2, num_rounds=200, share=0.04), "sync", 0.46),
    "theorem 2": (hard.slide(delta=2, num_rounds=200, share=0.04), "async", 0.23),
    "theorem 2, virtual": (hard.slide(delta=2, num_rounds=200, share=0.04), "async", 0.46),
}


@pytest.mark.parametrize("statement", TIGHT)
def test_a_smaller_bound_would_be_found_out(statement: str) -> None:
    case, algorithm, share = TIGHT[statement]
    run = case.run("sync" if algorithm == "sync" else "async")
    left, right = (sync_sides if algorithm == "sync" else async_sides)(run)[statement]
    assert verdict(left, share * right, Z).excess > 1
    assert verdict(left, right, Z).excess <= 1


NEEDED = {
    "start": hard.slide(delta=2, num_rounds=200, share=0.05),
    "delay": hard.swing(num_slots=60),
    "noise": hard.trembling(num_clients=1, share=0.004, num_slots=1000),
}


@pytest.mark.parametrize("theorem", [theorem1, theorem2])
@pytest.mark.parametrize("term", NEEDED)
def test_no_term_can_be_left_out(
    theorem: Theorem, term: Literal["start", "delay", "noise"]
) -> None:
    """Tours of one length: both theorems are about this run."""
    case = NEEDED[term]
    left = running_means(case.problem, case.run("sync").real)[-1]
    bound = theorem(case.problem.constants, case.problem.learning_rate, case.tours, case.num_slots)
    lower_limit = left.mean() - Z * left.std(ddof=1) / len(left) ** 0.5
    assert bound.total - getattr(bound, term) < lower_limit < bound.total


def test_the_first_tour_is_needed_where_the_bound_says_nothing() -> None:
    """Nothing moves until 2 Delta: the left-hand side is G^2, what the other terms come to 0.87."""
    case = hard.rim(delta=100, share=1.71)
    left = running_means(case.problem, case.run("sync").real)[-1].mean()
    bound = theorem1(case.problem.constants, case.problem.learning_rate, case.tours, case.num_slots)
    assert bound.total - bound.first_tour == pytest.approx(0.87, abs=0.005)
    assert case.problem.constants.gradient == 1
    assert left == pytest.approx(1)
    assert left < bound.total
