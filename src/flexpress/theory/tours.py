"""All that the bounds know of a plan: how many clients each tour has, and how long it takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from flexpress.arguments import check_kind, check_number, check_whole, refusal
from flexpress.errors import InputError
from flexpress.planning import Plan
from flexpress.scenario import Algorithm, Scenario, check_scenario


@dataclass(frozen=True)
class Tours:
    """Of the transporters that fly."""

    clients: tuple[int, ...]  # R_k
    slots: tuple[float, ...]  # Delta_k

    def __post_init__(self) -> None:
        for name, values in {"clients": self.clients, "slots": self.slots}.items():
            if not isinstance(values, Sequence) or isinstance(values, str):
                raise refusal(name, values, "a tuple with a number for each tour")
        if not self.clients or len(self.clients) != len(self.slots):
            counts = f"{len(self.clients)} numbers of clients, {len(self.slots)} of slots"
            raise InputError(f"{counts}: must be one of each for every tour, and at least one tour")
        for clients, slots in zip(self.clients, self.slots, strict=True):
            check_whole("clients of a tour", clients, 1)
            check_number("slots of a tour", slots, above=0)

    @classmethod
    def of(cls, scenario: Scenario, plan: Plan) -> Tours:
        """Whole slots by the slot clock, as in the paper; by the exact clock as long as they are.

        The proofs are about whole slots. Real lengths keep what rounding hides: the delay terms
        are then proportional to the objectives, minmax squared and sws.
        """
        check_scenario(scenario)
        check_kind("plan", plan, Plan, "make one with make_plan(scenario)")
        flown = [tour for tour in plan.transporters if tour.clients]
        if scenario.run.clock == "slots":
            slots = tuple(float(tour.round_trip_slots) for tour in flown)
        else:
            slots = tuple(tour.round_trip / scenario.slot for tour in flown)
        return cls(tuple(len(tour.clients) for tour in flown), slots)

    @property
    def num_clients(self) -> int:
        return sum(self.clients)

    @property
    def longest(self) -> float:
        """Delta of FedEx-Sync."""
        return max(self.slots)

    @property
    def mean_square(self) -> float:
        """(1/N) sum_k R_k Delta_k^2, which is the routes' part in FedEx-Async."""
        squares = [r * d**2 for r, d in zip(self.clients, self.slots, strict=True)]
        return sum(squares) / self.num_clients

    def routes(self, algorithm: Algorithm) -> float:
        """The square of slots in the theorem's delay: of two plans, the one with less is better."""
        return self.longest**2 if algorithm == "sync" else self.mean_square

    def in_step(self) -> Tours:
        """All as long as the longest: FedEx-Sync as a case of FedEx-Async."""
        return replace(self, slots=(self.longest,) * len(self.slots))
