"""Whether a claim of the paper holds here: its lines compared seed by seed, then a verdict."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import pstdev
from typing import Literal

from flexpress.experiments.claims import CLAIMS, MARGIN, Claim, ClaimKind
from flexpress.experiments.figures import Line
from flexpress.experiments.results import Result, Results
from flexpress.experiments.statistics import Interval, interval
from flexpress.experiments.study import Study
from flexpress.planning import Plan
from flexpress.scenario import Clock
from flexpress.simulation.trace import Measurement, common_target, first_with

Verdict = Literal["reproduced", "not reproduced", "undecided", "not applicable"]
"""`undecided`: the seeds leave both open. `not applicable`: no plan keeps the budgets here."""

VERDICTS: tuple[Verdict, ...] = ("reproduced", "not reproduced", "undecided", "not applicable")

_SIGNS: dict[ClaimKind, tuple[int, ...]] = {
    "ahead": (1, -1),
    "alike": (1, -1),
    "less advantage": (-1, 1, 1, -1),
    "closer": (-1, 1),
}
"""Signs for the sum of a claim's lines, where more is better: positive supports the claim."""

_SECONDS_PER_MINUTE = 60


@dataclass(frozen=True)
class Comparison:
    """One measure of all lines of a claim: `mean accuracy`, `slots to target` and so on.

    Its difference is how much better the claim's first line is; in slots and minutes, how much
    sooner.
    """

    measure: str
    clock: Clock | None  # None: a measure of the plans, whatever the clock
    target: float | None  # the accuracy to be reached
    seeds: tuple[int, ...]  # empty if it does not depend on them
    lines: tuple[tuple[float, ...], ...]  # for each line of the claim, seed by seed
    difference: Interval  # summed with SIGNS


@dataclass(frozen=True)
class Finding:
    """The verdict on a claim on one network, and the comparisons behind it."""

    claim: Claim
    network: int
    verdict: Verdict
    measured: tuple[Comparison, ...]  # the first decides; empty if there is nothing to measure
    by_slots: tuple[Comparison, ...] = ()  # by the clock of whole slots, to compare

    @property
    def deciding(self) -> Comparison | None:
        return self.measured[0] if self.measured else None

    @property
    def seeds(self) -> tuple[int, ...]:
        return self.measured[0].seeds if self.measured else ()

    @property
    def target(self) -> float | None:
        """The accuracy that slots and minutes are counted to."""
        return next((each.target for each in self.measured if each.target is not None), None)


@dataclass(frozen=True)
class OverNetworks:
    """The number of networks with each verdict on a claim."""

    claim: Claim
    counts: dict[Verdict, int]  # every verdict, in the order of VERDICTS

    @property
    def depends(self) -> bool:
        """Whether it holds on one network and fails on another; undecided ones do not count."""
        return self.counts["reproduced"] > 0 and self.counts["not reproduced"] > 0


def judge(study: Study, results: Results, claims: Iterable[Claim] = CLAIMS) -> list[Finding]:
    """Claim by claim, network by network; `claims` are those of the study's figures."""
    return [_find(claim, network, study, results) for claim in claims for network in study.networks]


def _find(claim: Claim, network: int, study: Study, results: Results) -> Finding:
    plans = [study.plans.get((line.setting, network)) for line in claim.lines]
    feasible = [plan for plan in plans if plan is not None]
    if len(feasible) < len(plans):
        return Finding(claim, network, "not applicable", ())
    if claim.measure == "energy spread":
        compared = _compare_plans(claim, feasible)
        closer = compared[0].difference.mean > 0
        return Finding(claim, network, "reproduced" if closer else "not reproduced", compared)
    found = _compare_runs(claim, claim.lines, network, results)
    other = claim.lines_by_slots
    by_slots = _compare_runs(claim, other, network, results) if other else ()
    verdict: Verdict = _decide(claim, found[0].difference) if found else "undecided"
    return Finding(claim, network, verdict, found, by_slots)


def _decide(claim: Claim, difference: Interval) -> Verdict:
    """By the 95 % interval: beyond zero, or on one side of the margin."""
    low, high = difference.low, difference.high
    if low is None or high is None:  # one seed
        return "undecided"
    if claim.kind == "alike":
        holds = low > -MARGIN and high < MARGIN
        fails = high < -MARGIN or low > MARGIN
    else:
        holds, fails = low > 0, high < 0
    return "reproduced" if holds else "not reproduced" if fails else "undecided"


def over_networks(findings: Iterable[Finding]) -> list[OverNetworks]:
    """Claim by claim, in their order."""
    verdicts: dict[Claim, list[Verdict]] = {}
    for finding in findings:
        verdicts.setdefault(finding.claim, []).append(finding.verdict)
    return [
        OverNetworks(claim, {verdict: given.count(verdict) for verdict in VERDICTS})
        for claim, given in verdicts.items()
    ]


def _compare_runs(
    claim: Claim, lines: Sequence[Line], network: int, results: Results
) -> tuple[Comparison, ...]:
    """Over the seeds that all lines have, if any. The first comparison decides."""
    runs = [results.per_seed(line.setting, network) for line in lines]
    seeds = tuple(seed for seed in runs[0] if all(seed in line for line in runs))
    if not seeds:
        return ()
    paired = [[line[seed] for seed in seeds] for line in runs]
    target = common_target(run.best_accuracy for line in paired for run in line)

    def compare(name: str, of: Callable[[Result], float], *, more_is_better: bool) -> Comparison:
        table = tuple(tuple(of(run) for run in line) for line in paired)
        signs = [sign if more_is_better else -sign for sign in _SIGNS[claim.kind]]
        aim = None if more_is_better else target
        clock = lines[0].setting.clock
        return Comparison(name, clock, aim, seeds, table, _difference(signs, table))

    def reached(run: Result) -> Measurement:
        found = None if target is None else first_with(target, run.metrics)
        assert found is not None, "all runs reach the common target"
        return found

    def minutes(run: Result) -> float:
        return reached(run).seconds / _SECONDS_PER_MINUTE

    area = compare("mean accuracy", lambda run: run.mean_accuracy, more_is_better=True)
    if target is None:
        return (area,)
    return (
        area,
        compare("slots to target", lambda run: reached(run).slot, more_is_better=False),
        compare("minutes to target", minutes, more_is_better=False),
    )


def _compare_plans(claim: Claim, plans: Sequence[Plan]) -> tuple[Comparison, ...]:
    """How far apart the transporters' energies are, in joules: plans do not depend on seeds.

    The first comparison decides; the two may disagree.
    """

    def compare(name: str, of: Callable[[Sequence[float]], float]) -> Comparison:
        table = tuple((of([tour.energy for tour in plan.transporters]),) for plan in plans)
        return Comparison(name, None, None, (), table, _difference(_SIGNS[claim.kind], table))

    spread = compare("energy spread", lambda energies: max(energies) - min(energies))
    return spread, compare("energy deviation", pstdev)


def _difference(signs: Sequence[int], table: Sequence[Sequence[float]]) -> Interval:
    """Paired: for every seed by itself, then the mean over seeds."""
    return interval(
        [
            math.fsum(sign * value for sign, value in zip(signs, column, strict=True))
            for column in zip(*table, strict=True)
        ]
    )
