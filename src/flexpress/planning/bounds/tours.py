"""The bounds that column generation over tours proves, for each objective and for the budgets."""

from __future__ import annotations

import numpy as np

from flexpress.arrays import FloatArray
from flexpress.planning.bounds.column_generation import (
    STEPS,
    Column,
    ColumnGeneration,
    Fleet,
    Proof,
    room_for,
)
from flexpress.planning.bounds.enumeration import MOST_CLIENTS as MOST_ENUMERATED
from flexpress.planning.bounds.enumeration import best_plan_below
from flexpress.planning.bounds.pricing import FREE, SWS, TOTAL, Ground
from flexpress.planning.bounds.pricing_data import ground_of, kinds_of, largest_memory, make_flyer
from flexpress.planning.bounds.work import Work
from flexpress.planning.problem import Problem, Tours
from flexpress.scenario import Objective

MOST_CLIENTS = 150
MOST_STEPS = 4e9
"""To fill the table of completions once; more would take many seconds."""

MEMORIES = (8, 12)
"""Clients that a route remembers: few at first, which is fast, then more if the gap asks for it."""

CLOSE = 1e-7
"""minmax: a plan that is better by less, relatively, does not count as better."""

OPTIMAL = 1e-8
"""sws and total: the same."""

ROUNDING = 1e-9
IMPOSSIBLE = 1e-6
"""A bound on the number of clients left out, from which on it is not rounding."""

LADDER = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
FINEST = 0.0005
"""minmax: gaps tried until one can be proven, and how finely the last two are told apart."""


