"""`search` on networks of a real size: one value for all seeds, and the best that is known."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from cases import OBJECTIVES, block_network, problem_of

from flexpress.arrays import FloatArray
from flexpress.planning.problem import Problem
from flexpress.planning.progress import Effort
from flexpress.planning.search import solve_search
from flexpress.scenario import Objective

REPOSITORY = Path(__file__).parents[2]
PLACES = [
    Path(os.environ.get("FLEXPRESS_DATA", REPOSITORY)) / "tsplib",
    REPOSITORY.parent / "shared" / "data" / "tsplib",
]

NETWORK = block_network(0)


def value(
    problem: Problem,
    objective: Objective,
    seed: int,
    *,
    seconds: float | None = None,
    iterations: int | None = None,
) -> float:
    tours = solve_search(
        problem, objective, Effort(seed=seed, seconds=seconds, iterations=iterations)
    )
    assert tours is not None
    assert problem.feasible(tours)
    return problem.cost(objective, tours)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_every_seed_finds_the_same_value(objective: Objective) -> None:
    """Already with a third of the iterations that are the default."""
    first, second = (value(NETWORK, objective, seed, iterations=40_000) for seed in (0, 1))
    assert first == pytest.approx(second, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_twenty_seeds_find_the_same_value_by_default(objective: Objective) -> None:
    values = [value(NETWORK, objective, seed) for seed in range(20)]
    assert values == pytest.approx([min(values)] * 20, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("network", [1, 2])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_twenty_seeds_find_the_same_value_on_other_networks(
    network: int, objective: Objective
) -> None:
    problem = block_network(network)
    values = [value(problem, objective, seed) for seed in range(20)]
    assert values == pytest.approx([min(values)] * 20, rel=1e-9)


def read_tsplib(path: Path) -> FloatArray:
    """The coordinates of a TSPLIB file, in its order."""
    lines = path.read_text().splitlines()
    first = lines.index("NODE_COORD_SECTION") + 1
    rows = [line.split() for line in lines[first:] if len(line.split()) == 3]
    return np.array([[float(x), float(y)] for _, x, y in rows])


def tsplib(name: str) -> FloatArray:
    found = [place / f"{name}.tsp" for place in PLACES if (place / f"{name}.tsp").exists()]
    if not found:
        pytest.skip(f"{name}.tsp is not in $FLEXPRESS_DATA/tsplib")
    return read_tsplib(found[0])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "num_transporters", "best_known"),
    [
        ("eil51", 3, 159.57),
        ("eil51", 5, 118.13),
        ("berlin52", 3, 3069.59),
        ("eil76", 2, 280.85),
        ("eil76", 5, 142.88),
        ("rat99", 5, 450.27),
        ("kroA200", 3, 10691.0),
        ("kroA200", 5, 7412.0),
        ("lin318", 3, 15663.0),
        ("lin318", 5, 11277.0),
    ],
)
def test_min_max_travelling_salesmen(name: str, num_transporters: int, best_known: float) -> None:
    """From the first node, at most half a percent above the best known within ten seconds."""
    ones = np.ones(num_transporters)
    problem = problem_of(tsplib(name), ones, 0.0, np.inf * ones)
    assert value(problem, "minmax", 0, seconds=10.0) <= 1.005 * best_known
