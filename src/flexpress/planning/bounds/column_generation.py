"""Column generation: finds the prizes of the clients that prove the highest bound.

For any prizes the Lagrangian bound

    sum of prizes + sum over kinds of number * min(0, least cost - prizes of any tour of the kind)

is below the cost of every plan: each transporter flies at most one tour, each client is on one. The
linear programme over the tours known so far, solved by HiGHS, proposes prizes; pricing finds the
tours that are missing; and so on. Prizes are smoothed towards those of the best bound (Wentges,
1997).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from flexpress.arrays import FloatArray
from flexpress.planning.bounds.completions import tour_cost
from flexpress.planning.bounds.effort import ProofEffort
from flexpress.planning.bounds.pricing import PathLabels, price
from flexpress.planning.bounds.pricing_data import FREE, PricingData, PricingTask, TourRules

_SMOOTHING = 0.8
_ROUTES = 30
"""Routes that one call of pricing returns."""

_WIDTHS = (10, 60, 0)
"""Labels per layer and client: few at first, to find routes; in the end all, to prove."""

STEPS = (64, 128, 256)
"""Steps of the table of completions at each width."""

_OMISSION = 2.0
"""Price of omitting a client, in units of the plan's cost; 1 if only feasibility counts."""

_PROOF_FROM = 0.5
"""Share of the effort after which any proof is better than none."""

_CONVERGED = 1e-7

TourColumn = tuple[int, tuple[int, ...]]
"""The kind of transporter, and the nodes 1..N in visiting order."""


@dataclass(frozen=True)
class PricedFleet:
    """The tours of every kind of transporter, and how many transporters there are of each."""

    rules: Sequence[TourRules]
    numbers: Sequence[int]
    unit: float  # costs are passed to the linear programme in this unit

    @property
    def free(self) -> bool:
        return all(rules.cost == FREE for rules in self.rules)


@dataclass(frozen=True)
class Proof:
    """Prizes and the bound that they prove, both in the fleet's unit."""

    bound: float
    prizes: FloatArray  # (nodes,)
    lows: tuple[float, ...]  # least cost - prizes per kind, at most 0


