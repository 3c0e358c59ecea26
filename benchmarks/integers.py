"""Times and energies as whole numbers, which both peers ask for.

The scale makes the longest leg a million, so that rounding changes a tour by a millionth or so.
Energies are rounded up and budgets down: what keeps the rounded budget keeps the real one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexpress.planning import Problem

LONGEST_LEG = 1_000_000

Matrix = NDArray[np.int64]


@dataclass(frozen=True)
class Transporter:
    """What a peer needs to know of one; the time and energy of a stop are on the leg from it."""

    times: Matrix  # (nodes, nodes)
    energies: Matrix | None  # (nodes, nodes); None without a budget
    budget: int | None


def transporters(problem: Problem) -> list[tuple[Transporter, list[int]]]:
    """Each kind of transporter, and the numbers of those that are of this kind."""
    distances = problem.distances()
    longest = float(distances.max())
    time_scale = LONGEST_LEG / (longest * float(problem.time_per_metre.max()))
    energy_scale = LONGEST_LEG / (longest * float(problem.energy_per_metre.max()))
    kinds: dict[tuple[float, ...], list[int]] = {}
    for k in range(problem.num_transporters):
        kinds.setdefault(abilities(problem, k), []).append(k)
    made = []
    for (metre, client, joules, client_joules, budget), numbers in kinds.items():
        limited = np.isfinite(budget)
        energies = legs(distances, joules, client_joules) * energy_scale
        transporter = Transporter(
            times=np.rint(legs(distances, metre, client) * time_scale).astype(np.int64),
            energies=np.ceil(energies).astype(np.int64) if limited else None,
            budget=int(budget * energy_scale) if limited else None,
        )
        made.append((transporter, numbers))
    return made


def abilities(problem: Problem, k: int) -> tuple[float, ...]:
    return (
        float(problem.time_per_metre[k]),
        float(problem.time_per_client[k]),
        float(problem.energy_per_metre[k]),
        float(problem.energy_per_client[k]),
        float(problem.budgets[k]),
    )


def legs(
    distances: NDArray[np.float64], per_metre: float, per_client: float
) -> NDArray[np.float64]:
    """What each leg takes, with the stop at its beginning; staying takes nothing."""
    taken = distances * per_metre
    taken[1:] += per_client
    np.fill_diagonal(taken, 0.0)
    return taken
