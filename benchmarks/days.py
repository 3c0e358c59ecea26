"""What a simulated day costs, from 40 clients to 10,000: seconds, memory, and the exponent in N.

A transporter for every ten clients, in the paper's area. Larger networks are simulated for a part
of the day, and the time is scaled by the local steps that a whole day has.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from measure import in_own_process, peak_megabytes
from printer import Printer
from spread import spread, three_digits, whole

from flexpress import Job, Learner, Plan, Scenario, make_learner, make_plan, simulate
from flexpress.learning import Vector
from flexpress.planning import plan_file
from flexpress.scenario import Algorithm, Clock

DAY = 1440
"""Slots of a minute."""

SIZES = 40, 400, 4_000, 10_000
FITTED = 40, 4_000
"""The exponent is that from the first of these to the last."""

ROUND_TRIPS = 4
"""At least so many are simulated: the first update comes after two."""

RULES: tuple[tuple[Algorithm, Clock], ...] = (("sync", "slots"), ("async", "exact"))

LABEL, FIGURE = 24, 28


@dataclass(frozen=True)
class Day:
    """Seconds scaled to a whole day, the slots that were simulated, and peak memory."""

    wall: float
    cpu: float
    slots: int
    megabytes: float


class Counting:
    """A learner that counts the local steps done."""

    def __init__(self, learner: Learner) -> None:
        self._learner = learner
        self.num_steps = 0

    def initial_model(self) -> Vector:
        return self._learner.initial_model()

    def train(self, jobs: Sequence[Job]) -> Vector:
        self.num_steps += sum(job.num_steps for job in jobs)
        return self._learner.train(jobs)

    def evaluate(self, model: Vector) -> tuple[float, float]:
        return self._learner.evaluate(model)


def days(printer: Printer, *, repeats: int, quick: bool, whole_days: bool) -> None:
    """`quick` does the small ones only."""
    sizes = SIZES[:2] if quick else SIZES
    with TemporaryDirectory() as folder:
        for size in sizes:
            printer.tell(f"planning for N = {size:,}")
            in_own_process(save_plan, size, plan_path(folder, size))
        for rule in RULES:
            found: dict[int, list[Day]] = {size: [] for size in sizes}
            for _ in range(repeats):
                for size in sizes:
                    printer.tell(f"{', '.join(rule)}: N = {size:,}")
                    path = plan_path(folder, size)
                    found[size].append(in_own_process(simulate_day, path, size, rule, whole_days))
            show(printer, rule, found)


def show(printer: Printer, rule: tuple[Algorithm, Clock], found: dict[int, list[Day]]) -> None:
    algorithm, clock = rule
    head = [f"{algorithm}, {clock} clock", "CPU s per day", "wall s per day", "slots", "peak MB"]
    rows = [
        [
            f"N = {size:,}, K = {size // 10:,}",
            spread([day.cpu for day in of_size], three_digits),
            spread([day.wall for day in of_size], three_digits),
            whole(of_size[0].slots),
            spread([day.megabytes for day in of_size], whole),
        ]
        for size, of_size in found.items()
    ]
    printer.table(head, rows, [LABEL, *(FIGURE for _ in head[1:])])
    fitted = {
        size: float(np.median([day.cpu for day in of_size]))
        for size, of_size in found.items()
        if FITTED[0] <= size <= FITTED[1]
    }
    printer.say(
        f"Cost grows as N to the {exponent(fitted):.3f} from {min(fitted):,} to {max(fitted):,} "
        "clients (least squares, medians of CPU seconds).",
        "",
    )


def exponent(seconds: dict[int, float]) -> float:
    """Of the power of N that fits best in logarithms."""
    slope, _ = np.polyfit(np.log(list(seconds)), np.log(list(seconds.values())), 1)
    return float(slope)


def scenario_of(num_clients: int) -> Scenario:
    """The paper's area and drones, no head start, evaluated only at both ends of the day."""
    network = {"blocks": [1, 1], "clients_per_block": num_clients}
    fleet = {"speeds": [10.0] * (num_clients // 10), "budgets": None}
    run = {"horizon": DAY, "eval_every": DAY, "head_start": 0.0}
    return Scenario.preset("paper").replace(network=network, fleet=fleet, run=run)


def plan_path(folder: str, num_clients: int) -> Path:
    return Path(folder) / f"{num_clients}.json"


def save_plan(num_clients: int, path: Path) -> None:
    """A fair plan: how good it is hardly matters for what is measured."""
    plan = make_plan(scenario_of(num_clients), objective="minmax", iterations=100_000)
    plan_file.save_plan(plan, path)


def simulate_day(
    path: Path, num_clients: int, rule: tuple[Algorithm, Clock], whole_day: bool
) -> Day:
    algorithm, clock = rule
    scenario = scenario_of(num_clients)
    plan = plan_file.load_plan(path, scenario)
    slots = DAY if whole_day else part_of_day(plan, num_clients)
    run = {"algorithm": algorithm, "clock": clock, "horizon": slots}
    scenario = scenario.replace(run=run)
    learner = Counting(make_learner(scenario, engine="fast", threads=1))
    wall, cpu = time.perf_counter(), time.process_time()
    simulate(scenario, plan, learner)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    scale = num_clients * DAY / learner.num_steps
    return Day(wall * scale, cpu * scale, slots, peak_megabytes())


def part_of_day(plan: Plan, num_clients: int) -> int:
    """As many client-steps as 40 clients do in a day, or some round trips if they are more."""
    longest = max(tour.round_trip_slots for tour in plan.transporters)
    return min(DAY, max(DAY * SIZES[0] // num_clients, ROUND_TRIPS * longest))