@dataclass
class ColumnGeneration:
    """The linear programme and the tours in it."""

    data: PricingData
    fleet: PricedFleet
    labels: PathLabels
    tours: dict[TourColumn, None] = field(default_factory=dict)
    best: Proof | None = None
    value: float = np.inf  # of the linear programme

    def __post_init__(self) -> None:
        nodes = len(self.data.distances)
        omission = 1.0 if self.fleet.free else _OMISSION
        self._programme = _LinearProgramme(nodes - 1, self.fleet.numbers, omission)
        self._centre: FloatArray | None = None
        self._level = 0
        self._estimate = -np.inf

    def add(self, tours: Iterable[TourColumn]) -> int:
        """Add these tours to the programme; how many were new and allowed."""
        new = 0
        for kind, tour in tours:
            known = not tour or (kind, tour) in self.tours
            cost = None if known else self._cost(kind, tour)
            if cost is not None:
                self.tours[kind, tour] = None
                self._programme.add(kind, cost, tour)
                new += 1
        return new

    def run(self, enough: float, hopeless: float, effort: ProofEffort) -> Proof | None:
        """Raise the bound until it is `enough` or cannot rise; the best proof so far.

        The programme's value is above every bound. Once it falls to `hopeless`, this gives up.
        """
        while not effort.over():
            if self.best is None and effort.fraction > _PROOF_FROM:
                self._level = len(_WIDTHS) - 1  # a weak proof now is better than none
            self.value, prizes = self._programme.solve()
            if self.value <= hopeless or not self._step(prizes, effort):
                break
            reached = -np.inf if self.best is None else self.best.bound
            if reached >= min(enough, self.value - _CONVERGED * abs(self.value)):
                break
        return self.best

    def evaluate(self, prizes: FloatArray, effort: ProofEffort) -> Proof | None:
        """What these prizes prove."""
        self._level = len(_WIDTHS) - 1
        self._price(prizes, effort)
        return self.best

    def _step(self, prizes: FloatArray, effort: ProofEffort) -> bool:
        """Price near the best prizes, then at the programme's; False if nothing is left to do."""
        trials = [prizes]
        if self._centre is not None:
            trials.insert(0, _SMOOTHING * self._centre + (1 - _SMOOTHING) * prizes)
        for trial in trials:
            if self._level < len(_WIDTHS) and self._price(trial, effort):
                return True
        self._level += 1
        self._estimate = -np.inf
        return self._level < len(_WIDTHS)

    def _price(self, prizes: FloatArray, effort: ProofEffort) -> int:
        """Add the tours that these prizes make cheap; how many are new. Keeps the bound."""
        width, steps = _WIDTHS[self._level], STEPS[self._level]
        new, all_proven = 0, True
        lows: list[float] = []
        for kind, rules in enumerate(self.fleet.rules):
            task = PricingTask(self.data, rules, prizes * self.fleet.unit, 0.0)
            low, proven, routes, used = price(task, self.labels, width, steps, _ROUTES)
            effort.add(used)
            if effort.over() and width > 0:
                return 0
            lows.append(min(low / self.fleet.unit, 0.0))
            all_proven &= proven
            new += self.add((kind, tuple(route[route > 0].tolist())) for route in routes)
        bound = float(prizes.sum() + np.dot(self.fleet.numbers, lows))
        if bound > self._estimate:
            self._estimate, self._centre = bound, prizes
        if all_proven and (self.best is None or bound > self.best.bound):
            self.best = Proof(bound, prizes, tuple(lows))
        if width == 0 and not all_proven:  # the labels do not fit: it will not get better
            self._level = len(_WIDTHS)
            return 0
        return new

    def _cost(self, kind: int, tour: tuple[int, ...]) -> float | None:
        """In the fleet's unit; None if this kind may not fly the tour."""
        rules = self.fleet.rules[kind]
        stops = [0, *tour, 0]
        length = float(self.data.distances[stops[:-1], stops[1:]].sum())
        if len(tour) >= len(rules.longest) or length > rules.longest[len(tour)]:
            return None
        return float(tour_cost(rules, len(tour), length)) / self.fleet.unit


def quiet_highs() -> Any:
    """A solver that prints nothing and uses one thread. highspy has no types."""
    import highspy

    model = highspy.Highs()  # type: ignore[no-untyped-call]
    model.setOptionValue("output_flag", False)
    model.setOptionValue("threads", 1)
    return model


class _LinearProgramme:
    """min sum of costs, every client visited at least once, each kind's number of tours kept.

    A client may also be omitted at a high price, so that there is always a solution.
    """

    def __init__(self, num_clients: int, numbers: Sequence[int], price_of_omission: float) -> None:
        import highspy

        self._infinity = highspy.kHighsInf
        self._model = quiet_highs()
        self._num_clients = num_clients
        for _ in range(num_clients):
            self._model.addRow(1.0, self._infinity, 0, [], [])
        for number in numbers:
            self._model.addRow(-float(number), self._infinity, 0, [], [])
        for i in range(num_clients):
            self._model.addCol(price_of_omission, 0.0, self._infinity, 1, [i], [1.0])

    def add(self, kind: int, cost: float, route: Sequence[int]) -> None:
        """Add a tour over these nodes, 1..N, some of them perhaps more than once."""
        clients, times = np.unique(np.asarray(route) - 1, return_counts=True)
        rows = np.append(clients, self._num_clients + kind).astype(np.int32)
        entries = np.append(times, -1).astype(np.float64)
        self._model.addCol(cost, 0.0, self._infinity, len(rows), rows, entries)

    def solve(self) -> tuple[float, FloatArray]:
        """The value, and the prizes of the nodes: (nodes,), 0 for the server."""
        self._model.run()
        duals = np.array(self._model.getSolution().row_dual[: self._num_clients])
        return float(self._model.getInfo().objective_function_value), np.append(
            0.0, np.maximum(duals, 0.0)
        )
