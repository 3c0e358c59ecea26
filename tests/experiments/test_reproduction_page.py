"""Claims, verdicts and lines as tables, out of curves of which one knows what they say."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_results import curve, flat, named, of_claim, plan, study

from flexpress.experiments.figures import FIGURES
from flexpress.experiments.page import (
    _band_line,
    _claims_grid,
    _doubts,
    _lead,
    _line_grid,
    _line_numbers,
    _tours_section,
)
from flexpress.experiments.results import Results
from flexpress.experiments.tables import details_grid, networks_grid, summary_grid
from flexpress.experiments.verdicts import Finding, judge, over_networks
from flexpress.report.page.page import Cell, Grid

IID, CLOSER = named("iid-fmnist"), named("energy-closer")


def async_ahead(*by: float) -> Finding:
    """By so much of accuracy on average over all slots, seed by seed."""
    sync = [flat(0.5) for _ in by]
    (found,) = judge(*of_claim(IID, [flat(0.5 + each) for each in by], sync), [IID])
    return found


def energies_closer() -> Finding:
    plans = [plan(1e3, 1.5e3), plan(1e3, 3e3)]
    pairs = {(line.setting, 0): each for line, each in zip(CLOSER.lines, plans, strict=True)}
    (found,) = judge(study(pairs), Results({}), [CLOSER])
    return found


def words(cell: str | Cell) -> str:
    return cell.text if isinstance(cell, Cell) else cell


def rows(grid: Grid) -> list[list[str]]:
    assert all(len(row) == len(grid.head) for row in grid.rows)
    return [[words(cell) for cell in row] for row in grid.rows]


def test_the_summary() -> None:
    grid = summary_grid([async_ahead(0.02, 0.02, 0.02, 0.02), energies_closer()])
    first, second = rows(grid)
    assert first[1:] == ["reproduced", "+2.00 points", "+2.00 to +2.00", "+0 slots to 50 %"]
    assert second[1:] == ["reproduced", "+1500.00 J", "-", "-"]
    sentence = grid.rows[0][0]
    assert isinstance(sentence, Cell)
    assert (sentence.text, sentence.link) == (IID.sentence, "iid-fmnist")


@pytest.mark.parametrize(
    ("by", "verdict", "interval"),
    [
        ((-0.02, -0.02), "not reproduced", "-2.00 to -2.00"),
        ((-0.02, 0.03), "undecided", "-31.27 to +32.27"),  # 0.5 +- 12.706 x 2.5
        ((0.02,), "undecided", "-"),  # of one seed there is none
    ],
)
def test_verdicts(by: tuple[float, ...], verdict: str, interval: str) -> None:
    ((_, said, _, bounds),) = rows(_claims_grid([async_ahead(*by)]))
    assert (said, bounds) == (verdict, interval)


def test_what_cannot_be_served() -> None:
    (found,) = judge(study({}), Results({}), [IID])
    ((_, verdict, *numbers),) = rows(summary_grid([found]))
    assert (verdict, numbers) == ("not applicable", ["-", "-", "-"])
    assert rows(details_grid([found])) == []


def test_all_measures_seed_by_seed() -> None:
    grid = details_grid([async_ahead(0.01, 0.02), energies_closer()])
    assert grid.head[-2:] == ("seed 1", "seed 2")
    first, *_, spread, deviation = rows(grid)
    assert first[3:] == ["mean accuracy", "+1.50 points", "-4.85 to +7.85", "+1.00", "+2.00"]
    assert spread[3:] == ["energy spread", "+1500.00 J", "-", "", ""]  # plans know no seeds
    assert deviation[3:] == ["energy deviation", "+750.00 J", "-", "", ""]  # half of it, of two


def test_networks() -> None:
    claim = named("routes-async-sws-total")
    settings = [line.setting for line in claim.lines]
    plans = {(setting, network): plan(1e3) for setting in settings for network in (0, 1)}
    heights = {(0, 0): 0.6, (1, 0): 0.5, (0, 1): 0.5, (1, 1): 0.6}
    runs = {
        (setting, network, seed): flat(heights[number, network])
        for number, setting in enumerate(settings)
        for network in (0, 1)
        for seed in (1, 2)
    }
    findings = judge(study(plans, networks=3), Results(runs), [claim])
    grid = networks_grid(over_networks(findings))
    assert [row[1:] for row in rows(grid)] == [["1", "1", "0", "1", "yes"]]
    assert len(summary_grid(findings).rows) == 1  # that of the paper


def test_numbers_of_a_line() -> None:
    runs = [curve(0.1, 0.5, 0.4), curve(0.1, 0.7, 0.6), curve(0.1, 0.9, complete=False)]
    seeds, mean, end, best, diverged = _line_numbers(runs)
    assert (seeds, diverged) == ("3", "1")
    assert end == "50.0 % (40.0 to 60.0)"
    assert best == "70.0 % (50.0 to 90.0)"
    areas = (37.5, 52.5, 46.0)  # the last: 0.5 up to slot 90, then guessing
    assert mean == f"{sum(areas) / 3:.1f} % (37.5 to 52.5)"
    assert _line_numbers(runs[2:])[2] == "-"


def test_lines_by_slots_are_dashed_in_the_colour_of_the_others() -> None:
    figure = next(figure for figure in FIGURES if figure.name == "iid-fmnist")
    by_case = {(line.setting, 0, seed): flat(0.5) for line in figure.lines for seed in (1, 2)}
    results = Results(by_case)
    drawn = [_band_line(number, line, results) for number, line in enumerate(figure.lines)]
    assert [(line.hue, line.dashed) for line in drawn] == [
        (0, False),
        (1, False),
        (0, True),
        (1, True),
    ]
    assert [len(line.courses) for line in drawn] == [2] * 4
    assert [row[0] for row in rows(_line_grid(figure, results))] == [
        line.label for line in figure.lines
    ]


def test_a_reason_is_given_only_where_it_differs() -> None:
    figure = next(figure for figure in FIGURES if figure.name == "iid-fmnist")
    assert _doubts(figure, [async_ahead(-0.02, -0.02)]) == [figure.doubt]
    assert figure.doubt
    assert _doubts(figure, [async_ahead(0.02, 0.02)]) == []
    assert _doubts(figure, [async_ahead(-0.02, 0.03)]) == [figure.doubt]  # undecided


def test_the_lead_counts_verdicts() -> None:
    findings = [async_ahead(0.02, 0.02), async_ahead(-0.02, 0.03), energies_closer()]
    assert _lead(study({}), findings)[0] == "Of 3 claims of the paper: 2 reproduced, 1 undecided."
    assert len(_lead(study({}), [])) == 1


def test_no_tours_without_both_algorithms(tmp_path: Path) -> None:
    assert _tours_section(study({}), tmp_path) == []
