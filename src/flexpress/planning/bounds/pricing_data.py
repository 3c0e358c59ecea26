"""What pricing needs to know of a problem: distances, memories, kinds of transporters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexpress.arrays import FloatArray
from flexpress.planning.bounds.pricing import Flyer, Ground
from flexpress.planning.problem import ABILITIES, BUDGET_TOLERANCE, Problem

SLACK = 1e-9
"""Relative: limits are widened by more than sums of floats can be wrong."""

LARGEST_TABLE = 8_000_000
"""Entries of the table that translates memories."""

LARGEST_MEMORY = 12


@dataclass(frozen=True)
class Kind:
    """Transporters that are alike: how many, and the abilities of each in their order."""

    number: int
    time_per_metre: float
    time_per_client: float
    energy_per_metre: float
    energy_per_client: float
    budget: float

    def within_budget(self, counts: FloatArray) -> FloatArray:
        """Metres that a tour of so many clients may have, rather too many; negative if none."""
        left = self.budget * (1 + BUDGET_TOLERANCE + SLACK) - self.energy_per_client * counts
        if self.energy_per_metre > 0:
            return left / self.energy_per_metre
        return np.where(left >= 0, np.inf, -1.0)

    def within_time(self, counts: FloatArray, latest: FloatArray) -> FloatArray:
        """Metres that it may have to be back by then, rather too many."""
        return (latest * (1 + SLACK) - self.time_per_client * counts) / self.time_per_metre


def kinds_of(problem: Problem) -> list[Kind]:
    abilities = np.column_stack([getattr(problem, name) for name in ABILITIES])
    rows, numbers = np.unique(abilities, axis=0, return_counts=True)
    return [Kind(int(number), *row) for row, number in zip(rows.tolist(), numbers, strict=True)]


def make_flyer(kind: Kind, cost: int, latest: FloatArray, distances: FloatArray) -> Flyer:
    """The tours of this kind that keep the budget and are back at `latest` (N + 1,), by clients R.

    The most clients R that a tour can have follows from the shortest legs.
    """
    shortest = shortest_tours(distances)
    counts = np.arange(len(shortest), dtype=np.float64)
    metres = np.minimum(kind.within_budget(counts), kind.within_time(counts, latest))
    allowed = np.flatnonzero(metres[1:] >= shortest[1:])
    if not len(allowed):  # it cannot fly at all
        nowhere = np.array([0.0, -1.0])
        return Flyer(cost, kind.time_per_metre, kind.time_per_client, nowhere, 1.0)
    most = int(allowed[-1]) + 1
    whatever = distances.max() * (most + 1) * (1 + SLACK)  # where the limits are infinite
    longest = np.minimum(metres[: most + 1], whatever)
    reach = float(longest.max()) * (1 + SLACK) + SLACK
    return Flyer(cost, kind.time_per_metre, kind.time_per_client, longest, reach)


def shortest_tours(distances: FloatArray) -> FloatArray:
    """A length that no tour of R clients is below: (N + 1,). A leg leads to each of them, one home.

    So it is the sum of the R + 1 shortest of such legs.
    """
    legs = distances + np.diag(np.full(len(distances), np.inf))
    into = legs.min(axis=0)
    return np.concatenate([[0.0], np.cumsum(np.sort(into[1:])) + into[0]])


def ground_of(problem: Problem, memory: int) -> Ground:
    """Distances, and memories of so many clients each: the client itself and the nearest others."""
    distances = np.array(problem.distances(), order="C")  # also where the scenario's is read-only
    near = neighbourhoods(distances, memory)  # (nodes, memory)
    nodes = len(distances)
    bit_of = np.full((nodes, nodes), -1, np.int8)
    bit_of[np.arange(nodes)[:, None], near] = np.arange(near.shape[1], dtype=np.int8)
    remap = np.ones((nodes, nodes, 1), np.int16)  # whoever comes to j remembers j, in bit 0
    for bit in range(near.shape[1]):
        there = bit_of[:, near[:, bit]].T  # (i, j): the bit of i's neighbour in j's memory
        mask = np.where(there >= 0, 1 << np.maximum(there, 0).astype(np.int16), 0).astype(np.int16)
        remap = np.concatenate([remap, remap | mask[:, :, None]], axis=2)
    return Ground(distances, ways_home(distances), bit_of, remap)


def neighbourhoods(distances: FloatArray, memory: int) -> NDArray[np.intp]:
    """Of every node the nearest clients, itself first; the server's row is never asked."""
    both = distances + distances.T
    both[:, 0] = np.inf
    np.fill_diagonal(both, -1.0)
    return np.argsort(both, axis=1, kind="stable")[:, : min(memory, len(distances) - 1)]


def ways_home(distances: FloatArray) -> FloatArray:
    """Length of the shortest way to the server: the direct one, unless a detour is shorter."""
    home: FloatArray = distances[:, 0].copy()
    while True:
        shorter = np.minimum(home, (distances + home).min(axis=1))
        if np.array_equal(shorter, home):
            return home
        home = shorter


def largest_memory(num_clients: int) -> int:
    """Clients that a memory may hold for the tables to stay small."""
    bits = int(np.log2(LARGEST_TABLE / (num_clients + 1) ** 2))
    return min(max(bits, 4), LARGEST_MEMORY)
