"""Problems for the planning tests: random ones, each from its seed, and a few with names."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import numpy as np

from flexpress.arrays import FloatArray
from flexpress.planning.problem import Problem
from flexpress.scenario import Objective

OBJECTIVES: tuple[Objective, ...] = get_args(Objective)

FLIGHT_POWER = 30.0  # W
HOVER_POWER = 20.1  # W, the radio included


def problem_of(
    positions: FloatArray, speeds: FloatArray, transfer_time: float, budgets: FloatArray
) -> Problem:
    """The Problem of a fleet with the paper's powers."""
    ones = np.ones(len(speeds))
    return Problem(
        positions=positions,
        time_per_metre=1 / speeds,
        time_per_client=transfer_time * ones,
        energy_per_metre=FLIGHT_POWER / speeds,
        energy_per_client=HOVER_POWER * transfer_time * ones,
        budgets=budgets,
    )


def random_problem(
    seed: int, num_clients: int, num_transporters: int, *, tightness: float = np.inf
) -> Problem:
    """A square kilometre with unequal speeds; budgets are `tightness` fair shares of one long tour.

    Near 1 many of these problems have no feasible plan, near 2 most have one; inf = no budgets.
    """
    rng = np.random.default_rng([seed, num_clients, num_transporters])
    positions = 1000.0 * rng.random((num_clients + 1, 2))
    speeds = rng.uniform(5.0, 15.0, num_transporters)
    unlimited = problem_of(
        positions, speeds, rng.uniform(0.0, 20.0), np.full(num_transporters, np.inf)
    )
    everyone = list(range(1, num_clients + 1))
    whole = np.array([unlimited.energy(k, everyone) for k in range(num_transporters)])
    spread = rng.uniform(0.8, 1.2, num_transporters)
    return replace(unlimited, budgets=tightness * spread * whole / num_transporters)


def random_cases(count: int, *, max_clients: int, max_transporters: int) -> list[Problem]:
    """Problems of all sizes up to the limits, every second one with tight budgets."""
    rng = np.random.default_rng(count)
    return [
        random_problem(
            seed,
            int(rng.integers(1, max_clients, endpoint=True)),
            int(rng.integers(1, max_transporters, endpoint=True)),
            tightness=rng.uniform(0.6, 1.6) if seed % 2 else np.inf,
        )
        for seed in range(count)
    ]


def with_wind(problem: Problem) -> Problem:
    """Ways with the wind, to the east, are shorter than ways against it."""
    offsets = problem.positions[None, :, :] - problem.positions[:, None, :]  # (from, to, 2)
    angles = np.arctan2(offsets[..., 1], offsets[..., 0])
    straight = np.hypot(offsets[..., 0], offsets[..., 1])
    return replace(problem, matrix=straight / (1 + 0.3 * np.cos(angles)))


def four_clients(*speeds: float) -> Problem:
    """Two clients east, two west of the server, whose best tours a pencil finds; transfer 1 s."""
    positions = np.array([[0.0, 0.0], [3.0, 0.0], [3.0, 4.0], [-3.0, 0.0], [-3.0, -4.0]])
    return problem_of(positions, np.array(speeds), 1.0, np.full(len(speeds), np.inf))


def block_network(seed: int, *, transfer_time: float = 6.1776, budget: float = 15e3) -> Problem:
    """The paper's network (Section "Energy Setup"): 5 x 2 blocks of 4 clients, 4 transporters."""
    rng = np.random.default_rng(seed)
    corners = [(column, row) for row in range(2) for column in range(5)]
    blocks = [(corner + rng.random((4, 2))) * [400.0, 1000.0] for corner in corners]
    positions = np.vstack([[[1000.0, 1000.0]], *blocks])
    return problem_of(positions, np.full(4, 10.0), transfer_time, np.full(4, budget))
