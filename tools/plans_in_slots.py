"""Plans that count seconds against plans that count whole slots: the table of docs/slots.md.

    python tools/plans_in_slots.py [--networks N] [--out FILE]          make what is missing
    python tools/plans_in_slots.py [--networks N] [--out FILE] --show   print the tables

For networks 0 to N - 1 of preset `paper` (the seed is the network), the three objectives, and both
ways to count: the plan of `search` with four times its default number of iterations, because with
the default it misses the optimum of some networks, and its certificate.
Each plan is a line of FILE, docs/slots.csv by default. First all plans are made, then all are
proven, which takes longer. What FILE has is not made again.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import cast, get_args

from flexpress import Plan, Scenario, certify_plan, make_plan
from flexpress.planning.problem import objective_value
from flexpress.scenario import Objective, RoundTripUnit

RESULTS = Path(__file__).parents[1] / "docs" / "slots.csv"
OBJECTIVES: tuple[Objective, ...] = get_args(Objective)
UNITS: tuple[RoundTripUnit, ...] = ("slots", "seconds")
ITERATIONS = 480_000
OPTIMAL = 1e-6
MARKS = {"yes": "", "no": " *", "": " ?"}

Key = tuple[int, Objective, RoundTripUnit]
Row = Mapping[str, str]
KEYS = ("network", "objective", "round_trips")
FIGURES = (
    "in_slots",  # the objective
    "in_seconds",
    "slots",  # of each tour, the longest first
    "clients",
    "seconds",
    "energies_kj",
    "lower_bound",  # in the unit that the plan counts
    "proven_optimal",
    "method",
)


def keys(networks: int) -> Iterator[Key]:
    """Slots first, whose proofs are quicker."""
    for unit, network, objective in product(UNITS, range(networks), OBJECTIVES):
        yield network, objective, unit


def known(path: Path) -> dict[Key, Row]:
    if not path.exists():
        return {}
    with path.open(encoding="utf-8") as file:
        return {_key(row): row for row in csv.DictReader(file)}


def _key(row: Row) -> Key:
    unit = cast("RoundTripUnit", row["round_trips"])
    return int(row["network"]), cast("Objective", row["objective"]), unit


def row_of(key: Key, *, proven: bool) -> Row:
    """The line of this plan, with its certificate if `proven`."""
    network, objective, unit = key
    scenario = Scenario.preset("paper", seed=network)
    plan = make_plan(scenario, objective=objective, round_trips=unit, iterations=ITERATIONS, seed=0)
    if proven:
        plan = certify_plan(scenario, plan)
    values = [*map(str, key), *figures(plan)]
    return dict(zip([*KEYS, *FIGURES], values, strict=True))


def figures(plan: Plan) -> list[str]:
    tours = sorted(plan.transporters, key=lambda tour: tour.round_trip, reverse=True)
    return [
        f"{_value(plan, 'slots'):.0f}",
        f"{_value(plan, 'seconds'):.2f}",
        " ".join(str(tour.round_trip_slots) for tour in tours),
        " ".join(str(len(tour.clients)) for tour in tours),
        " ".join(f"{tour.round_trip:.1f}" for tour in tours),
        " ".join(f"{tour.energy / 1e3:.3f}" for tour in tours),
        "" if plan.lower_bound is None else f"{plan.lower_bound:.2f}",
        "" if plan.gap is None else "yes" if plan.gap <= OPTIMAL else "no",
        plan.bound_method or "",
    ]


def _value(plan: Plan, unit: RoundTripUnit) -> float:
    """The plan's objective in this unit."""
    tours = plan.transporters
    times = [t.round_trip_slots if unit == "slots" else t.round_trip for t in tours]
    return objective_value(plan.objective, times, [len(tour.clients) for tour in tours])


def make(networks: int, path: Path) -> None:
    found = known(path)
    for proven in (False, True):
        for key in keys(networks):
            if key not in found or (proven and not found[key]["method"]):
                found[key] = row_of(key, proven=proven)
                write(found, path)


def write(found: Mapping[Key, Row], path: Path) -> None:
    """All lines, sorted. The file is replaced at once, so that it is always whole."""
    new = path.with_suffix(".new")
    with new.open("w", encoding="utf-8") as file:
        table = csv.DictWriter(file, [*KEYS, *FIGURES], lineterminator="\n")
        table.writeheader()
        table.writerows(found[key] for key in sorted(found))
    new.replace(path)


def show(networks: int, path: Path) -> None:
    """One table per objective, as docs/slots.md has them; `minmax` has the same plans in both."""
    found = known(path)
    for objective in OBJECTIVES:
        units = UNITS[:1] if objective == "minmax" else UNITS
        heads = [f"in {unit}: tours | value | energies, kJ" for unit in units]
        say(f"\n### `{objective}`\n\n| network | {' | '.join(heads)} |")
        say("|---" * (1 + 3 * len(units)) + "|")
        for network in range(networks):
            cells = [_cells(found[network, objective, unit]) for unit in units]
            say(f"| {network} | {' | '.join(cells)} |")


def _cells(row: Row) -> str:
    """Tours in slots, the objective in slots, the energies; a mark if it is not proven optimal."""
    tours = row["slots"].replace(" ", ", ")
    energies = ", ".join(f"{float(energy):.1f}" for energy in row["energies_kj"].split())
    return f"{tours} | {int(row['in_slots']):,}{MARKS[row['proven_optimal']]} | {energies}"


def say(text: str) -> None:
    print(text)  # noqa: T201  # a program


def main() -> None:
    parser = argparse.ArgumentParser(description="Plans in seconds and in slots.")
    parser.add_argument("--networks", type=int, default=20)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    (show if given.show else make)(given.networks, given.out)


if __name__ == "__main__":
    main()
