"""What a head start brings: the runs behind docs/head_start.md.

    python tools/head_start_study.py PART ... [--out FILE] [--workers N]   fly what is missing
    python tools/head_start_study.py PART [--out FILE] --show              print its tables

Parts: `gamma` (the search for the default), `main` (all rows at one rate), `rates` (the search for
the best learning rate of each row), `best` (all rows at these rates), `remote` and `long` (other
networks), `scarce` (SVHN with 60 samples per client instead of 800), `preloaded` (clients with the
first model on board).
Each run is a line of FILE, docs/head_start.csv by default, written when the run ends; runs that
FILE has are not repeated. The data sets are found as `flexpress` finds them: name their folder in
$FLEXPRESS_DATA.
"""

from __future__ import annotations

import argparse
import csv
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
from numpy.typing import NDArray

from flexpress import Plan, Scenario, make_learner, make_plan, simulate
from flexpress.errors import DivergedError
from flexpress.experiments.statistics import interval
from flexpress.simulation import Trace

ROWS = ("sync", "async", "sync, head start", "async, head start", "direct")
DATA, PARTITIONS = ("fmnist", "svhn"), ("iid", "dirichlet", "location")
RATE, RATES = 0.1, {"fmnist": (0.05, 0.1, 0.15), "svhn": (0.1, 0.15)}
GAMMA = 0.5
FINAL = 5
"""The last measurements, whose mean is the final accuracy."""
TARGETS = (0.75, 0.80)
RESULTS = Path(__file__).parents[1] / "docs" / "head_start.csv"
NETWORK = {"fmnist": "paper", "svhn": "paper-svhn"}
"""The network of the paper, with as many samples as its clients have of these data."""
SEARCH_SEEDS, SEEDS = (101, 102), (11, 12, 13, 14)


Result = dict[str, Any]
Known = Mapping["Run", Result]
"""The results of runs."""

SPENT = ("slots", "flights", "kilojoules")
COSTS = [f"{what}_to_{target:.0%}"[:-1] for target in TARGETS for what in SPENT]
MEASURED = ["mean_accuracy", "final_accuracy", "diverged", *COSTS]


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
    """For each row of each cell, over the whole length, on a seed that judges nothing."""
    runs = all_rows(2000, SEARCH_SEEDS[:1])
    return [replace(run, rate=rate) for run in runs for rate in RATES[run.data]]


def at_best_rates(known: Known) -> list[Run]:
    """All rows, each at the rate that was best in the search; without rows not searched yet."""
    rates = best_rates(known)
    runs = all_rows(2000, SEEDS)
    found = [(run, rates.get((run.data, run.partition, run.row))) for run in runs]
    return [replace(run, rate=rate) for run, rate in found if rate]


def best_rates(known: Known) -> dict[tuple[str, str, str], float]:
    """By mean accuracy; a rate at which the run diverged is none."""
    searched: dict[tuple[str, str, str], list[Run]] = {}
    for run in rate_search():
        searched.setdefault((run.data, run.partition, run.row), []).append(run)
    return {
        cell: max((known[r]["mean_accuracy"], r.rate) for r in runs if not known[r]["diverged"])[1]
        for cell, runs in searched.items()
        if all(run in known for run in runs)
    }


def on_network(*networks: str) -> list[Run]:
    return [
        Run("fmnist", "iid", row, seed, 2000, network=network)
        for seed, network, row in product(SEEDS, networks, ROWS)
    ]


PARTS: dict[str, Callable[[Known], list[Run]]] = {
    "gamma": lambda known: gamma_search(),
    "rates": lambda known: rate_search(),
    "main": lambda known: all_rows(2000, SEEDS),
    "best": at_best_rates,
    "preloaded": lambda known: [
        run for run in all_rows(2000, SEEDS, preloaded=True) if run.row == "sync, head start"
    ],
    "scarce": lambda known: [
        replace(run, network="paper") for run in all_rows(2000, SEEDS) if run.data == "svhn"
    ],
    "remote": lambda known: on_network("remote 3 km", "remote 8 km"),
    "long": lambda known: on_network("two slow drones"),
}


def fly(run: Run) -> tuple[Run, Result]:
    """On one core: many run side by side."""
    scenario = run.scenario()
    plan = plan_of(run.network, scenario.plan.objective)
    try:
        trace = simulate(scenario, plan, make_learner(scenario, threads=1))
    except DivergedError as error:
        trace = cast(Trace, error.trace)
    return run, measured(trace)


