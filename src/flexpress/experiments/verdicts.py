"""Whether a claim of the paper holds here: its lines compared in pairs, then a verdict."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, pstdev
from typing import Literal

from flexpress.experiments.claims import CLAIMS, Claim
from flexpress.experiments.protocol import Reading, protocol
from flexpress.experiments.results import Result, Results
from flexpress.experiments.statistics import Interval, over_networks
from flexpress.experiments.study import Study
from flexpress.planning import Plan
from flexpress.simulation.trace import common_target, first_with

Verdict = Literal["reproduced", "not reproduced", "undecided", "not applicable", "not tested"]
"""`undecided`: the interval leaves both open. `not applicable`: no plan keeps the budgets on any
network. `not tested`: a quick look, which has neither SVHN nor the slots to converge."""

VERDICTS: tuple[Verdict, ...] = (
    *("reproduced", "not reproduced", "undecided"),
    *("not applicable", "not tested"),
)

_NO_SEED = 0
"""In the place of a seed where there is none: plans do not depend on the learning."""


@dataclass(frozen=True)
class Comparison:
    """One measure of all lines of a claim, on all networks where each line has a plan.

    `difference` is positive where the claim is supported; in slots, how much sooner.
    """

    measure: str
    target: float | None  # the accuracy to be reached
    cells: tuple[tuple[int, int], ...]  # network and seed
    lines: tuple[tuple[float, ...], ...]  # for each line of the claim, cell by cell
    values: tuple[float, ...]  # what the claim compares, cell by cell
    difference: Interval

    @property
    def by_network(self) -> dict[int, float]:
        """Means over seeds."""
        found: dict[int, list[float]] = {}
        for (network, _), value in zip(self.cells, self.values, strict=True):
            found.setdefault(network, []).append(value)
        return {network: mean(values) for network, values in found.items()}


@dataclass(frozen=True)
class Finding:
    """The verdict on a claim in one reading, and the comparisons behind it."""

    claim: Claim
    reading: Reading
    verdict: Verdict
    measured: tuple[Comparison, ...]  # empty if there is nothing to measure

    @property
    def deciding(self) -> tuple[Comparison, ...]:
        return self.measured[: len(self.claim.measures)]

    def measure(self, name: str) -> Comparison | None:
        return next((each for each in self.measured if each.measure == name), None)

    @property
    def networks(self) -> tuple[int, ...]:
        return tuple(self.measured[0].by_network) if self.measured else ()


def judge(study: Study, results: Results, claims: Iterable[Claim] = CLAIMS) -> list[Finding]:
    """Claim by claim, in both readings; `claims` are those of the study's figures."""
    readings = protocol().readings
    return [_find(claim, reading, study, results) for claim in claims for reading in readings]


def headline(findings: Iterable[Finding]) -> list[Finding]:
    """Those in the paper's reading, which decide."""
    return [finding for finding in findings if finding.reading == protocol().readings[0]]


def _find(claim: Claim, reading: Reading, study: Study, results: Results) -> Finding:
    settings = [line.read_as(reading).setting for line in claim.lines]
    if claim.is_about_plans:
        compared = _compare_plans(
            claim,
            {
                network: [study.plans[setting, network] for setting in settings]
                for network in study.networks
                if all((setting, network) in study.plans for setting in settings)
            },
            settings[0].scenario(study.scale, 0, 1).slot,
        )
    else:
        compared = _compare_runs(claim, [results.of(setting) for setting in settings])
    if study.scale.stand_in and not _fits_a_quick_look(claim):
        return Finding(claim, reading, "not tested", compared)
    if not compared:
        return Finding(claim, reading, "not applicable", ())
    verdicts = {_decide(claim, each) for each in compared[: len(claim.measures)]}
    return Finding(claim, reading, verdicts.pop() if len(verdicts) == 1 else "undecided", compared)


def _fits_a_quick_look(claim: Claim) -> bool:
    return claim.figure.dataset == "fmnist" and claim.expects != "converge"


