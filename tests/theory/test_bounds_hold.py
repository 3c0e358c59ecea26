"""Every left-hand side lies below its bound: all clients, all slots, all horizons.

The statements are about expectations, so a case counts against a statement if the mean over the
replicates exceeds the bound by so many standard errors that chance would bring this about in one
of a million runs of all these tests. Such a case is a finding, not a reason for a wider test.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from bound_cases import KINDS, Case, Kind, random_case
from sides import (
    ROUNDING,
    async_sides,
    deviations,
    lemma1,
    simplified,
    sync_sides,
    theorem1,
    theorem2,
    verdict,
)

from flexpress import theory

Z = deviations(num_comparisons=10**7)


def cases(kind: Kind, seed: int, num: int, longest: int) -> Iterator[tuple[str, Case]]:
    for i in range(num):
        rng = np.random.default_rng([seed, KINDS.index(kind), i])
        yield f"{kind}, seed {seed}, case {i}", random_case(rng, kind, 64, longest)


def check(name: str, case: Case) -> None:
    sides = sync_sides(case.run("sync")) | async_sides(case.run("async"))
    for statement, (left, right) in sides.items():
        found = verdict(left, right, Z)
        assert found.excess <= 1 + ROUNDING, f"{statement}: {found} in {name}"


@pytest.mark.parametrize("kind", KINDS)
def test_bounds_hold(kind: Kind) -> None:
    for name, case in cases(kind, seed=1, num=16, longest=8):
        check(name, case)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3, 4, 5])
@pytest.mark.parametrize("kind", KINDS)
def test_bounds_hold_in_many_cases(kind: Kind, seed: int) -> None:
    for name, case in cases(kind, seed, num=60, longest=25):
        check(name, case)


def test_the_package_has_the_bounds_as_printed() -> None:
    for _, case in cases("waves", seed=6, num=16, longest=8):
        c, rate, tours = case.problem.constants, case.problem.learning_rate, case.tours
        run, slots = case.run("sync"), case.num_slots
        lemmas = async_sides(run)
        horizon = np.array(float(slots))
        pairs = [
            (theory.lemma1(c, rate, tours), lemma1(run)),
            (theory.lemma2_global(c, rate, tours), lemmas["lemma 2, global"][1][0]),
            (theory.lemma2_local(c, rate, tours), lemmas["lemma 2, local"][1][0]),
            (theory.theorem1(c, rate, tours, slots).total, theorem1(run, horizon)),
            (theory.theorem1_simplified(c, rate, tours, slots).total, simplified(run, horizon)),
            (theory.theorem2(c, rate, tours, slots).total, theorem2(run, horizon)),
        ]
        for ours, printed in pairs:
            assert ours == pytest.approx(float(printed), rel=1e-12)
