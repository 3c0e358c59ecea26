"""Random fleets with their plans, each from its seed: real scenarios, tours of any kind."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from flexpress.arrays import FloatArray
from flexpress.planning import Plan
from flexpress.planning.problem import Tours
from flexpress.scenario import Clock, Scenario

LAYOUTS = ["anywhere", "on a ruler", "equal tours"]
NAMES = ["numbers", "sparse numbers", "text", "both"]

MOST_CLIENTS = 12
MOST_TRANSPORTERS = 6


@dataclass(frozen=True)
class Fleet:
    """A scenario, a plan for it, and how long to watch."""

    scenario: Scenario
    plan: Plan
    horizon: int

    def with_clock(self, clock: Clock) -> Fleet:
        scenario = self.scenario.replace(run={"clock": clock})
        return Fleet(scenario, self.plan, self.horizon)

    @property
    def slots(self) -> list[int]:
        """Delta_k of those that fly, in slots."""
        return [tour.round_trip_slots for tour in self.plan.transporters if tour.clients]


def random_fleet(seed: int) -> Fleet:
    """1 to 12 clients, 1 to 6 transporters; the slot makes the longest tour 1 to 9 slots long."""
    rng = np.random.default_rng([seed, 4])
    num_clients = int(rng.integers(1, MOST_CLIENTS + 1))
    num_transporters = int(rng.integers(1, MOST_TRANSPORTERS + 1))
    layout = LAYOUTS[seed % len(LAYOUTS)]
    scenario = draw_scenario(rng, layout, num_clients, num_transporters)
    tours = draw_tours(rng, num_clients, num_transporters)
    longest = max(tour.round_trip for tour in plan_of(scenario, tours).transporters)
    slot = longest / rng.uniform(0.3, 9.0)
    if layout != "anywhere":  # powers of two: no moment is ever rounded
        slot = 2.0 ** round(math.log2(slot))
    scenario = scenario.replace(slot=slot)
    fleet = Fleet(scenario, plan_of(scenario, tours), 0)
    rounds = rng.choice([0.5, 1.5, 2.0, 3.0, 6.0], p=[0.04, 0.06, 0.1, 0.2, 0.6])
    horizon = max(1, round(rounds * max(fleet.slots)) + int(rng.integers(0, 3)))
    return Fleet(scenario, fleet.plan, horizon)


def with_head_start(fleet: Fleet, seed: int) -> Fleet:
    """Any gamma, of which 0 and 1 are many; half of the fleets have clients that are preloaded."""
    rng = np.random.default_rng([seed, 18])
    gamma = rng.choice([0.0, 1.0, rng.random()], p=[0.15, 0.15, 0.7])
    run = {"head_start": float(gamma), "preloaded": bool(rng.random() < 0.5)}
    return Fleet(fleet.scenario.replace(run=run), fleet.plan, fleet.horizon)


def plan_of(scenario: Scenario, tours: Tours) -> Plan:
    return Plan.of(scenario, "sws", tours, solver="exact", seed=0, seconds=0.0)


def draw_tours(rng: np.random.Generator, num_clients: int, num_transporters: int) -> Tours:
    """Anyone visits anyone in any order; some may stay on the ground."""
    tours: Tours = [[] for _ in range(num_transporters)]
    awake = rng.permutation(num_transporters)[: rng.integers(1, num_transporters + 1)]
    for node in rng.permutation(num_clients) + 1:
        tours[rng.choice(awake)].append(int(node))
    return tours


def draw_scenario(
    rng: np.random.Generator, layout: str, num_clients: int, num_transporters: int
) -> Scenario:
    positions, speeds, transfer_time = draw_places(rng, layout, num_clients, num_transporters)
    network = {"server": positions[0].tolist(), "clients": positions[1:].tolist()}
    return Scenario.from_dict(
        {
            "network": {**network, "ids": draw_ids(rng, num_clients)},
            "fleet": {"speeds": speeds.tolist()},
            "link": {"transfer_time": transfer_time},
            "run": {"head_start": 0.0},
        }
    )


def draw_places(
    rng: np.random.Generator, layout: str, num_clients: int, num_transporters: int
) -> tuple[FloatArray, FloatArray, float]:
    """Positions, speeds, and the transfer time; but for "anywhere" all sums of times are exact."""
    if layout == "anywhere":
        positions = 1000.0 * rng.random((num_clients + 1, 2))
        return positions, rng.uniform(5.0, 15.0, num_transporters), float(rng.uniform(0, 20))
    if layout == "on a ruler":
        places = 64.0 * (1 + rng.permutation(3 * num_clients)[:num_clients])
        speeds = rng.choice([4.0, 8.0, 16.0], num_transporters)
    else:  # everybody equally far from the server, to the east or to the west
        places = np.full(num_clients, 256.0)
        speeds = np.full(num_transporters, 8.0)
    positions = np.zeros((num_clients + 1, 2))
    positions[1:, 0] = places * rng.choice([-1, 1], num_clients)
    return positions, speeds, float(rng.choice([0.0, 0.5, 8.0]))


def draw_ids(rng: np.random.Generator, num_clients: int) -> list[int | str]:
    numbers: list[int | str] = [int(n) for n in rng.permutation(5 * num_clients)[:num_clients]]
    names: list[int | str] = [f"station {number}" for number in numbers]
    kind = rng.choice(NAMES)
    if kind == "numbers":
        return list(range(1, num_clients + 1))
    if kind == "sparse numbers":
        return numbers
    if kind == "text":
        return names
    return [names[i] if rng.random() < 0.5 else numbers[i] for i in range(num_clients)]
