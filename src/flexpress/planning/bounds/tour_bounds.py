"""The bounds that column generation over tours proves, for each objective and for the budgets."""

from __future__ import annotations

import numpy as np

from flexpress.arrays import FloatArray
from flexpress.planning.bounds.column_generation import (
    STEPS,
    ColumnGeneration,
    PricedFleet,
    Proof,
    TourColumn,
)
from flexpress.planning.bounds.effort import ProofEffort
from flexpress.planning.bounds.enumeration import MOST_CLIENTS as MOST_ENUMERATED
from flexpress.planning.bounds.enumeration import best_plan_below
from flexpress.planning.bounds.pricing import make_labels
from flexpress.planning.bounds.pricing_data import (
    FREE,
    SLOTS_GUARD,
    SWS,
    TOTAL,
    PricingData,
    in_slots,
    kinds_of,
    largest_memory,
    pricing_data,
    tour_rules,
)
from flexpress.planning.problem import Problem, Tours
from flexpress.scenario import Objective

_MOST_CLIENTS = 150
_MOST_STEPS = 4e9
"""Limit for one table of completions, which takes seconds."""

_MEMORIES = (8, 12)
"""Clients that a route remembers: few at first, which is fast, then more to close the gap."""

_CLOSE = 1e-7
"""minmax: a plan that is better by less (relative) does not count as better."""

_OPTIMAL = 1e-8
"""The same for sws and total."""

_ROUNDING = 1e-9
_SAME = 1e-6
"""In slots: a bound that exceeds a whole number by less may be rounding."""

_IMPOSSIBLE = 1e-6
"""If the bound on the number of omitted clients is larger, it is more than rounding."""

_LADDER = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
_FINEST = 0.0005
"""minmax: gaps tried until one can be proven, and the resolution of the final bisection."""


