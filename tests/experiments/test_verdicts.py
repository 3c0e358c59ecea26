"""Verdicts on curves made by hand: ahead, alike, behind, lost in noise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from made_results import SEEDS, curve, flat, named, of_claim, on_networks, plan, study

from flexpress.experiments.claims import CLAIMS, Claim
from flexpress.experiments.protocol import as_flown, as_paper, protocol
from flexpress.experiments.results import Result, Results
from flexpress.experiments.statistics import Interval
from flexpress.experiments.verdicts import (
    Comparison,
    Finding,
    Verdict,
    _decide,
    _find,
    headline,
    judge,
)
from flexpress.planning import Plan

AHEAD, ALIKE = named("speed-sync"), named("routes-sync-minmax-sws")
ADVANTAGE, CLOSER = named("transporters-advantage"), named("energy-closer")
CONVERGE, LONGEST = named("speed-converge"), named("routes-longest")
MISSES, KEEPS = named("budget-sws-misses"), named("budget-minmax-keeps")
BETWEEN_SEEDS = (0.50, 0.60, 0.70, 0.80)
"""Seeds differ far more than lines do: only pairs tell."""


def flats(*differences: float) -> list[Result]:
    return [flat(mean + by) for mean, by in zip(BETWEEN_SEEDS, differences, strict=True)]


SAME = flats(0, 0, 0, 0)


def find(claim: Claim, *lines: list[Result]) -> Finding:
    return _find(claim, as_paper(), *of_claim(claim, *lines))


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
@pytest.mark.parametrize("make", [of_claim, on_networks], ids=["seeds", "networks"])
def test_ahead(differences: tuple[float, ...], verdict: Verdict, make: object) -> None:
    assert callable(make)
    finding = _find(AHEAD, as_paper(), *make(AHEAD, flats(*differences), SAME))
    assert finding.verdict == verdict
    (deciding,) = finding.deciding
    assert deciding.measure == "mean accuracy"
    assert deciding.values == pytest.approx(differences)
    assert deciding.difference.mean == pytest.approx(np.mean(differences))


def test_networks_are_the_unit() -> None:
    """Three networks with two seeds each: three means, whatever their seeds do."""
    by_case = {
        (line.setting, network, seed): flat(0.5 + (number == 0) * (0.01 * network + by))
        for number, line in enumerate(AHEAD.lines)
        for network in range(3)
        for seed, by in ((1000 * network + 1, 0.2), (1000 * network + 2, -0.2))
    }
    plans = {(line.setting, network): plan(1.0) for line in AHEAD.lines for network in range(3)}
    finding = _find(AHEAD, as_paper(), study(plans, 3, 2), Results(by_case))
    (deciding,) = finding.deciding
    assert len(deciding.values) == 6
    assert deciding.difference.values == pytest.approx((0.0, 0.01, 0.02))
    assert list(deciding.by_network.values()) == pytest.approx([0.0, 0.01, 0.02])
    assert finding.networks == (0, 1, 2)


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
    assert find(ALIKE, flats(*differences), SAME).verdict == verdict


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
    found = Interval((), (low + high) / 2, low, high)
    assert _decide(ALIKE, Comparison("mean accuracy", None, (), (), (), found)) == verdict


@pytest.mark.parametrize(
    ("of_two", "of_four", "verdict"),
    [(0.010, 0.030, "reproduced"), (0.030, 0.010, "not reproduced"), (-0.01, 0.01, "reproduced")],
)
def test_less_advantage(of_two: float, of_four: float, verdict: Verdict) -> None:
    """Of Async over Sync with 2 transporters, and with 4."""
    noise = np.array([0.001, -0.001, 0.0005, -0.0005])
    two, four = [flats(*(of_two - 0.2 + noise)), flats(*[-0.2] * 4)], [flats(*[of_four] * 4), SAME]
    finding = find(ADVANTAGE, *two, *four)
    assert finding.verdict == verdict
    (deciding,) = finding.deciding
    assert deciding.difference.mean == pytest.approx(of_four - of_two)
    assert len(deciding.lines) == 4


@pytest.mark.parametrize(
    ("worse", "verdict"),
    [(0.7, "reproduced"), (0.2, "not reproduced"), (0.5, "undecided")],
)
def test_both_converge(worse: float, verdict: Verdict) -> None:
    """The worse of both decides; noise of a hundredth."""
    noise = [0.01, -0.01, 0.005, -0.005]
    finding = find(CONVERGE, [flat(worse + by) for by in noise], [flat(0.8)] * 4)
    assert finding.verdict == verdict
    assert finding.deciding[0].measure == "final accuracy"
    assert finding.deciding[0].difference.mean == pytest.approx(worse)


def test_what_diverges_does_not_converge() -> None:
    broken = [curve(*[0.8] * 11, complete=False)] * 4
    assert find(CONVERGE, broken, [flat(0.8)] * 4).verdict == "not reproduced"


def trips(*slots: int) -> Plan:
    """Ten clients on each tour; counted in slots, as plans of the paper's reading are."""
    made = plan(*[1e3] * len(slots))
    tours = tuple(
        replace(tour, clients=tuple(range(10)), round_trip=60.0 * n, round_trip_slots=n)
        for tour, n in zip(made.transporters, slots, strict=True)
    )
    return replace(made, transporters=tours, round_trips="slots")


