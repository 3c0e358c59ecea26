"""Is the advice of `flexpress bound` right? The table in docs/theory.md.

    python tools/check_advice.py [--head-start] [NAME ...]

Both algorithms are flown as `bound` tries them: 400 slots, each on its best plan, mean accuracy on
the test samples. Seed 0 of the learning is the trial, from which the advice is made; seeds 1 to 4
are the judges. Then every seed takes its turn as the trial, the other four as judges. With
--head-start it is the advised algorithm that is flown, without a head start and with one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from flexpress import Plan, Scenario, make_plan
from flexpress.experiments.remote import remote_clients
from flexpress.experiments.statistics import interval
from flexpress.scenario import DEFAULT_HEAD_START, Algorithm, Objective
from flexpress.theory import RoundTrips
from flexpress.theory.advice import WORTH, better, one_algorithm
from flexpress.theory.bound import SLOTS, best_plan, short_run

OBJECTIVES: tuple[Objective, ...] = ("minmax", "sws", "total")
BOTH: tuple[Algorithm, ...] = ("sync", "async")
SEEDS = range(5)

HEAD = (
    "network",
    "tours, Sync",
    "tours, Async",
    "trial: Sync, Async",
    "advice",
    "four seeds: Sync, Async",
    "Async - Sync",
    "winner",
    "right",
)

HEAD_START_HEAD = (
    "network",
    "algorithm",
    "trial: without, with",
    "advice",
    "four seeds: without, with",
    "difference",
    "winner",
    "right",
)


@dataclass(frozen=True)
class Flown:
    """Mean accuracies of all seeds, in per cent."""

    sync: Sequence[float]
    free: Sequence[float]

    def advised(self, seed: int) -> str:
        ahead = self.free[seed] - self.sync[seed]
        return "tie" if abs(ahead) < 100 * WORTH else "Async" if ahead > 0 else "Sync"

    def winner(self, trial: int) -> tuple[str, str]:
        """By the seeds that were not the trial, and their difference with its 95 % interval."""
        judges = [seed for seed in SEEDS if seed != trial]
        found = interval([self.free[seed] - self.sync[seed] for seed in judges])
        assert found.low is not None  # there are several judges
        assert found.high is not None
        name = "Async" if found.low > 0 else "Sync" if found.high < 0 else "tie"
        return name, f"{found.mean:+.1f} ({found.low:+.1f} to {found.high:+.1f})"

    def right(self, trial: int) -> bool:
        """Whether the advice is right; on a tie, Sync is: nothing is lost by it."""
        advised, winner = self.advised(trial), self.winner(trial)[0]
        return (advised == "Async") == (winner == "Async")


def remote(kilometres: float) -> Scenario:
    """30 clients near the server, 10 this far to the east: preset `remote` at other distances."""
    clients = remote_clients(0, kilometres)
    return Scenario.preset("remote").replace(network={"clients": clients})


def exact(scenario: Scenario) -> Scenario:
    return scenario.replace(run={"clock": "exact"})


def paper(**changes: object) -> Scenario:
    return exact(Scenario.preset("paper").replace(**changes))


def preset(name: str) -> Callable[[], Scenario]:
    return lambda: Scenario.preset(name)


NETWORKS: dict[str, Callable[[], Scenario]] = {
    **{
        name: preset(name)
        for name in ("four", "valley", "coast", "alps", "paper", "paper-50mbit", "paper-svhn")
    },
    "valley, exact clock": lambda: exact(Scenario.preset("valley")),
    "paper, exact clock": paper,
    "remote group at 3 km": lambda: remote(3),
    "remote group at 8 km": lambda: remote(8),
    "remote group at 3 km, rate 0.01": lambda: remote(3).replace(learning={"learning_rate": 0.01}),
    "paper, seed 10": lambda: Scenario.preset("paper", seed=10),
    "paper, seed 3, exact clock": lambda: exact(Scenario.preset("paper", seed=3)),
    "speeds 15, 10, 8, 5 m/s": lambda: paper(
        fleet={"speeds": [15.0, 10.0, 8.0, 5.0], "budgets": None}
    ),
    "labels by location": lambda: paper(learning={"partition": "location"}),
    "two drones of 5 m/s": lambda: paper(fleet={"speeds": [5.0, 5.0], "budgets": None}),
}


def row(name: str) -> tuple[list[str], Flown | None]:
    scenario = NETWORKS[name]().replace(run={"head_start": 0.0})
    plans = [make_plan(scenario, objective=each) for each in OBJECTIVES]
    best = {each: best_plan(scenario, plans, each) for each in BOTH}
    tours = {each: RoundTrips.of(scenario, best[each]) for each in BOTH}
    texts = [name, *(tours_text(tours[each]) for each in BOTH)]
    if one_algorithm(tours["sync"], tours["async"]):
        return [*texts, "the same algorithm", "Sync", "", "0", "tie", "yes"], None
    flown = Flown(*([accuracy(scenario, best[e], e, seed) for seed in SEEDS] for e in BOTH))
    winner, difference = flown.winner(0)
    means = (f"{np.mean(values[1:]):.1f}" for values in (flown.sync, flown.free))
    return [
        *texts,
        f"{flown.sync[0]:.1f}, {flown.free[0]:.1f}",
        {"tie": "tie: Sync"}.get(flown.advised(0), flown.advised(0)),
        ", ".join(means),
        difference,
        winner,
        "yes" if flown.right(0) else "no",
    ], flown


def head_start_row(name: str) -> tuple[list[str], Flown | None]:
    """Without a head start and with one: for Flown, they are `sync` and `free`."""
    scenario = NETWORKS[name]().replace(run={"head_start": 0.0})
    plans = [make_plan(scenario, objective=each) for each in OBJECTIVES]
    best = {each: best_plan(scenario, plans, each) for each in BOTH}
    advised: Algorithm = "sync"
    if not one_algorithm(*(RoundTrips.of(scenario, best[each]) for each in BOTH)):
        advised = better([short_run(scenario, best[e], e, SLOTS)[1] for e in BOTH])
    ahead = scenario.replace(run={"head_start": DEFAULT_HEAD_START})
    flown = Flown(
        *(
            [accuracy(one, best[advised], advised, seed) for seed in SEEDS]
            for one in (scenario, ahead)
        )
    )
    winner, difference = flown.winner(0)
    means = (f"{np.mean(values[1:]):.1f}" for values in (flown.sync, flown.free))
    names = {"tie": "no difference", "Sync": "without", "Async": "with"}
    return [
        name,
        advised.capitalize(),
        f"{flown.sync[0]:.1f}, {flown.free[0]:.1f}",
        names[flown.advised(0)],
        ", ".join(means),
        difference,
        names[winner],
        "yes" if flown.right(0) else "no",
    ], flown


def accuracy(scenario: Scenario, plan: Plan, algorithm: Algorithm, seed: int) -> float:
    one = scenario.replace(learning={"seed": seed})
    found = short_run(one, plan, algorithm, SLOTS)[1].accuracy
    return 0.0 if found is None else 100 * found


def tours_text(tours: RoundTrips) -> str:
    return ", ".join(f"{slots:.3g}" for slots in tours.slots)


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main(arguments: Sequence[str]) -> None:
    names = [each for each in arguments if each != "--head-start"]
    head, make = (HEAD, row) if list(arguments) == names else (HEAD_START_HEAD, head_start_row)
    say(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    right = turns = 0
    for name in names or NETWORKS:
        texts, flown = make(name)
        say(f"| {' | '.join(texts)} |")
        if flown:
            right += sum(flown.right(seed) for seed in SEEDS)
            turns += len(SEEDS)
    say(f"\nEvery seed as the trial: right in {right} of {turns}.")


if __name__ == "__main__":
    main(sys.argv[1:])