def _decide(claim: Claim, compared: Comparison) -> Verdict:
    """By the interval: beyond zero, on one side of the margin, or above the final accuracy."""
    judging, found = protocol().judging, compared.difference
    low, high = found.low, found.high
    if low is None or high is None:
        if not claim.is_about_plans:  # one run of each line
            return "undecided"
        low = high = found.mean  # the plans of one network: known, and not estimated
    if claim.expects == "tie":
        margin = _margin(compared.measure)
        holds, fails = -margin < low and high < margin, high < -margin or low > margin
    else:
        limit = judging.converged if claim.expects == "converge" else 0.0
        holds = low > limit
        fails = high < limit or (claim.is_about_plans and low == high == limit)
    return "reproduced" if holds else "not reproduced" if fails else "undecided"


def _margin(measure: str) -> float:
    judging = protocol().judging
    margins = {"longest tour": judging.longest_tour_margin, "cost": judging.cost_margin}
    return margins.get(measure, judging.accuracy_margin)


def _compare_runs(
    claim: Claim, lines: Sequence[Mapping[tuple[int, int], Result]]
) -> tuple[Comparison, ...]:
    """Over networks and seeds that all lines have, if any. Those of the claim come first."""
    cells = tuple(cell for cell in lines[0] if all(cell in line for line in lines))
    if not cells:
        return ()
    paired = [[line[cell] for cell in cells] for line in lines]
    target = common_target(run.best_accuracy for line in paired for run in line)

    def compare(name: str, of: Callable[[Result], float], aim: float | None = None) -> Comparison:
        table = tuple(tuple(of(run) for run in line) for line in paired)
        return _comparison(claim, name, cells, table, aim)

    def slots(run: Result) -> float:
        """Negative: less is better."""
        found = None if target is None else first_with(target, run.metrics)
        assert found is not None, "all runs reach the common target"
        return -float(found.slot)

    measured = [
        compare("mean accuracy", lambda run: run.mean_accuracy),
        compare("final accuracy", lambda run: run.final_accuracy),
    ]
    measured.sort(key=lambda each: each.measure not in claim.measures)
    if target is not None and claim.expects != "converge":
        measured.append(compare("slots to target", slots, target))
    return tuple(measured)


def _compare_plans(
    claim: Claim, plans: Mapping[int, Sequence[Plan]], slot: float
) -> tuple[Comparison, ...]:
    """The measures of the claim, network by network: plans do not depend on seeds."""
    if not plans:
        return ()
    measures: dict[str, Callable[[Plan], float]] = {
        "longest tour": lambda plan: _cost("minmax", plan, slot),
        "cost": lambda plan: _cost(plan.objective, plan, slot),
        "range of energies": lambda plan: max(_energies(plan)) - min(_energies(plan)),
        "deviation of energies": lambda plan: pstdev(_energies(plan)),
    }
    cells = tuple((network, _NO_SEED) for network in plans)
    return tuple(
        _comparison(
            claim,
            name,
            cells,
            tuple(tuple(map(measures[name], line)) for line in zip(*plans.values(), strict=True)),
        )
        for name in claim.measures
    )


def _comparison(
    claim: Claim,
    measure: str,
    cells: tuple[tuple[int, int], ...],
    table: tuple[tuple[float, ...], ...],
    target: float | None = None,
) -> Comparison:
    values = tuple(claim.compare(column) for column in zip(*table, strict=True))
    difference = over_networks(dict(zip(cells, values, strict=True)))
    return Comparison(measure, target, cells, table, values, difference)


def _energies(plan: Plan) -> list[float]:
    return [tour.energy for tour in plan.transporters]


def _cost(objective: str, plan: Plan, slot: float) -> float:
    """The cost as a round trip in slots, whole ones if the plan counts them.

    The longest tour for Min-Max, for SWS the root of the mean square over clients.
    """
    whole = plan.round_trips == "slots"
    trips = [
        (tour.round_trip_slots if whole else tour.round_trip / slot, len(tour.clients))
        for tour in plan.transporters
    ]
    if objective == "minmax":
        return float(max(trip for trip, _ in trips))
    return math.sqrt(sum(n * trip**2 for trip, n in trips) / sum(n for _, n in trips))
