"""The search for the learning rate and the batch size, one setting for each data set.

    python benchmarks/rates.py fmnist --out DIR [--jobs 2] [--as-paper]

Preset `paper`, i.i.d. data, seed 0, which the experiments do not use, 2,000 slots; the exact clock
and our plans, or with --as-paper whole slots and plans by CARP. FedEx-Sync on Min-Max routes and
FedEx-Async on SWS routes, as the paper flies them: both share what is chosen, half of the largest
rate with which neither diverges. Runs that are done are kept in the folder.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from itertools import product
from pathlib import Path

from flexpress.experiments.figures import ASYNC, SYNC
from flexpress.experiments.parallel import run_in_processes
from flexpress.experiments.protocol import DatasetName, as_flown, as_paper, protocol
from flexpress.experiments.results import read_result
from flexpress.experiments.run import Run, is_kept
from flexpress.experiments.setting import Setting
from flexpress.planning import Plan, make_plan

RATES = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
BATCHES = (10, 20)
SEED, HORIZON = 0, 2000
FULL = protocol().full

Choice = tuple[int, float]
"""Batch size, learning rate."""


def main() -> None:
    options = parse()
    reading = as_paper() if options.as_paper else as_flown()
    both = [replace(each, reading=reading) for each in (SYNC, ASYNC)]
    plans = {each: make_plan(each.scenario(FULL, 0, SEED)) for each in both}
    runs = {
        (choice, each): run_of(options.dataset, choice, each, plans[each])
        for choice in product(BATCHES, RATES)
        for each in both
    }
    missing = {r.key: r for r in runs.values() if not is_kept(r, options.out / r.key)}
    run_in_processes(
        missing,
        options.out,
        options.jobs,
        on_start=lambda key: None,
        on_progress=lambda progress: None,
        on_end=lambda key: print(f"done {key}", flush=True),  # noqa: T201  # it takes long
        should_stop=lambda: False,
    )
    print("| batch | rate | Sync | Async | both | Sync, last | Async, last |")  # noqa: T201
    print("|---|---|---|---|---|---|---|")  # noqa: T201
    for choice in product(BATCHES, RATES):
        print(row(choice, [options.out / runs[choice, each].key for each in both]))  # noqa: T201


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset", choices=("fmnist", "svhn"))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--as-paper", action="store_true")
    return parser.parse_args()


def run_of(dataset: DatasetName, choice: Choice, setting: Setting, plan: Plan) -> Run:
    batch, rate = choice
    setting = replace(setting, dataset=dataset)
    scenario = setting.scenario(FULL, 0, SEED).replace(
        learning={"batch_size": batch, "learning_rate": rate}, run={"horizon": HORIZON}
    )
    return Run(setting, 0, SEED, scenario, plan)


def row(choice: Choice, folders: list[Path]) -> str:
    """Mean accuracies over all slots, and the last ones; how far those that diverged came."""
    found = [read_result(folder) for folder in folders]
    means = [f"{100 * result.mean_accuracy:.2f}" for result in found]
    if all(result.complete for result in found):
        both = f"{50 * sum(result.mean_accuracy for result in found):.2f}"
    else:
        both = "diverged"
    last = [
        f"{100 * each.metrics[-1].accuracy:.2f}" if each.complete else f"slot {each.last_slot}"
        for each in found
    ]
    return f"| {choice[0]} | {choice[1]} | {' | '.join([*means, both, *last])} |"


if __name__ == "__main__":
    main()
