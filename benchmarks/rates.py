"""The search for the learning rate and the batch size, one setting for each data set.

    python benchmarks/rates.py fmnist --data-dir DIR [--horizon 2000] [--samples 60]

Preset `paper`; FedEx-Sync on i.i.d. data with Min-Max routes, and FedEx-Async on location data with
SWS routes, the hardest case of the paper. Prints the mean accuracy of the last fifth of each run.
"""

from __future__ import annotations

import argparse
from itertools import product
from statistics import mean

from flexpress import DivergedError, Scenario, Trace, make_learner, make_plan, simulate
from flexpress.planning import Plan

RATES = (0.02, 0.05, 0.1, 0.2)
BATCHES = (10, 20)
CASES = (("sync", "minmax", "iid"), ("async", "sws", "location"))


def main() -> None:
    options = parse()
    paper = Scenario.preset("paper").replace(
        learning={
            "dataset": options.dataset,
            "data_dir": options.data_dir,
            "samples_per_client": options.samples,
            "main_label_probability": options.main_label_probability,
        },
        run={"horizon": options.horizon, "eval_every": max(1, options.horizon // 50)},
    )
    plans = {
        objective: make_plan(paper, objective=objective)  # type: ignore[arg-type]  # of CASES
        for _, objective, _ in CASES
    }
    names = [f"{algorithm}, {partition}" for algorithm, _, partition in CASES]
    print(f"| batch | rate | {' | '.join(names)} |\n|---|---|{'---|' * len(names)}")  # noqa: T201
    for batch, rate in product(BATCHES, RATES):
        setting = paper.replace(learning={"learning_rate": rate, "batch_size": batch})
        cells = [outcome(setting, plans[case[1]], case) for case in CASES]
        print(f"| {batch} | {rate} | {' | '.join(cells)} |", flush=True)  # noqa: T201  # the result


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset")
    parser.add_argument("--data-dir")
    parser.add_argument("--horizon", type=int, default=2000)
    parser.add_argument("--samples", type=int, default=60)
    parser.add_argument("--main-label-probability", type=float, default=0.7)
    return parser.parse_args()


def outcome(setting: Scenario, plan: Plan, case: tuple[str, str, str]) -> str:
    algorithm, _, partition = case
    scenario = setting.replace(learning={"partition": partition}, run={"algorithm": algorithm})
    try:
        return flat_part(simulate(scenario, plan, make_learner(scenario)))
    except DivergedError as error:
        return str(error).partition("finite ")[2].partition(";")[0].replace("at", "diverged at")


def flat_part(trace: Trace) -> str:
    last = [m.accuracy for m in trace.metrics if m.slot > 0.8 * trace.horizon]
    return f"{mean(last):.2%}"


if __name__ == "__main__":
    main()
