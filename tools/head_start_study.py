"""What a head start brings: the runs behind docs/head_start.md.

    python tools/head_start_study.py PART [--out FILE] [--workers N]   fly what is missing
    python tools/head_start_study.py PART [--out FILE] --show          print its tables

Parts: `gamma` (the search for a good gamma), `main` (all rows at one rate), `rates` (the search for
the best learning rate of each row), `remote` and `long` (other networks), `scarce` (SVHN with 60
samples per client instead of 800), `preloaded` (clients with the first model on board).
Each run is a line of JSON in FILE, written when the run ends; runs that FILE has are not repeated.
The data sets are found as `flexpress` finds them: name their folder in $FLEXPRESS_DATA.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from functools import cache
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any, cast

import numpy as np
from check_advice import remote

from flexpress import Plan, Scenario, make_learner, make_plan, simulate
from flexpress.arrays import FloatArray
from flexpress.errors import DivergedError
from flexpress.experiments.statistics import interval
from flexpress.simulation import Trace

ROWS = ("sync", "async", "sync, head start", "async, head start", "direct")
DATA, PARTITIONS = ("fmnist", "svhn"), ("iid", "dirichlet", "location")
RATE = 0.1
GAMMA = 0.5
TARGETS = (0.75, 0.80)
NETWORK = {"fmnist": "paper", "svhn": "paper-svhn"}
"""The network of the paper, with as many samples as its clients have of these data."""
SEARCH_SEEDS, SEEDS = (101, 102), (11, 12, 13, 14)


Known = Mapping["Run", dict[str, Any]]
"""The results of runs."""


@dataclass(frozen=True)
class Run:
    """One simulation. Async flies the SWS plan, the others the Min-Max plan."""

    data: str
    partition: str
    row: str
    seed: int
    slots: int
    gamma: float = GAMMA
    rate: float = RATE
    clock: str = "exact"
    network: str = "paper"
    preloaded: bool = False

    @property
    def algorithm(self) -> Any:
        return self.row.split(",")[0]

    def scenario(self) -> Scenario:
        head_start = self.gamma if "head start" in self.row else 0.0
        objective = "sws" if self.algorithm == "async" else "minmax"
        learning = {
            "dataset": self.data,
            "partition": self.partition,
            "learning_rate": self.rate,
            "seed": self.seed,
        }
        run = {
            "algorithm": self.algorithm,
            "horizon": self.slots,
            "clock": self.clock,
            "eval_every": 20,
            "head_start": head_start,
            "preloaded": self.preloaded,
        }
        scenario = NETWORKS[self.network]()
        return scenario.replace(plan={"objective": objective}, learning=learning, run=run)


def paper(**fleet: object) -> Callable[[], Scenario]:
    return lambda: Scenario.preset("paper").replace(fleet=fleet)


NETWORKS: dict[str, Callable[[], Scenario]] = {
    "paper": paper(),
    "paper-svhn": lambda: Scenario.preset("paper-svhn"),
    "unequal drones": paper(speeds=[15.0, 10.0, 8.0, 5.0], budgets=None),
    "two slow drones": paper(speeds=[5.0, 5.0], budgets=None),
    "remote 3 km": lambda: remote(3),
    "remote 8 km": lambda: remote(8),
}


def gamma_search() -> list[Run]:
    """Five gammas in all corners: data, rate, clock, network; seeds that nothing else uses."""
    gammas, rows = (0.0, 0.25, 0.5, 0.75, 1.0), ("sync, head start", "async, head start")
    slots = {"fmnist": 400, "svhn": 600}
    plain = [
        Run(data, partition, row, SEARCH_SEEDS[0], slots[data], network=NETWORK[data])
        for data, partition, row in product(DATA, PARTITIONS, rows)
    ]
    fmnist = [run for run in plain if run.data == "fmnist"]
    some = [run for run in fmnist if run.partition != "dirichlet"]
    corners = [
        *plain,
        *(replace(run, rate=0.05) for run in fmnist),
        *(replace(run, clock="slots") for run in some),
        *(replace(run, network="unequal drones") for run in some),
        *(replace(run, network="two slow drones") for run in some),
        *(replace(run, network="remote 3 km") for run in some if run.partition == "iid"),
        *(replace(run, seed=SEARCH_SEEDS[1]) for run in fmnist),
    ]
    return [replace(run, gamma=gamma) for run in corners for gamma in gammas]


def all_rows(slots: int, seeds: Iterable[int], **changes: Any) -> list[Run]:
    return [
        Run(data, partition, row, seed, slots, network=NETWORK[data], **changes)
        for seed, data, partition, row in product(seeds, DATA, PARTITIONS, ROWS)
    ]


def rate_search() -> list[Run]:
    """Three rates for each row of each cell, on a seed that judges nothing."""
    rates = (0.05, 0.1, 0.15)
    return [run for rate in rates for run in all_rows(600, SEARCH_SEEDS[:1], rate=rate)]


def on_network(*networks: str) -> list[Run]:
    return [
        Run("fmnist", "iid", row, seed, 2000, network=network)
        for seed, network, row in product(SEEDS, networks, ROWS)
    ]


PARTS: dict[str, Callable[[], list[Run]]] = {
    "gamma": gamma_search,
    "rates": rate_search,
    "main": lambda: all_rows(2000, SEEDS),
    "preloaded": lambda: [
        run for run in all_rows(2000, SEEDS, preloaded=True) if run.row == "sync, head start"
    ],
    "scarce": lambda: [
        replace(run, network="paper") for run in all_rows(2000, SEEDS) if run.data == "svhn"
    ],
    "remote": lambda: on_network("remote 3 km", "remote 8 km"),
    "long": lambda: on_network("two slow drones"),
}


def fly(run: Run) -> dict[str, Any]:
    """On one core: many run side by side."""
    scenario = run.scenario()
    plan = plan_of(run.network, scenario.plan.objective)
    try:
        trace = simulate(scenario, plan, make_learner(scenario, threads=1))
    except DivergedError as error:
        trace = cast(Trace, error.trace)
    return {**asdict(run), **measured(trace)}


@cache
def plan_of(network: str, objective: Any) -> Plan:
    return make_plan(NETWORKS[network](), objective=objective)


def measured(trace: Trace) -> dict[str, Any]:
    """Accuracies, and what had been flown when each was measured."""
    landings = trace.landings
    ends = [landing.seconds for landing in landings]
    flown = np.searchsorted(ends, [each.seconds for each in trace.metrics], side="right")
    energies = np.concatenate([[0.0], np.cumsum([landing.energy for landing in landings])])
    return {
        "diverged": not trace.complete,
        "at": [each.slot for each in trace.metrics],
        "accuracy": [round(each.accuracy, 5) for each in trace.metrics],
        "flights": flown.tolist(),
        "kilojoules": np.round(energies[flown] / 1000, 3).tolist(),
        "tours": [route.duration for each in trace.timetable.convoys for route in each.routes],
    }


def stored(path: Path) -> Known:
    lines = path.read_text().splitlines() if path.exists() else []
    names = Run.__dataclass_fields__
    found = map(json.loads, lines)
    return {Run(**{name: each[name] for name in names}): each for each in found}


def curve(run: Run, known: Known) -> FloatArray:
    """Accuracies in per cent."""
    return 100 * np.array(known[run]["accuracy"])


def mean_accuracy(run: Run, known: Known) -> float:
    return float(curve(run, known).mean())


def final_accuracy(run: Run, known: Known) -> float:
    """The mean of the last five measurements."""
    return float(curve(run, known)[-5:].mean())


def reached(run: Run, known: Known, target: float, what: str) -> float | None:
    """Slots, flights or kilojoules to the first measurement of this accuracy."""
    found = np.flatnonzero(np.array(known[run]["accuracy"]) >= target)
    return known[run][what][found[0]] if found.size else None


def show_gammas(runs: Sequence[Run], known: Known) -> None:
    """Mean accuracy by gamma, and how far each gamma is behind the best one."""
    gammas = sorted({run.gamma for run in runs})
    corners = list(dict.fromkeys(replace(run, gamma=0.0) for run in runs))
    line("corner", *(f"{gamma:g}" for gamma in gammas))
    behind = []
    for corner in corners:
        found = [replace(corner, gamma=gamma) for gamma in gammas]
        if not all(run in known for run in found):
            continue
        means = [mean_accuracy(run, known) for run in found]
        behind.append(max(means) - np.array(means))
        name = f"{corner.data} {corner.partition}, {corner.algorithm}, rate {corner.rate:g}"
        place = f"{corner.network}, clock {corner.clock}, seed {corner.seed}"
        line(f"{name}, {place}", *(f"{mean:.1f}" for mean in means))
    if behind:
        line("behind the best, mean", *(f"{each:.2f}" for each in np.mean(behind, axis=0)))
        line("behind the best, worst", *(f"{each:.2f}" for each in np.max(behind, axis=0)))


def show_rows(runs: Sequence[Run], known: Known) -> None:
    """Each cell: its rows over all seeds, and their differences from the ideal link, by seeds."""
    costs = [f"{what} to {target:.0%}" for target in TARGETS for what in ("slots", "kJ")]
    accuracies = ("mean accuracy", "behind the link", "final accuracy", "behind the link")
    line("cell", "row", "rate", *accuracies, *costs)
    cells = dict.fromkeys((run.network, run.data, run.partition) for run in runs)
    for cell in cells:
        theirs = [run for run in runs if (run.network, run.data, run.partition) == cell]
        links = {run.seed: run for run in theirs if run.row == "direct" and run in known}
        for row in ROWS:
            flown = [r for r in theirs if r.row == row and r in known and r.seed in links]
            if flown:
                line(" ".join(cell), row, f"{flown[0].rate:g}", *row_texts(flown, links, known))


def show_rates(runs: Sequence[Run], known: Known) -> None:
    """Mean accuracy of each row by learning rate."""
    rates = sorted({run.rate for run in runs})
    line("cell", "row", *(f"{rate:g}" for rate in rates))
    for first in dict.fromkeys(replace(run, rate=rates[0]) for run in runs):
        found = [replace(first, rate=rate) for rate in rates]
        if all(run in known for run in found):
            means = (f"{mean_accuracy(run, known):.1f}" for run in found)
            line(f"{first.data} {first.partition}", first.row, *means)


def write_csv(path: Path, known: Known) -> None:
    """One line for each run, with what the tables are made of."""
    names = [*Run.__dataclass_fields__, "mean_accuracy", "final_accuracy", "diverged"]
    costs = [(t, what) for t in TARGETS for what in ("at", "flights", "kilojoules")]
    names += [f"{'slots' if what == 'at' else what}_to_{t:.0%}"[:-1] for t, what in costs]
    with path.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(names)
        for run, result in sorted(known.items(), key=lambda item: str(item[0])):
            accuracies = (round(m(run, known), 3) for m in (mean_accuracy, final_accuracy))
            spent = (reached(run, known, *cost) for cost in costs)
            table.writerow([*asdict(run).values(), *accuracies, result["diverged"], *spent])


def row_texts(runs: Sequence[Run], links: Mapping[int, Run], known: Known) -> Iterator[str]:
    for measure in (mean_accuracy, final_accuracy):
        values = [measure(run, known) for run in runs]
        yield f"{np.mean(values):.1f}"
        yield interval_text(
            [measure(links[r.seed], known) - v for r, v in zip(runs, values, strict=True)]
        )
    for target in TARGETS:
        for what in ("at", "kilojoules"):
            costs = [reached(run, known, target, what) for run in runs]
            got = [cost for cost in costs if cost is not None]
            times = "" if len(got) == len(costs) else f" ({len(got)} of {len(costs)})"
            yield f"{np.mean(got):,.0f}{times}" if got else "never"


def interval_text(values: Sequence[float]) -> str:
    found = interval(values)
    if found.low is None:
        return f"{found.mean:.1f}"
    return f"{found.mean:.1f} ({found.low:.1f} to {found.high:.1f})"


def line(*texts: str) -> None:
    sys.stdout.write(f"| {' | '.join(texts)} |\n")


def run_all(runs: Sequence[Run], path: Path, workers: int) -> None:
    known = stored(path)
    missing = [run for run in dict.fromkeys(runs) if run not in known]
    for run in missing:  # before the workers start, so that each plan is made once
        plan_of(run.network, run.scenario().plan.objective)
    with (
        ProcessPoolExecutor(workers, get_context("fork")) as pool,
        path.open("a", buffering=1) as file,
    ):
        waiting = [pool.submit(fly, run) for run in missing]
        for done, future in enumerate(as_completed(waiting), start=1):
            file.write(json.dumps(future.result()) + "\n")
            sys.stderr.write(f"{done} of {len(missing)}\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--out", type=Path, default=Path("out/head_start.jsonl"))
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seeds", type=int, nargs="*", help="only these")
    parser.add_argument("--data", choices=DATA, help="only these")
    parser.add_argument("--show", action="store_true", help="print the tables of this part")
    parser.add_argument("--csv", type=Path, help="write all runs of the file to this table")
    options = parser.parse_args()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    runs = [r for r in PARTS[options.part]() if not options.seeds or r.seed in options.seeds]
    runs = [run for run in runs if options.data in (None, run.data)]
    if options.csv:
        write_csv(options.csv, stored(options.out))
    elif not options.show:
        run_all(runs, options.out, options.workers)
    elif options.part == "gamma":
        show_gammas(runs, stored(options.out))
    elif options.part == "rates":
        show_rates(runs, stored(options.out))
    else:
        show_rows(runs, stored(options.out))


if __name__ == "__main__":
    main()
