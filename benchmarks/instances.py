"""What is compared: networks like the paper's, min-max multiple TSP of TSPLIB, and large ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from data_files import find

from flexpress import Scenario
from flexpress.planning import Problem
from flexpress.scenario import Objective

TSPLIB = {"eil51": 51, "kroA200": 200, "lin318": 318}
"""Number of nodes, for the random network that stands in where a file is missing."""


@dataclass(frozen=True)
class Case:
    """One row of the table."""

    name: str
    objective: Objective
    problem: Problem

    @property
    def label(self) -> str:
        return f"{self.name}, {self.objective}"


def comparison_cases(quick: bool) -> list[Case]:
    """The rows of the table, small ones first; `quick` leaves the large ones out."""
    paper = Scenario.preset("paper")
    tight = paper.replace(fleet={"budgets": ["12 kJ"] * 4})
    mixed = tight.replace(fleet={"speeds": [8.0, 10.0, 12.0, 14.0]})
    cases = [
        *of_scenario("paper, 15 kJ", paper, "minmax", "sws", "total"),
        *of_scenario("paper, 12 kJ", tight, "minmax", "sws", "total"),
        *of_scenario("paper, 12 kJ, 8-14 m/s", mixed, "minmax", "total"),
        tsplib_case("eil51", 3),
    ]
    if quick:
        return cases
    free, limited = thousand(), thousand(budget=18_000.0)
    return [
        *cases,
        tsplib_case("kroA200", 3),
        tsplib_case("lin318", 5),
        *of_scenario("N=1,000, K=20", free, "minmax"),
        *of_scenario("N=1,000, K=20, 18 kJ", limited, "total"),
    ]


def scale_cases(large: bool) -> list[tuple[Case, float]]:
    """Large networks, each with its seconds."""
    cases = [(Case("N=1,000, K=20", "minmax", Problem.of(thousand())), 10.0)]
    if large:
        scenario = uniform(num_clients=10_000, num_transporters=100, side=10_000.0)
        cases.append((Case("N=10,000, K=100", "minmax", Problem.of(scenario)), 120.0))
    return cases


def of_scenario(name: str, scenario: Scenario, *objectives: Objective) -> list[Case]:
    return [Case(name, objective, Problem.of(scenario)) for objective in objectives]


def thousand(budget: float | None = None) -> Scenario:
    return uniform(num_clients=1000, num_transporters=20, side=2000.0, budget=budget)


def uniform(
    num_clients: int, num_transporters: int, side: float, budget: float | None = None
) -> Scenario:
    """Clients uniform in a square, the server at its centre, drones and link as in the paper."""
    fleet: dict[str, object] = {"speeds": [10.0] * num_transporters}
    if budget is not None:
        fleet["budgets"] = [budget] * num_transporters
    network = {"area": [side, side], "blocks": [1, 1], "clients_per_block": num_clients}
    return Scenario.from_dict({"network": network, "fleet": fleet, "link": {"transfer_time": 6.18}})


def tsplib_case(name: str, num_salesmen: int) -> Case:
    """Min-max multiple TSP: the first node is the server, speed 1, no transfer, real distances."""
    path = find("tsplib", f"{name}.tsp")
    if path is not None:
        label, nodes = name, read_tsplib(path)
    else:
        label = f"uniform {TSPLIB[name]} ({name}.tsp not found)"
        nodes = np.random.default_rng(0).uniform(0, 1000, (TSPLIB[name], 2)).tolist()
    data: Mapping[str, object] = {
        "network": {"server": nodes[0], "clients": nodes[1:]},
        "fleet": {"speeds": [1.0] * num_salesmen},
        "link": {"transfer_time": 0.0},
    }
    return Case(f"{label}, m={num_salesmen}", "minmax", Problem.of(Scenario.from_dict(data)))


def read_tsplib(path: Path) -> list[list[float]]:
    """The lines `number x y` of a TSPLIB file with coordinates."""
    lines = path.read_text(encoding="utf-8").splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("NODE_COORD_SECTION")) + 1
    rows = [line.split() for line in lines[first:]]
    return [[float(row[1]), float(row[2])] for row in rows if len(row) == 3]
