"""What is swept over, and what does not change meanwhile."""

from __future__ import annotations

from flexpress.experiments.figures import ASYNC, FIGURES, SYNC
from flexpress.experiments.protocol import as_flown, as_paper, protocol
from flexpress.experiments.sweeps import SWEEP_NAMES, Sweep, sweeps_of

FULL = {sweep.name: sweep for sweep in sweeps_of(protocol().full)}


def xs(sweep: Sweep) -> list[list[float]]:
    return [[point.x for point in series.points] for series in sweep.series]


def test_the_names() -> None:
    assert tuple(FULL) == SWEEP_NAMES
    assert sweeps_of(protocol().single) == ()
    assert not {figure.name for figure in FIGURES} & set(FULL)


def test_async_against_sync_in_both_readings() -> None:
    for name in ("remote", "rates"):
        for series, reading in zip(FULL[name].series, protocol().readings, strict=True):
            for point in series.points:
                assert (point.first.algorithm, point.second.algorithm) == ("async", "sync")
                assert {point.first.reading, point.second.reading} == {reading}
    assert xs(FULL["remote"]) == [list(protocol().full.distances)] * 2
    assert xs(FULL["rates"]) == [list(protocol().full.rates)] * 2


def test_rates_from_0_002_to_0_1_and_the_usual_one_is_that_of_the_figures() -> None:
    rates = protocol().full.rates
    assert (min(rates), max(rates)) == (0.002, 0.1)
    (usual,) = (point for point in FULL["rates"].series[0].points if point.x == 0.05)
    assert (usual.first, usual.second) == (ASYNC, SYNC)


def test_only_the_rule_for_async_changes() -> None:
    for series in FULL["server-rule"].series:
        for point in series.points:
            assert point.second.server_rule == "clients"
            assert point.first.reading == as_paper()
            assert point.first.server_rule == ("landed" if "landed" in series.label else "clients")
            assert point.first.partition == point.second.partition


def test_a_head_start_against_the_ideal_link_in_six_settings() -> None:
    sweep = FULL["head-start"]
    assert [len(series.points) for series in sweep.series] == [6] * 4
    for series in sweep.series:
        for point in series.points:
            assert point.second.algorithm == "direct"
            assert point.first.head_start == (0.5 if "head start" in series.label else 0.0)
            assert point.first.reading == as_flown()
            same = point.first.dataset, point.first.partition
            assert same == (point.second.dataset, point.second.partition)
    assert len(set(sweep.names)) == 6