@cache
def plan_of(network: str, objective: Any) -> Plan:
    return make_plan(NETWORKS[network](), objective=objective)


def measured(trace: Trace) -> Result:
    """Accuracies in per cent, and what had been flown when each target was reached first."""
    accuracies = np.array([each.accuracy for each in trace.metrics])
    ends = [landing.seconds for landing in trace.landings]
    flown = np.searchsorted(ends, [each.seconds for each in trace.metrics], side="right")
    energies = np.concatenate([[0.0], np.cumsum([each.energy for each in trace.landings])])
    spent = {
        "slots": [each.slot for each in trace.metrics],
        "flights": flown.tolist(),
        "kilojoules": np.round(energies[flown] / 1000, 3).tolist(),
    }
    costs = [_first(accuracies >= target, spent[what]) for target in TARGETS for what in SPENT]
    final = accuracies[-FINAL:]
    return {
        "mean_accuracy": round(100 * float(accuracies.mean()), 3),
        "final_accuracy": round(100 * float(final.mean()), 3),
        "diverged": not trace.complete,
        **dict(zip(COSTS, costs, strict=True)),
    }


def _first(reached: NDArray[np.bool_], spent: Sequence[float]) -> float | None:
    found = np.flatnonzero(reached)
    return spent[found[0]] if found.size else None


def stored(path: Path) -> Known:
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        return dict(_parse(row) for row in csv.DictReader(file))


def _parse(row: dict[str, str]) -> tuple[Run, Result]:
    kinds: dict[str, Any] = {
        "seed": int,
        "slots": int,
        "gamma": float,
        "rate": float,
        "preloaded": "True".__eq__,
    }
    names = Run.__dataclass_fields__
    run = Run(**{name: kinds.get(name, str)(row[name]) for name in names})
    result: Result = {name: _number(row[name]) for name in COSTS}
    accuracies = {name: float(row[name]) for name in MEASURED[:2]}
    return run, {**accuracies, "diverged": row["diverged"] == "True", **result}


def _number(text: str) -> float | None:
    if not text:
        return None
    return float(text) if "." in text else int(text)


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
        means = [known[run]["mean_accuracy"] for run in found]
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
        if all(run in known for run in found if run.rate in RATES[run.data]):
            means = (f"{known[r]['mean_accuracy']:.1f}" if r in known else "" for r in found)
            line(f"{first.data} {first.partition}", first.row, *means)


def row_texts(runs: Sequence[Run], links: Mapping[int, Run], known: Known) -> Iterator[str]:
    for measure in ("mean_accuracy", "final_accuracy"):
        values = [known[run][measure] for run in runs]
        yield f"{np.mean(values):.1f}"
        yield interval_text(
            [known[links[r.seed]][measure] - v for r, v in zip(runs, values, strict=True)]
        )
    for cost in (each for each in COSTS if not each.startswith("flights")):
        costs = [known[run][cost] for run in runs]
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
        path.open("a", buffering=1, newline="") as file,
    ):
        table = csv.writer(file, lineterminator="\n")
        if not known:
            table.writerow([*Run.__dataclass_fields__, *MEASURED])
        waiting = [pool.submit(fly, run) for run in missing]
        for done, future in enumerate(as_completed(waiting), start=1):
            run, result = future.result()
            table.writerow([*asdict(run).values(), *result.values()])
            sys.stderr.write(f"{done} of {len(missing)}\n")


def sort(path: Path) -> None:
    """Lines in an order that does not depend on which run ended first."""
    known = stored(path)
    with path.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow([*Run.__dataclass_fields__, *MEASURED])
        for run in sorted(known, key=str):
            table.writerow([*asdict(run).values(), *known[run].values()])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", choices=PARTS, nargs="+", metavar="PART")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seeds", type=int, nargs="*", help="only these")
    parser.add_argument("--data", choices=DATA, help="only these")
    parser.add_argument("--show", action="store_true", help="print the tables of these parts")
    options = parser.parse_args()
    for part in options.parts:
        known = stored(options.out)
        runs = [r for r in PARTS[part](known) if not options.seeds or r.seed in options.seeds]
        runs = [run for run in runs if options.data in (None, run.data)]
        if options.show:
            TABLES.get(part, show_rows)(runs, known)
        else:
            run_all(runs, options.out, options.workers)
            sort(options.out)


TABLES = {"gamma": show_gammas, "rates": show_rates}


if __name__ == "__main__":
    main()
