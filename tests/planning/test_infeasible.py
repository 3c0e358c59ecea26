"""Proofs that no plan keeps the budgets: never wrong, and there where they are needed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from cases import random_problem, with_wind

from flexpress import InfeasibleError, Scenario, make_plan
from flexpress.planning.bounds.effort import ProofEffort
from flexpress.planning.bounds.infeasibility import (
    _too_much_together,
    out_of_reach,
    prove_infeasible,
)
from flexpress.planning.exact import solve_exact
from flexpress.planning.infeasible import Words
from flexpress.planning.problem import ABILITIES, Problem


def tight_problems() -> Iterator[Problem]:
    """Up to seven clients, budgets around what is needed; every third fleet is of equals."""
    rng = np.random.default_rng(7)
    for seed in range(120):
        problem = random_problem(
            seed,
            int(rng.integers(1, 7, endpoint=True)),
            int(rng.integers(1, 3, endpoint=True)),
            tightness=rng.uniform(0.4, 1.4),
        )
        if seed % 3 == 0:
            problem = alike(problem, problem.num_transporters)
        yield with_wind(problem) if seed % 5 == 0 else problem


def alike(problem: Problem, number: int) -> Problem:
    """The fleet replaced by so many of its first transporter."""
    first: dict[str, Any] = {
        name: np.repeat(getattr(problem, name)[0], number) for name in ABILITIES
    }
    return replace(problem, **first)


def proof_of(problem: Problem) -> str | None:
    return prove_infeasible(problem, words_of(problem), ProofEffort())


def words_of(problem: Problem) -> Words:
    return Words(range(1, problem.num_clients + 1), problem.budgets.tolist())


def test_nothing_false_is_proven_and_most_of_the_truth_is() -> None:
    infeasible, proven = 0, 0
    for problem in tight_problems():
        is_infeasible = solve_exact(problem, "total") is None
        proof = proof_of(problem)
        assert proof is None or is_infeasible
        infeasible += is_infeasible
        proven += proof is not None
    assert infeasible > 40
    assert proven >= 0.9 * infeasible


def test_so_many_are_needed_at_least() -> None:
    told = 0
    for problem in tight_problems():
        if len({*problem.budgets.tolist()}) > 1:
            continue
        number = re.search(r"at least (\d+) transporters", proof_of(problem) or "")
        if number is None:
            continue
        told += 1
        assert int(number[1]) > problem.num_transporters
        assert solve_exact(alike(problem, int(number[1]) - 1), "total") is None
    assert told > 5


def test_a_client_out_of_reach_is_named_and_who_comes_nearest() -> None:
    """In the unit that was given, and with the transporter whose budget it is."""
    valley = Scenario.preset("valley").replace(fleet={"budgets": ["2 Wh", "1.6 Wh", "6 kJ"]})
    proof = out_of_reach(Problem.of(valley), Words.of(valley))
    # There and back: 2 * 2723.68 m at 14 m/s and 30 W, and 12 s at 20.1 W: 11,914.1 J, 3.3095 Wh.
    assert proof == (
        "client spring is out of reach of every transporter: for a flight to it alone transporter "
        "1, which comes nearest, needs 3.31 Wh but has 2 Wh"
    )


def test_all_within_reach_but_too_much_together() -> None:
    """20 clients 1 km east; one transporter can fly there, and stay with 5 of them."""
    positions = np.vstack([[[0.0, 0.0]], np.tile([[1000.0, 0.0]], (20, 1))])
    one = np.ones(1)
    problem = Problem(positions, one, one, one, 100 * one, np.array([2000.0 + 5 * 100]))
    assert out_of_reach(problem, words_of(problem)) is None
    proof = _too_much_together(problem, words_of(problem), ProofEffort())
    assert proof == "proven, it needs at least 2 transporters like these"


def test_the_paper_at_50_mbit_needs_five_transporters_for_12_kilojoules() -> None:
    """DESIGN, reading 2: with K = 4 every plan needs more than 13 kJ."""
    tight = Scenario.preset("paper-50mbit").replace(fleet={"budgets": ["12 kJ"] * 4})
    with pytest.raises(InfeasibleError) as caught:
        make_plan(tight, iterations=2000)
    assert str(caught.value).startswith(
        "no plan fits the budgets: proven, it needs at least 5 transporters like these; even "
        "with the best-balanced load, transporter"
    )


def test_without_highs_only_the_cheap_proofs_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    tight = Scenario.preset("paper-50mbit").replace(fleet={"budgets": ["12 kJ"] * 4})
    monkeypatch.setattr("flexpress.planning.bounds.infeasibility.has_highs", lambda: False)
    with pytest.raises(InfeasibleError, match=r"^no plan found that fits the budgets; even with"):
        make_plan(tight, iterations=2000)