class TourBounds:
    """What tours prove about a problem. Tours found for one question are kept for the next."""

    def __init__(self, problem: Problem, effort: ProofEffort) -> None:
        self.problem = problem
        self.effort = effort
        self.kinds = kinds_of(problem)
        self._columns: dict[TourColumn, None] = {}
        self._data: dict[int, PricingData] = {}
        self._labels = make_labels()
        self._prizes = np.zeros(problem.num_clients + 1)  # of the last proof that no plan exists

    def know(self, tours: Tours) -> None:
        """Start with these tours, for every kind of transporter."""
        for kind in range(len(self.kinds)):
            self._columns.update({(kind, tuple(tour)): None for tour in tours if tour})

    def least_cost(self, objective: Objective, cost: float) -> float:
        """A bound for `sws` or `total`, given the cost of some plan."""
        counts = np.maximum(np.arange(self.problem.num_clients + 1), 1)
        latest = np.sqrt(cost / counts) if objective == "sws" else np.full(len(counts), cost)
        goal, ceiling = 1 - _OPTIMAL, 1.0
        if self.problem.slot:  # plans cost whole numbers
            latest = self.problem.slot * np.floor(latest + _ROUNDING) * (1 + SLOTS_GUARD)
            goal = ceiling = 1 - 0.5 / cost
        if self.problem.num_clients > _MOST_CLIENTS:
            return 0.0
        fleet = self._fleet(SWS if objective == "sws" else TOTAL, latest, cost)
        bound = 0.0
        if self._too_large(fleet):
            return bound
        for memory in _MEMORIES:
            proof = self._generate(memory, fleet, goal, 0.0).best
            if proof is None:
                break
            bound = max(bound, proof.bound)
            self.effort.proven(self._provable(bound, cost))
            if bound < goal:
                bound = max(bound, self._best_plan(memory, fleet, proof, ceiling))
            if bound >= goal or self.effort.over():
                break
        return self._provable(bound, cost)

    def _provable(self, bound: float, cost: float) -> float:
        """What a bound in units of the cost proves; in slots, the next whole number."""
        value = min(bound, 1.0) * cost * (1 - _ROUNDING)
        return float(np.ceil(value - _SAME)) if self.problem.slot else value

    def least_maximum(self, cost: float, floor: float) -> float:
        """A bound for `minmax`, given the cost of some plan and a lower bound of it."""
        if not self.problem.slot:
            return self._least_seconds(cost, floor)
        slot = self.problem.slot
        if cost <= 1:
            return floor
        one_less = (cost - 1) * slot * (1 + 2 * _CLOSE)  # even this may be too short
        seconds = self._least_seconds(one_less, max(floor - 1, 0.0) * slot)
        return max(floor, in_slots(self.problem, "minmax", seconds * (1 - _ROUNDING)))

    def _least_seconds(self, cost: float, floor: float) -> float:
        """The same in seconds; nothing above the cost is tried."""
        shortest = cost * (1 - _CLOSE)
        if self.impossible_within(shortest):
            return shortest
        proven = 1 - floor / cost  # a gap
        for memory in _MEMORIES:
            proven = self._least_gap(cost, proven, memory)
            self.effort.proven(in_slots(self.problem, "minmax", cost * (1 - proven)))
            if self._no_plan_within(shortest, memory):
                return shortest
            if proven <= _FINEST or self.effort.over():
                break
        return max(cost * (1 - proven), floor)

    def _least_gap(self, cost: float, proven: float, memory: int) -> float:
        """The smallest gap that can be proven, below a proven one: by steps, then by bisection."""
        failed = 0.0
        for gap in _LADDER:
            if gap >= proven or self.effort.over():
                break
            if self.impossible_within(cost * (1 - gap), memory=memory):
                proven = gap
                break
            failed = gap
        while proven - failed > _FINEST and not self.effort.over():
            gap = (proven + failed) / 2
            if self.impossible_within(cost * (1 - gap), memory=memory):
                proven = gap
            else:
                failed = gap
        return proven

    def impossible_within(
        self, latest: float, number: int | None = None, memory: int = _MEMORIES[0]
    ) -> bool:
        """Whether it is proven that no plan keeps the budgets and is back by `latest`.

        `number` replaces the number of transporters of each kind.
        """
        if self.problem.num_clients > _MOST_CLIENTS:
            return False
        fleet = self._back_by(np.full(self.problem.num_clients + 1, latest), number)
        if self._too_large(fleet):
            return False
        proof = self._generate(memory, fleet, _IMPOSSIBLE, _ROUNDING).best
        if proof is None or proof.bound < _IMPOSSIBLE:
            return False
        self._prizes = proof.prizes
        return True

    def fewest_transporters(self, most: int) -> int | None:
        """How many transporters the budgets need at least, counted up to `most`.

        None if the fleet may be enough, or if its transporters differ.
        """
        if len(self.kinds) > 1:
            return None
        number = self.problem.num_transporters
        while number < most and self.impossible_within(np.inf, number):
            number += 1
        return number if number > self.problem.num_transporters else None

    def _no_plan_within(self, latest: float, memory: int) -> bool:
        """The same as `impossible_within`, by enumeration, with the prizes of an earlier proof.

        Without such a proof all prizes are 0, and only few clients can be enumerated.
        """
        if self.problem.num_clients > MOST_ENUMERATED or self.effort.over():
            return False
        fleet = self._back_by(np.full(self.problem.num_clients + 1, latest))
        proof = self._columns_for(memory, fleet).evaluate(self._prizes, self.effort)
        return (
            proof is not None and self._best_plan(memory, fleet, proof, _IMPOSSIBLE) >= _IMPOSSIBLE
        )

    def _best_plan(self, memory: int, fleet: PricedFleet, proof: Proof, ceiling: float) -> float:
        if self.problem.num_clients > MOST_ENUMERATED or self.effort.over():
            return 0.0
        return best_plan_below(self._data_for(memory), fleet, proof, ceiling, self.effort) or 0.0

    def _generate(
        self, memory: int, fleet: PricedFleet, enough: float, hopeless: float
    ) -> ColumnGeneration:
        generation = self._columns_for(memory, fleet)
        generation.run(enough, hopeless, self.effort)
        elementary = (c for c in generation.tours if len(set(c[1])) == len(c[1]))
        self._columns.update(dict.fromkeys(elementary))  # other routes depend on the memory
        return generation

    def _columns_for(self, memory: int, fleet: PricedFleet) -> ColumnGeneration:
        generation = ColumnGeneration(self._data_for(memory), fleet, self._labels)
        generation.add(self._columns)
        return generation

    def _data_for(self, memory: int) -> PricingData:
        size = min(memory, largest_memory(self.problem.num_clients))
        if size not in self._data:
            self._data[size] = pricing_data(self.problem, size)
        return self._data[size]

    def _back_by(self, latest: FloatArray, number: int | None = None) -> PricedFleet:
        return self._fleet(FREE, latest, 1.0, number)

    def _fleet(
        self, cost: int, latest: FloatArray, unit: float, number: int | None = None
    ) -> PricedFleet:
        distances = self.problem.distances()
        slot = self.problem.slot
        rules = [tour_rules(kind, cost, latest, distances, slot) for kind in self.kinds]
        return PricedFleet(rules, [number or kind.number for kind in self.kinds], unit)

    def _too_large(self, fleet: PricedFleet) -> bool:
        most = max(len(rules.longest) for rules in fleet.rules)
        return self.problem.num_clients * most**2 * STEPS[-1] ** 2 / 8 > _MOST_STEPS
