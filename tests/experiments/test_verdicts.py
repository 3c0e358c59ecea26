"""Verdicts on curves made by hand: ahead, alike, behind, lost in noise."""

from __future__ import annotations

import numpy as np
import pytest
from made_results import SEEDS, curve, flat, named, of_claim, plan, study

from flexpress.experiments.claims import CLAIMS
from flexpress.experiments.results import Result, Results
from flexpress.experiments.statistics import Interval
from flexpress.experiments.verdicts import (
    Finding,
    Verdict,
    _decide,
    _find,
    judge,
    over_networks,
)

AHEAD, ALIKE = named("speed-sync"), named("routes-sync-minmax-sws")
ADVANTAGE, CLOSER = named("transporters-advantage"), named("energy-closer")
BETWEEN_SEEDS = (0.50, 0.60, 0.70, 0.80)
"""Seeds differ far more than lines do: only pairs tell."""


def flats(*differences: float) -> list[Result]:
    return [flat(mean + by) for mean, by in zip(BETWEEN_SEEDS, differences, strict=True)]


SAME = flats(0, 0, 0, 0)


@pytest.mark.parametrize(
    ("differences", "verdict"),
    [
        ((0.010, 0.011, 0.009, 0.010), "reproduced"),
        ((-0.010, -0.011, -0.009, -0.010), "not reproduced"),
        ((0.100, -0.080, 0.060, -0.040), "undecided"),
        ((0.010, 0.011, 0.009, -0.010), "undecided"),
        ((0.0, 0.0, 0.0, 0.0), "undecided"),
        ((0.0001, 0.0001, 0.0001, 0.0001), "reproduced"),  # small, but sure
    ],
)
def test_ahead(differences: tuple[float, ...], verdict: Verdict) -> None:
    finding = _find(AHEAD, 0, *of_claim(AHEAD, flats(*differences), SAME))
    assert finding.verdict == verdict
    assert finding.deciding is not None
    assert finding.deciding.measure == "mean accuracy"
    assert finding.deciding.difference.values == pytest.approx(differences)
    assert finding.deciding.difference.mean == pytest.approx(np.mean(differences))
    assert finding.seeds == SEEDS


@pytest.mark.parametrize(
    ("differences", "verdict"),
    [
        ((0.001, -0.001, 0.002, -0.002), "reproduced"),
        ((0.004, 0.0041, 0.0039, 0.004), "reproduced"),  # a difference, yet within the margin
        ((0.020, 0.021, 0.019, 0.020), "not reproduced"),
        ((-0.020, -0.021, -0.019, -0.020), "not reproduced"),
        ((0.020, -0.020, 0.015, -0.015), "undecided"),
        ((0.004, 0.006, 0.004, 0.006), "undecided"),
    ],
)
def test_alike(differences: tuple[float, ...], verdict: Verdict) -> None:
    assert _find(ALIKE, 0, *of_claim(ALIKE, flats(*differences), SAME)).verdict == verdict


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (-0.0049, 0.0049, "reproduced"),
        (-0.005, 0.0, "undecided"),
        (0.0049, 0.0051, "undecided"),
        (0.0051, 0.9, "not reproduced"),
        (-0.9, -0.0051, "not reproduced"),
        (-0.9, 0.9, "undecided"),
    ],
)
def test_the_margin(low: float, high: float, verdict: Verdict) -> None:
    assert _decide(ALIKE, Interval((), (low + high) / 2, low, high)) == verdict


@pytest.mark.parametrize(
    ("of_two", "of_four", "verdict"),
    [(0.010, 0.030, "reproduced"), (0.030, 0.010, "not reproduced"), (-0.01, 0.01, "reproduced")],
)
def test_less_advantage(of_two: float, of_four: float, verdict: Verdict) -> None:
    """Of Async over Sync with 2 transporters, and with 4."""
    noise = np.array([0.001, -0.001, 0.0005, -0.0005])
    two, four = [flats(*(of_two - 0.2 + noise)), flats(*[-0.2] * 4)], [flats(*[of_four] * 4), SAME]
    lines = [*two, *four]
    finding = _find(ADVANTAGE, 0, *of_claim(ADVANTAGE, *lines))
    assert finding.verdict == verdict
    assert finding.deciding is not None
    assert finding.deciding.difference.mean == pytest.approx(of_four - of_two)
    assert len(finding.deciding.lines) == 4


@pytest.mark.parametrize(
    ("low_budget", "high_budget", "verdict"),
    [
        ((11e3, 11.5e3), (9e3, 13e3), "reproduced"),
        ((9e3, 13e3), (11e3, 11.5e3), "not reproduced"),
        ((9e3, 13e3), (9e3, 13e3), "not reproduced"),  # the budget does not bind: known for sure
    ],
)
def test_closer(
    low_budget: tuple[float, ...], high_budget: tuple[float, ...], verdict: Verdict
) -> None:
    low, high = (line.setting for line in CLOSER.lines)
    made = study({(low, 0): plan(*low_budget), (high, 0): plan(*high_budget)})
    finding = _find(CLOSER, 0, made, Results({}))
    assert finding.verdict == verdict
    assert finding.deciding is not None
    assert (finding.deciding.measure, finding.seeds, finding.target) == ("energy spread", (), None)
    spreads = [max(energies) - min(energies) for energies in (low_budget, high_budget)]
    assert finding.deciding.lines == tuple((spread,) for spread in spreads)
    by = spreads[1] - spreads[0]
    assert finding.deciding.difference == Interval((by,), by, None, None)


def test_one_seed_decides_nothing() -> None:
    for claim in (AHEAD, ALIKE):
        finding = _find(claim, 0, *of_claim(claim, [flat(0.9)], [flat(0.2)]))
        assert finding.verdict == "undecided"
        assert finding.deciding is not None
        assert finding.deciding.difference.values == pytest.approx((0.7,))
        assert finding.deciding.difference.low is None


