"""Growth of a linear mode: does training swing, for any tours and any head start?

Let f_i = (c/2) x^2 for every client. n local steps leave (1 - eta c)^n of where a client starts, so
its update is the share a = 1 - (1 - eta c)^n of the start. The events are those of the simulator.
Whenever a transporter lands and leaves again:

    x  <-  x - (its share of the clients) * carried     the server merges what it brings
    carried  <-  u                                      on this tour it collects the last updates
    u  <-  a (x - gamma u)                              and hands out x, with a head start of gamma

Transporters that land together all bring their updates before one leaves. When a client is visited
matters only for its number of steps: it is handed the model that the transporter left with.

All this is linear in (x, carried, u). If the round trips have a common multiple, the events repeat
after it, and the growth is the spectral radius of the matrix of this cycle. If not, or if the cycle
is very long, the norm of the product over many tours bounds the growth over these, from any start.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from flexpress.arguments import check_choice, check_number
from flexpress.arrays import FloatArray, IntArray
from flexpress.planning import Plan
from flexpress.planning.plan_file import check_plan
from flexpress.scenario import Algorithm, Scenario
from flexpress.simulation.timetable import Timetable
from flexpress.theory.bounds import RoundTrips, check_head_start

MOST_LANDINGS = 2000
"""A cycle with more landings is cut off after so many: then the growth is a bound."""

_SEARCHED = 32
"""Rates that are tried at once in the search for the largest stable one."""

_NARROWINGS = 4
_RESCALED_AFTER = 32

_BOTH: tuple[Algorithm, ...] = ("sync", "async")


@dataclass(frozen=True)
class Growth:
    """By what a linear mode is multiplied in the long run: it fades below 1, and swings above."""

    per_slot: float
    slots: float  # over which it was found
    exact: bool  # whether the events repeat after these slots; else it is a bound for these only


def growth(
    scenario: Scenario,
    plan: Plan,
    step: float,
    *,
    algorithm: Algorithm | None = None,
    head_start: float | None = None,
) -> Growth:
    """The growth of a mode for which eta c is `step`, by default as the scenario is flown."""
    check_plan(scenario, plan)
    step = check_number("step", step, above=0)
    algorithm = scenario.run.algorithm if algorithm is None else algorithm
    check_choice("algorithm", algorithm, _BOTH)
    gamma = scenario.run.head_start if head_start is None else check_head_start(head_start)
    landings = _Landings.of(Timetable.of(scenario, plan, algorithm))
    per_slot = float(landings.growths(np.array([1 - step]), gamma)[0])
    return Growth(per_slot, landings.slots, landings.repeat)


def growth_per_tour(
    algorithm: Algorithm, tours: RoundTrips, step: float, head_start: float
) -> float:
    """Of a mode for which eta c is `step`, at most 1, over a tour of mean length Delta.

    By the exact clock a tour has Delta_k steps on average only.
    """
    landings = _Landings.of_tours(tours.in_step() if algorithm == "sync" else tours)
    length = math.sqrt(tours.routes(algorithm))
    return float(landings.growths(np.array([1 - step]), head_start)[0] ** length)


def stable_step(algorithm: Algorithm, tours: RoundTrips, head_start: float) -> float:
    """The largest eta c, at most 1, up to which no mode grows: tours of Delta_k steps each.

    By the exact clock a tour has Delta_k steps on average only.
    """
    landings = _Landings.of_tours(tours.in_step() if algorithm == "sync" else tours)
    length, gamma = math.sqrt(tours.mean_square), check_head_start(head_start)
    low, high = 0.0, 1.0  # shares a of a tour, 1 - (1 - eta c)^length
    for _ in range(_NARROWINGS):
        shares = np.linspace(low, high, _SEARCHED + 1)[1:]
        unstable = landings.growths((1 - shares) ** (1 / length), gamma) >= 1
        if not unstable.any():
            low = high
            break
        first = int(np.argmax(unstable))
        low, high = (float(shares[first - 1]) if first else low), float(shares[first])
    return float(1 - (1 - low) ** (1 / length))


@dataclass(frozen=True, eq=False)
class _Landing:
    """At one moment these groups of clients have their updates merged and are sent x."""

    groups: IntArray
    steps: FloatArray  # of their clients, from the visit that follows to the next


@dataclass(frozen=True, eq=False)
class _Landings:
    """All landings of a cycle, or the first of them. Clients of a group always train alike."""

    weights: FloatArray  # (groups,): shares of all clients
    landings: Sequence[_Landing]
    slots: float
    repeat: bool  # whether the next landings are the same again

    @classmethod
    def of_tours(cls, tours: RoundTrips) -> _Landings:
        """Tours of equal length are one group: their transporters land together."""
        periods = sorted(set(tours.slots))
        pairs = list(zip(tours.clients, tours.slots, strict=True))
        clients = [sum(r for r, d in pairs if d == period) for period in periods]
        cycle, times = _schedule([Fraction(period) for period in periods])
        landings = [
            _Landing(np.array(groups), np.array([periods[g] for g in groups]))
            for _, groups in times
        ]
        end = float(times[-1][0])
        return cls(np.array(clients) / tours.num_clients, landings, end, cycle)

    @classmethod
    def of(cls, timetable: Timetable) -> _Landings:
        """As the simulator has them. Clients of a convoy that are met at another time in their slot
        are another group, as they may do other numbers of steps."""
        slot = timetable.ticks_per_slot
        members: dict[tuple[int, int], int] = {}
        for j, convoy in enumerate(timetable.convoys):
            for offset in (each for route in convoy.routes for each in route.offsets):
                key = j, offset % slot if convoy.period % slot else 0
                members[key] = members.get(key, 0) + 1
        keys = sorted(members)
        convoys = [timetable.convoys[j] for j, _ in keys]
        periods = [Fraction(convoy.period, slot) for convoy in convoys]
        whole = all(period.denominator == 1 for period in periods)
        cycle, times = _schedule(periods, Fraction(0 if whole else 1))
        landings = [
            _Landing(
                np.array(groups),
                np.array(
                    [
                        timetable.steps(convoys[g], keys[g][1], int(time / periods[g]))[1]
                        for g in groups
                    ],
                    dtype=float,
                ),
            )
            for time, groups in times
        ]
        weights = np.array([members[key] for key in keys]) / timetable.num_clients
        return cls(weights, landings, float(times[-1][0]), cycle)

    def growths(self, left: FloatArray, gamma: float) -> FloatArray:
        """Growth per slot for each of these shares that a step leaves: (rates,)."""
        product, scales = self._product(left, gamma)
        if self.repeat:
            sizes = np.abs(np.linalg.eigvals(product)).max(axis=1)
        else:
            sizes = np.linalg.norm(product, ord=2, axis=(1, 2))
        with np.errstate(divide="ignore"):  # what has gone to 0 has no logarithm
            rates: FloatArray = np.exp((np.log(sizes) + scales) / self.slots)
        return rates

    def _product(self, left: FloatArray, gamma: float) -> tuple[FloatArray, FloatArray]:
        """The matrix of all landings for each rate, and the logarithm that it was divided by."""
        num, size = len(self.weights), 1 + 2 * len(self.weights)
        state = np.tile(np.eye(size), (len(left), 1, 1))  # rows: x, carried, u
        scales = np.zeros(len(left))
        for number, landing in enumerate(self.landings):
            carried, updates = 1 + landing.groups, 1 + num + landing.groups
            state[:, 0] -= np.einsum("g,rgs->rs", self.weights[landing.groups], state[:, carried])
            state[:, carried] = state[:, updates]
            shares = 1 - left[:, None] ** landing.steps  # a: (rates, groups)
            starts = state[:, :1] - gamma * state[:, updates]
            state[:, updates] = shares[:, :, None] * starts
            if number % _RESCALED_AFTER == 0:
                largest = np.abs(state).max(axis=(1, 2))
                state /= largest[:, None, None]
                scales += np.log(largest)
        return state, scales


def _schedule(
    periods: Sequence[Fraction], also: Fraction = Fraction(0)
) -> tuple[bool, list[tuple[Fraction, list[int]]]]:
    """Whether it is a whole cycle, and who lands at each moment of it; not all of a long one.

    A cycle is a multiple of all periods, and of `also` if that is not 0.
    """
    cycle = _common_multiple([*periods, also] if also else periods)
    whole = sum(cycle / period for period in periods) <= MOST_LANDINGS
    end = cycle if whole else MOST_LANDINGS / sum(1 / period for period in periods)
    landing: dict[Fraction, list[int]] = {}
    for group, period in enumerate(periods):
        for tour in range(1, math.floor(end / period) + 1):
            landing.setdefault(tour * period, []).append(group)
    return whole, sorted(landing.items())


def _common_multiple(lengths: Sequence[Fraction]) -> Fraction:
    numerator = math.lcm(*(each.numerator for each in lengths))
    return Fraction(numerator, math.gcd(*(each.denominator for each in lengths)))
