"""What pricing needs to know about a problem: distances, memories, kinds of transporters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from flexpress.arrays import FloatArray
from flexpress.planning.problem import ABILITIES, BUDGET_TOLERANCE, Problem
from flexpress.scenario import Objective, physics
from flexpress.scenario.physics import ROUNDING_GUARD

FREE, TOTAL, SWS = 0, 1, 2
"""What a tour of R clients and round trip T costs: nothing, T, R T^2; T in seconds or slots."""

SLOTS_GUARD = 2 * ROUNDING_GUARD
"""Relative: round trips that a plan may count as fewer slots do not count as more here."""

_SLACK = 1e-9
"""Relative: limits are widened by more than the rounding of sums."""

_LARGEST_TABLE = 8_000_000
"""Entries of the table that translates memories."""

_LARGEST_MEMORY = 12


class PricingData(NamedTuple):
    """What all tours share."""

    distances: FloatArray  # (nodes, nodes)
    home: FloatArray  # (nodes,), length of the shortest way to the server
    bit_of: NDArray[np.int8]  # (nodes, nodes): the bit that stands for j in i's memory, or -1
    remap: NDArray[np.int16]  # (nodes, nodes, memories): i's memory as j has it, j added


class TourRules(NamedTuple):
    """What tours of one kind of transporter cost, and how long they may be."""

    cost: int  # FREE, TOTAL or SWS
    time_per_metre: float
    time_per_client: float
    longest: FloatArray  # (most + 1,), metres that a tour of R clients may have, falling in R
    reach: float  # the largest of these
    slot: float  # seconds, if tours cost slots, else 0


class PricingTask(NamedTuple):
    """Find tours whose cost - prizes is below a limit."""

    data: PricingData
    rules: TourRules
    prizes: FloatArray  # (nodes,)
    below: float


@dataclass(frozen=True)
class Kind:
    """Identical transporters: how many, and the abilities of each."""

    number: int
    time_per_metre: float
    time_per_client: float
    energy_per_metre: float
    energy_per_client: float
    budget: float

    def within_budget(self, counts: FloatArray) -> FloatArray:
        """The longest tour of each number of clients, rounded up; negative if none is allowed."""
        left = self.budget * (1 + BUDGET_TOLERANCE + _SLACK) - self.energy_per_client * counts
        if self.energy_per_metre > 0:
            return left / self.energy_per_metre
        return np.where(left >= 0, np.inf, -1.0)

    def within_time(self, counts: FloatArray, latest: FloatArray) -> FloatArray:
        """The longest tour that is back by `latest`, rounded up."""
        return (latest * (1 + _SLACK) - self.time_per_client * counts) / self.time_per_metre


def kinds_of(problem: Problem) -> list[Kind]:
    abilities = np.column_stack([getattr(problem, name) for name in ABILITIES])
    rows, numbers = np.unique(abilities, axis=0, return_counts=True)
    return [Kind(int(number), *row) for row, number in zip(rows.tolist(), numbers, strict=True)]


def tour_rules(
    kind: Kind, cost: int, latest: FloatArray, distances: FloatArray, slot: float = 0.0
) -> TourRules:
    """The tours of this kind that keep the budget and are back by `latest` (N + 1,), by clients R.

    The largest R follows from the shortest legs. With a `slot`, tours cost whole slots.
    """
    shortest = shortest_tours(distances)
    counts = np.arange(len(shortest), dtype=np.float64)
    metres = np.minimum(kind.within_budget(counts), kind.within_time(counts, latest))
    allowed = np.flatnonzero(metres[1:] >= shortest[1:])
    if not len(allowed):  # it cannot fly at all
        nowhere = np.array([0.0, -1.0])
        return TourRules(cost, kind.time_per_metre, kind.time_per_client, nowhere, 1.0, slot)
    most = int(allowed[-1]) + 1
    whatever = distances.max() * (most + 1) * (1 + _SLACK)  # where the limits are infinite
    longest = np.minimum(metres[: most + 1], whatever)
    reach = float(longest.max()) * (1 + _SLACK) + _SLACK
    return TourRules(cost, kind.time_per_metre, kind.time_per_client, longest, reach, slot)


def in_slots(problem: Problem, objective: Objective, seconds: float) -> float:
    """A lower bound in seconds as one in slots: no sum of whole slots is below it.

    Every round trip takes at least as many slots as its seconds are, and plans cost whole numbers.
    """
    if not problem.slot:
        return seconds
    square = problem.slot**2 if objective == "sws" else problem.slot
    return float(physics.slots(seconds / square, 1.0))


def shortest_tours(distances: FloatArray) -> FloatArray:
    """A lower bound of the length of any tour of R clients: (N + 1,).

    One leg leads to each client and one home: the bound sums the R + 1 shortest of such legs.
    """
    legs = distances + np.diag(np.full(len(distances), np.inf))
    into = legs.min(axis=0)
    return np.concatenate([[0.0], np.cumsum(np.sort(into[1:])) + into[0]])


def pricing_data(problem: Problem, memory: int) -> PricingData:
    """Distances, and memories of `memory` clients: the client itself and the nearest others."""
    distances = np.array(problem.distances(), order="C")  # the scenario's may be read-only
    near = _neighbourhoods(distances, memory)  # (nodes, memory)
    nodes = len(distances)
    bit_of = np.full((nodes, nodes), -1, np.int8)
    bit_of[np.arange(nodes)[:, None], near] = np.arange(near.shape[1], dtype=np.int8)
    remap = np.ones((nodes, nodes, 1), np.int16)  # a path that comes to j remembers j, in bit 0
    for bit in range(near.shape[1]):
        there = bit_of[:, near[:, bit]].T  # (i, j): the bit of i's neighbour in j's memory
        mask = np.where(there >= 0, 1 << np.maximum(there, 0).astype(np.int16), 0).astype(np.int16)
        remap = np.concatenate([remap, remap | mask[:, :, None]], axis=2)
    return PricingData(distances, ways_home(distances), bit_of, remap)


def _neighbourhoods(distances: FloatArray, memory: int) -> NDArray[np.intp]:
    """The nearest clients of every node, itself first; the server's row is not used."""
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
    """The largest memory for which the tables stay small."""
    bits = int(np.log2(_LARGEST_TABLE / (num_clients + 1) ** 2))
    return min(max(bits, 4), _LARGEST_MEMORY)