def of_plans(claim: Claim, *pairs: tuple[Plan, Plan]) -> Finding:
    """The plans of both lines, network by network."""
    plans = {
        (line.setting, network): its
        for network, pair in enumerate(pairs)
        for line, its in zip(claim.lines, pair, strict=True)
    }
    return _find(claim, as_paper(), study(plans, len(pairs)), Results({}))


@pytest.mark.parametrize(
    ("pairs", "verdict"),
    [
        ([(trips(7, 6, 6), trips(7, 7, 7))], "reproduced"),
        ([(trips(8, 6, 6), trips(7, 7, 7))], "not reproduced"),
        ([(trips(7, 6), trips(7, 7))] * 6, "reproduced"),
        ([(trips(8, 6), trips(7, 7)), *[(trips(7, 6), trips(7, 7))] * 3], "undecided"),
    ],
)
def test_the_longest_tours(pairs: list[tuple[Plan, Plan]], verdict: Verdict) -> None:
    finding = of_plans(LONGEST, *pairs)
    assert finding.verdict == verdict
    assert finding.deciding[0].cells == tuple((network, 0) for network in range(len(pairs)))


def test_an_optimum_that_is_missed_or_kept() -> None:
    """SWS counts clients: the root of the mean square of 8 and 6 is 7.07."""
    better, worse = trips(7, 6), trips(8, 6)
    assert of_plans(MISSES, (replace(worse, objective="sws"), better)).verdict == "reproduced"
    assert of_plans(MISSES, (better, better)).verdict == "not reproduced"
    finding = of_plans(MISSES, (worse, better))
    assert finding.deciding[0].lines[0] == pytest.approx((50**0.5,))
    low, high = (replace(each, objective="minmax") for each in (better, worse))
    assert of_plans(KEEPS, (low, low)).verdict == "reproduced"
    assert of_plans(KEEPS, (high, low)).verdict == "not reproduced"


@pytest.mark.parametrize(
    ("low_budget", "high_budget", "verdict"),
    [
        ((11e3, 11.5e3), (9e3, 13e3), "reproduced"),
        ((9e3, 13e3), (11e3, 11.5e3), "not reproduced"),
        ((9e3, 13e3), (9e3, 13e3), "not reproduced"),  # the budget does not bind: known for sure
        ((0.0, 0.0, 9e3, 9e3), (0.0, 5e3, 5e3, 10e3), "undecided"),  # range and deviation differ
    ],
)
def test_closer(
    low_budget: tuple[float, ...], high_budget: tuple[float, ...], verdict: Verdict
) -> None:
    finding = of_plans(CLOSER, (plan(*low_budget), plan(*high_budget)))
    assert finding.verdict == verdict
    spread, deviation = finding.deciding
    assert (spread.measure, deviation.measure) == ("range of energies", "deviation of energies")
    ranges = [max(energies) - min(energies) for energies in (low_budget, high_budget)]
    assert spread.lines == tuple((each,) for each in ranges)
    by = ranges[1] - ranges[0]
    assert spread.difference == Interval((by,), by, None, None)


def test_one_run_decides_nothing() -> None:
    for claim in (AHEAD, ALIKE, CONVERGE):
        finding = find(claim, [flat(0.9)], [flat(0.2)])
        assert finding.verdict == "undecided"
        assert finding.deciding[0].difference.low is None