class TourBounds:
    """What tours prove about a problem. What was learned by one question helps with the next."""

    def __init__(self, problem: Problem, work: Work) -> None:
        self.problem = problem
        self.work = work
        self.kinds = kinds_of(problem)
        self._columns: dict[Column, None] = {}
        self._grounds: dict[int, Ground] = {}
        self._labels = room_for()
        self._prizes = np.zeros(problem.num_clients + 1)  # of the last proof of an impossibility

    def know(self, tours: Tours) -> None:
        """Begin with these tours, whoever flies them."""
        for kind in range(len(self.kinds)):
            self._columns.update({(kind, tuple(tour)): None for tour in tours if tour})

    def least_cost(self, objective: Objective, cost: float) -> float:
        """A bound for `sws` or `total`, given the cost of some plan."""
        counts = np.maximum(np.arange(self.problem.num_clients + 1), 1)
        latest = np.sqrt(cost / counts) if objective == "sws" else np.full(len(counts), cost)
        if self.problem.num_clients > MOST_CLIENTS:
            return 0.0
        fleet = self._fleet(SWS if objective == "sws" else TOTAL, latest, cost)
        bound = 0.0
        if self._too_large(fleet):
            return bound
        for memory in MEMORIES:
            proof = self._generate(memory, fleet, 1 - OPTIMAL, 0.0).best
            if proof is None:
                break
            bound = max(bound, proof.bound)
            self.work.tell(bound * cost)
            if bound < 1 - OPTIMAL:
                bound = max(bound, self._best_plan(memory, fleet, proof, 1.0))
            if bound >= 1 - OPTIMAL or self.work.over():
                break
        return min(bound, 1.0) * cost * (1 - ROUNDING)

    def least_maximum(self, cost: float, floor: float) -> float:
        """A bound for `minmax`, given the cost of some plan and a lower bound of it."""
        shortest = cost * (1 - CLOSE)
        if self.impossible_within(shortest):
            return shortest
        proven = 1 - floor / cost  # a gap
        for memory in MEMORIES:
            proven = self._least_gap(cost, proven, memory)
            self.work.tell(cost * (1 - proven))
            if self._no_plan_within(shortest, memory):
                return shortest
            if proven <= FINEST or self.work.over():
                break
        return max(cost * (1 - proven), floor)

    def _least_gap(self, cost: float, proven: float, memory: int) -> float:
        """The smallest gap that can be proven, given one that is: by steps, then by halving."""
        failed = 0.0
        for gap in LADDER:
            if gap >= proven or self.work.over():
                break
            if self.impossible_within(cost * (1 - gap), memory=memory):
                proven = gap
                break
            failed = gap
        while proven - failed > FINEST and not self.work.over():
            gap = (proven + failed) / 2
            if self.impossible_within(cost * (1 - gap), memory=memory):
                proven = gap
            else:
                failed = gap
        return proven

    def impossible_within(
        self, latest: float, number: int | None = None, memory: int = MEMORIES[0]
    ) -> bool:
        """Proven that no plan keeps the budgets and is back by then, with so many of a kind."""
        if self.problem.num_clients > MOST_CLIENTS:
            return False
        fleet = self._back_by(np.full(self.problem.num_clients + 1, latest), number)
        if self._too_large(fleet):
            return False
        proof = self._generate(memory, fleet, IMPOSSIBLE, ROUNDING).best
        if proof is None or proof.bound < IMPOSSIBLE:
            return False
        self._prizes = proof.prizes
        return True

    def fewest_transporters(self, most: int) -> int | None:
        """How many are needed at least to keep the budgets; None if the fleet may be enough.

        Only for transporters that are all alike, else None too; and not beyond `most`.
        """
        if len(self.kinds) > 1:
            return None
        number = self.problem.num_transporters
        while number < most and self.impossible_within(np.inf, number):
            number += 1
        return number if number > self.problem.num_transporters else None

    def _no_plan_within(self, latest: float, memory: int) -> bool:
        """The same as `impossible_within`, by enumeration, with the prizes of an earlier proof.

        If there was none, there are no prizes, and few clients only can be enumerated.
        """
        if self.problem.num_clients > MOST_ENUMERATED or self.work.over():
            return False
        fleet = self._back_by(np.full(self.problem.num_clients + 1, latest))
        proof = self._columns_for(memory, fleet).evaluate(self._prizes, self.work)
        return proof is not None and self._best_plan(memory, fleet, proof, IMPOSSIBLE) >= IMPOSSIBLE

    def _best_plan(self, memory: int, fleet: Fleet, proof: Proof, ceiling: float) -> float:
        if self.problem.num_clients > MOST_ENUMERATED or self.work.over():
            return 0.0
        return best_plan_below(self._ground(memory), fleet, proof, ceiling, self.work) or 0.0

    def _generate(
        self, memory: int, fleet: Fleet, enough: float, hopeless: float
    ) -> ColumnGeneration:
        generation = self._columns_for(memory, fleet)
        generation.run(enough, hopeless, self.work)
        elementary = (c for c in generation.tours if len(set(c[1])) == len(c[1]))
        self._columns.update(dict.fromkeys(elementary))  # others depend on the memory
        return generation

    def _columns_for(self, memory: int, fleet: Fleet) -> ColumnGeneration:
        generation = ColumnGeneration(self._ground(memory), fleet, self._labels)
        generation.add(self._columns)
        return generation

    def _ground(self, memory: int) -> Ground:
        size = min(memory, largest_memory(self.problem.num_clients))
        if size not in self._grounds:
            self._grounds[size] = ground_of(self.problem, size)
        return self._grounds[size]

    def _back_by(self, latest: FloatArray, number: int | None = None) -> Fleet:
        return self._fleet(FREE, latest, 1.0, number)

    def _fleet(
        self, cost: int, latest: FloatArray, unit: float, number: int | None = None
    ) -> Fleet:
        distances = self.problem.distances()
        flyers = [make_flyer(kind, cost, latest, distances) for kind in self.kinds]
        return Fleet(flyers, [number or kind.number for kind in self.kinds], unit)

    def _too_large(self, fleet: Fleet) -> bool:
        most = max(len(flyer.longest) for flyer in fleet.flyers)
        return self.problem.num_clients * most**2 * STEPS[-1] ** 2 / 8 > MOST_STEPS