def test_without_a_plan_there_is_nothing_to_judge() -> None:
    made, results = of_claim(AHEAD, flats(0, 0, 0, 0), SAME)
    del made.plans[AHEAD.lines[1].setting, 0]
    assert _find(AHEAD, 0, made, results) == Finding(AHEAD, 0, "not applicable", ())


def test_without_runs_it_is_open() -> None:
    made, _ = of_claim(AHEAD)
    assert _find(AHEAD, 0, made, Results({})) == Finding(AHEAD, 0, "undecided", ())


def test_seeds_that_a_line_lacks_do_not_count() -> None:
    """Seed 1 of the second line is not there, seed 4 of the first."""
    made, results = of_claim(AHEAD, flats(0.1, 0.01, 0.01, 0.1)[:3], SAME)
    by_case = {
        case: run for case, run in results.by_case.items() if case[2] != 1 or run is not SAME[0]
    }
    finding = _find(AHEAD, 0, made, Results(by_case))
    assert finding.seeds == (2, 3)
    assert finding.deciding is not None
    assert finding.deciding.difference.mean == pytest.approx(0.01)


def test_all_four_lines_must_have_a_seed() -> None:
    lines = [SAME, SAME[:2], SAME, SAME]
    assert _find(ADVANTAGE, 0, *of_claim(ADVANTAGE, *lines)).seeds == (1, 2)


def test_a_run_that_diverged_is_behind() -> None:
    """It was as good as the others as long as it went."""
    whole = [curve(*[mean] * 11) for mean in BETWEEN_SEEDS]
    broken = [curve(*[mean] * 11, complete=False) for mean in BETWEEN_SEEDS]
    finding = _find(AHEAD, 0, *of_claim(AHEAD, whole, broken))
    assert finding.verdict == "reproduced"
    assert finding.deciding is not None
    assert finding.deciding.difference.values == pytest.approx(
        [0.1 * (mean - 0.1) for mean in BETWEEN_SEEDS]
    )


def test_slots_and_minutes_to_the_target_of_all() -> None:
    """The worst run has 0.62 at best: 60 % is what all have reached."""
    quick = [curve(0.1, 0.6, 0.7, 0.8, 0.8), curve(0.1, 0.5, 0.6, 0.9, 0.9)]
    slow = [curve(0.1, 0.2, 0.3, 0.6, 0.62), curve(0.1, 0.2, 0.3, 0.4, 0.9)]
    area, slots, minutes = _find(AHEAD, 0, *of_claim(AHEAD, quick, slow)).measured
    assert area.target is None
    assert (slots.target, minutes.target) == (0.6, 0.6)
    assert slots.lines == ((25, 50), (75, 100))
    assert slots.difference.values == (50, 50)
    assert (slots.difference.low, slots.difference.high) == (50, 50)
    assert minutes.difference.values == (50, 50)  # a slot lasts a minute
    assert {each.clock for each in (area, slots, minutes)} == {"exact"}


def test_no_target_if_one_learned_nothing() -> None:
    finding = _find(AHEAD, 0, *of_claim(AHEAD, flats(0, 0, 0, 0), [flat(0.04)] * 4))
    assert finding.target is None
    assert [each.measure for each in finding.measured] == ["mean accuracy"]


def test_the_slot_clock_is_beside_and_does_not_decide() -> None:
    claim = named("iid-fmnist")
    behind = flats(-0.01, -0.011, -0.009, -0.01)
    ahead = flats(0.01, 0.011, 0.009, 0.01)
    finding = _find(claim, 0, *of_claim(claim, ahead, SAME, by_slots=[behind, SAME]))
    assert finding.verdict == "reproduced"
    assert finding.by_slots[0].difference.mean == pytest.approx(-0.01)
    assert {each.clock for each in finding.by_slots} == {"slots"}
    assert {each.clock for each in finding.measured} == {"exact"}


def test_all_claims_on_all_networks() -> None:
    plans = {
        (line.setting, network): plan(1e3, 2e3)
        for claim in CLAIMS
        for line in claim.lines
        for network in range(2)
        if network == 0 or line.setting.budget != 12e3
    }
    by_case = {(setting, place, seed): flat(0.5) for setting, place in plans for seed in SEEDS}
    findings = judge(study(plans, networks=2), Results(by_case))
    assert [finding.claim for finding in findings] == [claim for claim in CLAIMS for _ in range(2)]
    assert [finding.network for finding in findings] == [0, 1] * len(CLAIMS)
    without = [each.claim.name for each in findings if each.verdict == "not applicable"]
    assert without == ["budget-async", "budget-sync", "energy-closer"]
    some = judge(study(plans), Results(by_case), [AHEAD])
    assert [(each.claim, each.network) for each in some] == [(AHEAD, 0)]


def test_what_depends_on_the_map() -> None:
    said: dict[str, list[Verdict]] = {
        "speed-sync": ["reproduced", "reproduced", "not reproduced"],
        "speed-async": ["reproduced", "undecided", "reproduced"],
        "budget-async": ["not reproduced", "not applicable", "not applicable"],
    }
    findings = [
        Finding(named(name), network, verdict, ())
        for name, verdicts in said.items()
        for network, verdict in enumerate(verdicts)
    ]
    over = over_networks(findings)
    assert [each.claim.name for each in over] == list(said)
    assert [each.depends for each in over] == [True, False, False]
    assert [list(each.counts.values()) for each in over] == [
        [2, 1, 0, 0],
        [2, 0, 1, 0],
        [0, 1, 0, 2],
    ]
    assert list(over[0].counts) == ["reproduced", "not reproduced", "undecided", "not applicable"]