def test_without_runs_or_plans_there_is_nothing_to_judge() -> None:
    made, _ = of_claim(AHEAD)
    expected = Finding(AHEAD, as_paper(), "not applicable", ())
    assert _find(AHEAD, as_paper(), made, Results({})) == expected
    assert _find(CLOSER, as_paper(), study({}), Results({})).verdict == "not applicable"


def test_networks_and_seeds_that_a_line_lacks_do_not_count() -> None:
    """Seed 1 of the second line is not there, seed 4 of the first."""
    made, results = of_claim(AHEAD, flats(0.1, 0.01, 0.01, 0.1)[:3], SAME)
    by_case = {
        case: run for case, run in results.by_case.items() if case[2] != 1 or run is not SAME[0]
    }
    finding = _find(AHEAD, as_paper(), made, Results(by_case))
    assert finding.deciding[0].cells == ((0, 2), (0, 3))
    assert finding.deciding[0].difference.mean == pytest.approx(0.01)


def test_a_run_that_diverged_is_behind() -> None:
    """It was as good as the others as long as it went."""
    whole = [curve(*[mean] * 11) for mean in BETWEEN_SEEDS]
    broken = [curve(*[mean] * 11, complete=False) for mean in BETWEEN_SEEDS]
    finding = find(AHEAD, whole, broken)
    assert finding.verdict == "reproduced"
    assert finding.deciding[0].values == pytest.approx(
        [0.1 * (mean - 0.1) for mean in BETWEEN_SEEDS]
    )


def test_slots_to_the_target_of_all_and_final_accuracies() -> None:
    """The worst run has 0.62 at best: 60 % is what all have reached."""
    quick = [curve(0.1, 0.6, 0.7, 0.8, 0.8), curve(0.1, 0.5, 0.6, 0.9, 0.9)]
    slow = [curve(0.1, 0.2, 0.3, 0.6, 0.62), curve(0.1, 0.2, 0.3, 0.4, 0.9)]
    area, final, slots = find(AHEAD, quick, slow).measured
    assert [each.measure for each in (area, final, slots)] == [
        "mean accuracy",
        "final accuracy",
        "slots to target",
    ]
    assert (area.target, slots.target) == (None, 0.6)
    assert slots.lines == ((-25, -50), (-75, -100))
    assert slots.values == (50, 50)
    assert final.values == pytest.approx((0.18, 0.0))


def test_no_target_if_one_learned_nothing() -> None:
    finding = find(AHEAD, flats(0, 0, 0, 0), [flat(0.04)] * 4)
    assert [each.measure for each in finding.measured] == ["mean accuracy", "final accuracy"]


def test_both_readings_and_the_first_decides() -> None:
    claim = named("iid-fmnist")
    ahead, behind = flats(0.01, 0.011, 0.009, 0.01), flats(-0.01, -0.011, -0.009, -0.01)
    made, paper = of_claim(claim, ahead, SAME)
    _, flown = of_claim(claim, behind, SAME, reading=as_flown())
    findings = judge(made, Results({**paper.by_case, **flown.by_case}), [claim])
    assert [(each.reading, each.verdict) for each in findings] == [
        (as_paper(), "reproduced"),
        (as_flown(), "not reproduced"),
    ]
    assert headline(findings) == findings[:1]


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("iid-svhn", "not tested"),
        ("iid-fmnist-converge", "not tested"),
        ("iid-fmnist", "reproduced"),
    ],
)
def test_what_a_quick_look_cannot_test(name: str, verdict: Verdict) -> None:
    claim = named(name)
    made, results = of_claim(claim, flats(0.01, 0.011, 0.009, 0.01), SAME)
    quick = replace(made, scale=protocol().quick)
    assert _find(claim, as_paper(), quick, results).verdict == verdict


def test_all_claims() -> None:
    plans = {(line.setting, 0): plan(1e3, 2e3) for claim in CLAIMS for line in claim.lines}
    by_case = {(setting, 0, seed): flat(0.5) for setting, _ in plans for seed in SEEDS}
    findings = judge(study(plans), Results(by_case))
    assert [finding.claim for finding in findings] == [claim for claim in CLAIMS for _ in range(2)]
    assert all(finding.verdict != "not applicable" for finding in headline(findings))
