"""The lines of a claim, measured seed by seed, and what they differ by."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import pstdev

from flexpress.experiments.claims import Claim, Kind
from flexpress.experiments.figures import Line
from flexpress.experiments.results import ROUNDING, Result, Results
from flexpress.experiments.statistics import Interval, interval
from flexpress.planning import Plan
from flexpress.scenario import Clock

SIGNS: dict[Kind, tuple[int, ...]] = {
    "ahead": (1, -1),
    "alike": (1, -1),
    "less advantage": (-1, 1, 1, -1),
    "closer": (-1, 1),
}
"""How a claim's lines are added up, where more is better: positive is as the claim has it."""

TARGET_STEP = 5
"""Per cent: accuracies to be reached are its multiples."""

SECONDS_PER_MINUTE = 60


@dataclass(frozen=True)
class Measured:
    """One measure of all lines of a claim: `mean accuracy`, `slots to target` and so on.

    Its difference is what the claim's first line is better by; in slots and minutes, sooner by.
    """

    measure: str
    clock: Clock | None  # None: of the plans, whatever the clock
    target: float | None  # the accuracy that is to be reached
    seeds: tuple[int, ...]  # none if it does not depend on them
    lines: tuple[tuple[float, ...], ...]  # of each line of the claim, seed by seed
    difference: Interval  # as SIGNS say


def measure_runs(
    claim: Claim, lines: Sequence[Line], network: int, results: Results
) -> tuple[Measured, ...]:
    """Over the seeds that all lines have, if any; the measure that decides is the first."""
    runs = [results.per_seed(line.setting, network) for line in lines]
    seeds = tuple(seed for seed in runs[0] if all(seed in line for line in runs))
    if not seeds:
        return ()
    paired = [[line[seed] for seed in seeds] for line in runs]
    target = common_target(run for line in paired for run in line)

    def measured(name: str, of: Callable[[Result], float], *, more_is_better: bool) -> Measured:
        table = tuple(tuple(of(run) for run in line) for line in paired)
        signs = [sign if more_is_better else -sign for sign in SIGNS[claim.kind]]
        aim = None if more_is_better else target
        return Measured(name, lines[0].setting.clock, aim, seeds, table, difference(signs, table))

    area = measured("mean accuracy", lambda run: run.mean_accuracy, more_is_better=True)
    if target is None:
        return (area,)
    slots = measured("slots to target", partial(slots_to, target), more_is_better=False)
    minutes = measured("minutes to target", partial(minutes_to, target), more_is_better=False)
    return area, slots, minutes


def measure_plans(claim: Claim, plans: Sequence[Plan]) -> tuple[Measured, ...]:
    """How far apart the transporters' energies are, in joules: plans know no chance.

    The measure that decides is the first; the two may disagree.
    """

    def measured(name: str, of: Callable[[Sequence[float]], float]) -> Measured:
        table = tuple((of([tour.energy for tour in plan.transporters]),) for plan in plans)
        return Measured(name, None, None, (), table, difference(SIGNS[claim.kind], table))

    spread = measured("energy spread", lambda energies: max(energies) - min(energies))
    return spread, measured("energy deviation", pstdev)


def difference(signs: Sequence[int], table: Sequence[Sequence[float]]) -> Interval:
    """Paired: of every seed by itself, then the mean over seeds."""
    return interval(
        [
            math.fsum(sign * value for sign, value in zip(signs, column, strict=True))
            for column in zip(*table, strict=True)
        ]
    )


def common_target(runs: Iterable[Result]) -> float | None:
    """The highest multiple of 5 % that every run reached; None if there is none above zero."""
    steps = math.floor(100 * min(run.best_accuracy for run in runs) / TARGET_STEP + ROUNDING)
    return steps * TARGET_STEP / 100 if steps > 0 else None


def slots_to(target: float, run: Result) -> int:
    slots = run.slots_to(target)
    assert slots is not None, "all have reached the common target"
    return slots


def minutes_to(target: float, run: Result) -> float:
    seconds = run.seconds_to(target)
    assert seconds is not None, "all have reached the common target"
    return seconds / SECONDS_PER_MINUTE
