"""A plan: who flies where, how long each tour takes, and whether the budgets are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from flexpress.errors import InputError
from flexpress.planning.problem import BUDGET_TOLERANCE, Tours, objective_value
from flexpress.scenario import Objective, Point, RoundTripUnit, Scenario, SolverName, physics

ClientId = int | str

_BOUND_TOLERANCE = 1e-6
"""Relative: a bound may be above the cost by rounding only."""


@dataclass(frozen=True)
class Tour:
    """One round trip of one transporter; all zero if it stays on the ground. SI units."""

    clients: tuple[ClientId, ...]  # in visiting order
    arrivals: tuple[float, ...]  # seconds after take-off at which it reaches each client
    length: float
    round_trip: float
    round_trip_slots: int
    flight_energy: float
    hover_energy: float
    transmission_energy: float
    energy: float
    budget: float | None  # None: unlimited
    corners: tuple[tuple[Point, ...], ...] = ()  # for every leg, the waypoints around no-fly zones

    @property
    def within_budget(self) -> bool:
        return self.budget is None or self.energy <= self.budget * (1 + BUDGET_TOLERANCE)


@dataclass(frozen=True)
class Plan:
    """One tour per transporter, and how the plan was made."""

    objective: Objective
    round_trips: RoundTripUnit = field(default="seconds", kw_only=True)  # what the cost counts
    cost: float
    feasible: bool
    lower_bound: float | None = field(default=None, kw_only=True)  # proven: none costs less
    gap: float | None = field(default=None, kw_only=True)  # (cost - lower_bound) / cost
    bound_method: str | None = field(default=None, kw_only=True)  # None: there is no bound
    solver: SolverName
    seed: int
    seconds: float  # wall-clock time the solver took
    transporters: tuple[Tour, ...]

    @classmethod
    def of(
        cls,
        scenario: Scenario,
        objective: Objective,
        tours: Tours,
        *,
        solver: SolverName,
        seed: int,
        seconds: float,
        round_trips: RoundTripUnit = "seconds",
    ) -> Plan:
        """Every figure of the plan, computed from the scenario and the order of visits."""
        transporters = tuple(_make_tour(scenario, k, nodes) for k, nodes in enumerate(tours))
        in_slots = round_trips == "slots"
        cost = objective_value(
            objective,
            [t.round_trip_slots if in_slots else t.round_trip for t in transporters],
            [len(tour.clients) for tour in transporters],
        )
        feasible = all(tour.within_budget for tour in transporters)
        return cls(
            objective,
            float(cost),
            feasible,
            solver,
            seed,
            seconds,
            transporters,
            round_trips=round_trips,
        )

    def nodes(self, scenario: Scenario) -> Tours:
        """The tours as lists of nodes 1..N, in visiting order."""
        node_of = {client: node for node, client in enumerate(scenario.client_ids, start=1)}
        return [[node_of[client] for client in tour.clients] for tour in self.transporters]

    def with_bound(self, lower_bound: float | None, method: str | None) -> Plan:
        """The plan with a proven lower bound: no plan for its scenario costs less."""
        if lower_bound is None:
            return replace(self, lower_bound=None, gap=None, bound_method=None)
        if not 0 <= lower_bound <= self.cost * (1 + _BOUND_TOLERANCE):
            raise InputError(
                f"lower_bound is {lower_bound}: must lie between 0 and the cost, {self.cost}"
            )
        lower_bound = min(lower_bound, self.cost)
        gap = (self.cost - lower_bound) / self.cost if self.cost else 0.0
        return replace(self, lower_bound=lower_bound, gap=gap, bound_method=method)


def _make_tour(scenario: Scenario, k: int, nodes: Sequence[int]) -> Tour:
    """The tour of transporter k over these nodes (1..N, in visiting order)."""
    budget = scenario.budget(k)
    legs = leg_lengths(scenario, nodes)
    hover = scenario.transfer_time
    flight_time = physics.flight_time(sum(legs), scenario.speeds[k])
    flight = physics.flight_energy(flight_time, scenario.flight_power(k))
    hovering = physics.hover_energy(len(nodes), hover, scenario.hover_power)
    sending = physics.transmission_energy(len(nodes), hover, scenario.transmit_power)
    round_trip = physics.round_trip(len(nodes), hover, flight_time)
    return Tour(
        clients=tuple(scenario.client_ids[node - 1] for node in nodes),
        arrivals=_arrival_times(legs, scenario.speeds[k], hover),
        length=sum(legs),
        round_trip=round_trip,
        round_trip_slots=physics.slots(round_trip, scenario.slot),
        flight_energy=flight,
        hover_energy=hovering,
        transmission_energy=sending,
        energy=physics.total_energy(sending, flight, hovering),
        budget=None if budget == np.inf else budget,
        corners=_leg_corners(scenario, nodes),
    )


def leg_lengths(scenario: Scenario, nodes: Sequence[int]) -> list[float]:
    """Metres of each leg of the tour, the way home last; empty if there are no clients."""
    if not nodes:
        return []
    stops = [0, *nodes, 0]
    if scenario.distances is not None:
        given: list[float] = scenario.distances[stops[:-1], stops[1:]].tolist()
        return given
    places = scenario.positions[stops]
    legs: list[float] = np.hypot(*(places[1:] - places[:-1]).T).tolist()
    return legs


def _leg_corners(scenario: Scenario, nodes: Sequence[int]) -> tuple[tuple[Point, ...], ...]:
    """Waypoints of each leg around no-fly zones; empty if the whole tour flies straight."""
    stops = [0, *nodes, 0] if nodes else []
    corners = tuple(scenario.corners(i, j) for i, j in pairwise(stops))
    return corners if any(corners) else ()


def _arrival_times(legs: Sequence[float], speed: float, hover: float) -> tuple[float, ...]:
    """Seconds after take-off at each client: the legs so far, and a hover at each client before."""
    arrivals, now = [], 0.0
    for leg in legs[:-1]:
        now += leg / speed
        arrivals.append(now)
        now += hover
    return tuple(arrivals)
