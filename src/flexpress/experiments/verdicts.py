"""Whether what the paper saw is seen here: a verdict for each claim on each network."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from flexpress.experiments.claims import CLAIMS, MARGIN, Claim
from flexpress.experiments.comparison import Measured, measure_plans, measure_runs
from flexpress.experiments.results import Results
from flexpress.experiments.statistics import Interval
from flexpress.experiments.study import Study

Verdict = Literal["reproduced", "not reproduced", "undecided", "not applicable"]
"""`undecided`: the seeds leave both open. `not applicable`: no plan keeps the budgets here."""

VERDICTS: tuple[Verdict, ...] = ("reproduced", "not reproduced", "undecided", "not applicable")


@dataclass(frozen=True)
class Finding:
    claim: Claim
    network: int
    verdict: Verdict
    measured: tuple[Measured, ...]  # the first decides; empty if there is nothing to measure
    by_slots: tuple[Measured, ...] = ()  # by the clock of whole slots, to compare

    @property
    def deciding(self) -> Measured | None:
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
    """How many networks say what of a claim."""

    claim: Claim
    counts: dict[Verdict, int]  # every verdict, in the order of VERDICTS

    @property
    def depends(self) -> bool:
        """It holds on one map and fails on another; where it is open it may do either."""
        return self.counts["reproduced"] > 0 and self.counts["not reproduced"] > 0


def judge(study: Study, results: Results, claims: Iterable[Claim] = CLAIMS) -> list[Finding]:
    """Claim by claim, network by network; `claims` are those of the figures of the study."""
    return [find(claim, network, study, results) for claim in claims for network in study.networks]


def find(claim: Claim, network: int, study: Study, results: Results) -> Finding:
    plans = [study.plans.get((line.setting, network)) for line in claim.lines]
    there = [plan for plan in plans if plan is not None]
    if len(there) < len(plans):
        return Finding(claim, network, "not applicable", ())
    if claim.measure == "energy spread":
        measured = measure_plans(claim, there)
        closer = measured[0].difference.mean > 0
        return Finding(claim, network, "reproduced" if closer else "not reproduced", measured)
    found = measure_runs(claim, claim.lines, network, results)
    other = claim.lines_by_slots
    by_slots = measure_runs(claim, other, network, results) if other else ()
    verdict: Verdict = decide(claim, found[0].difference) if found else "undecided"
    return Finding(claim, network, verdict, found, by_slots)


def decide(claim: Claim, difference: Interval) -> Verdict:
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


def depends_on_the_map(findings: Iterable[Finding]) -> list[OverNetworks]:
    """Claim by claim, in their order."""
    said: dict[Claim, list[Verdict]] = {}
    for finding in findings:
        said.setdefault(finding.claim, []).append(finding.verdict)
    return [
        OverNetworks(claim, {verdict: given.count(verdict) for verdict in VERDICTS})
        for claim, given in said.items()
    ]
