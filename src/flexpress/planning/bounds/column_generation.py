"""Column generation: prizes for the clients that make the proven bound as high as it gets.

For any prizes the Lagrangian bound

    sum of prizes + sum over kinds of number * min(0, least cost - prizes of any tour of the kind)

is below the cost of every plan: each transporter flies at most one tour, each client is on one. The
linear programme over the tours known so far proposes prizes, pricing finds the tours that are
missing, and so on. Prizes are smoothed towards those of the best bound (Wentges, 1997).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from flexpress.arrays import FloatArray
from flexpress.planning.bounds.master import Master
from flexpress.planning.bounds.pricing import FREE, Flyer, Ground, Labels, price, tour_cost
from flexpress.planning.bounds.work import Work

SMOOTHING = 0.8
ROUTES = 30
"""Routes that pricing hands out at once."""

WIDTHS = (10, 60, 0)
"""Labels per layer and client: first few, for routes; at last all of them, for the proof."""

STEPS = (64, 128, 256)
"""Fineness of the table of completions at each width."""

LEFT_OUT = 2.0
"""Price of leaving a client out, in units of the plan's cost; 1 where only feasibility counts."""

PROOF_FROM = 0.5
"""Share of the work after which something is to be proven."""

CONVERGED = 1e-7
NUM_LABELS = 1_500_000

Column = tuple[int, tuple[int, ...]]
"""The kind of transporter, and the nodes 1..N in visiting order."""


@dataclass(frozen=True)
class Fleet:
    """The kinds of transporters as pricing sees them, and how many there are of each."""

    flyers: Sequence[Flyer]
    numbers: Sequence[int]
    unit: float  # costs are handed to the linear programme in units of this

    @property
    def free(self) -> bool:
        return all(flyer.cost == FREE for flyer in self.flyers)


@dataclass(frozen=True)
class Proof:
    """Prizes and the bound that they prove, both in the fleet's unit."""

    bound: float
    prizes: FloatArray  # (nodes,)
    lows: tuple[float, ...]  # least cost - prizes per kind, at most 0


@dataclass
class ColumnGeneration:
    """The linear programme and the tours in it."""

    ground: Ground
    fleet: Fleet
    labels: Labels
    tours: dict[Column, None] = field(default_factory=dict)
    best: Proof | None = None
    value: float = np.inf  # of the linear programme

    def __post_init__(self) -> None:
        nodes = len(self.ground.distances)
        leaving_out = 1.0 if self.fleet.free else LEFT_OUT
        self._master = Master(nodes - 1, self.fleet.numbers, leaving_out)
        self._centre: FloatArray | None = None
        self._level = 0
        self._estimate = -np.inf

    def add(self, tours: Iterable[Column]) -> int:
        """Put these tours, with their kinds, into the programme; how many were new and allowed."""
        new = 0
        for kind, tour in tours:
            known = not tour or (kind, tour) in self.tours
            cost = None if known else self._cost(kind, tour)
            if cost is not None:
                self.tours[kind, tour] = None
                self._master.add(kind, cost, tour)
                new += 1
        return new

    def run(self, enough: float, hopeless: float, work: Work) -> Proof | None:
        """Raise the bound until it is `enough`, or cannot: the best proof so far.

        It cannot once the programme's value, which no bound exceeds, is down to `hopeless`.
        """
        while not work.over():
            if self.best is None and work.fraction > PROOF_FROM:
                self._level = len(WIDTHS) - 1  # rather some proof than a better one too late
            self.value, prizes = self._master.solve()
            if self.value <= hopeless or not self._step(prizes, work):
                break
            reached = -np.inf if self.best is None else self.best.bound
            if reached >= min(enough, self.value - CONVERGED * abs(self.value)):
                break
        return self.best

    def evaluate(self, prizes: FloatArray, work: Work) -> Proof | None:
        """What these prizes prove."""
        self._level = len(WIDTHS) - 1
        self._price(prizes, work)
        return self.best

    def _step(self, prizes: FloatArray, work: Work) -> bool:
        """Price near the best prizes, then at the programme's; False when nothing is left to do."""
        trials = [prizes]
        if self._centre is not None:
            trials.insert(0, SMOOTHING * self._centre + (1 - SMOOTHING) * prizes)
        for trial in trials:
            if self._level < len(WIDTHS) and self._price(trial, work):
                return True
        self._level += 1
        self._estimate = -np.inf
        return self._level < len(WIDTHS)

    def _price(self, prizes: FloatArray, work: Work) -> int:
        """Tours that the prizes make cheap: how many new ones. Takes note of the bound."""
        width, steps = WIDTHS[self._level], STEPS[self._level]
        new, all_proven = 0, True
        lows: list[float] = []
        for kind, flyer in enumerate(self.fleet.flyers):
            low, proven, routes, used = price(
                self.ground,
                flyer,
                prizes * self.fleet.unit,
                self.labels,
                width,
                steps,
                0.0,
                ROUTES,
            )
            work.add(used)
            if work.over() and width > 0:
                return 0
            lows.append(min(low / self.fleet.unit, 0.0))
            all_proven &= proven
            new += self.add((kind, tuple(route[route > 0].tolist())) for route in routes)
        bound = float(prizes.sum() + np.dot(self.fleet.numbers, lows))
        if bound > self._estimate:
            self._estimate, self._centre = bound, prizes
        if all_proven and (self.best is None or bound > self.best.bound):
            self.best = Proof(bound, prizes, tuple(lows))
        if width == 0 and not all_proven:  # there is no room for all labels: it will not get better
            self._level = len(WIDTHS)
            return 0
        return new

    def _cost(self, kind: int, tour: tuple[int, ...]) -> float | None:
        """In the fleet's unit; None if this kind may not fly the tour."""
        flyer = self.fleet.flyers[kind]
        stops = [0, *tour, 0]
        length = float(self.ground.distances[stops[:-1], stops[1:]].sum())
        if len(tour) >= len(flyer.longest) or length > flyer.longest[len(tour)]:
            return None
        return float(tour_cost(flyer, len(tour), length)) / self.fleet.unit


def room_for(num_labels: int = NUM_LABELS) -> Labels:
    return Labels(
        client=np.zeros(num_labels, np.int16),
        parent=np.zeros(num_labels, np.int32),
        length=np.zeros(num_labels),
        prize=np.zeros(num_labels),
        memory=np.zeros(num_labels, np.int16),
    )
