"""Claims, verdicts and lines as tables, out of curves of which one knows what they say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from made_results import curve, flat, named, of_claim, on_networks, plan, study

from flexpress.experiments.claims import STATEMENTS
from flexpress.experiments.figures import ASYNC, SYNC
from flexpress.experiments.page import (
    PAPER,
    _advice,
    _counts,
    _lead,
    _protocol_section,
    _shown_mark,
    _tours_section,
)
from flexpress.experiments.pictures import _band_line
from flexpress.experiments.protocol import as_flown, as_paper, protocol
from flexpress.experiments.results import Results
from flexpress.experiments.statistics import interval
from flexpress.experiments.sweeps import sweeps_of
from flexpress.experiments.swept import SweptPoint, measure_sweep
from flexpress.experiments.tables import (
    _line_numbers,
    claims_grid,
    lines_grid,
    networks_grid,
    statements_grid,
    summary_grid,
    sweep_grid,
)
from flexpress.experiments.verdicts import Finding, _find, judge
from flexpress.report.page.page import Cell, Grid

IID, CLOSER, CONVERGE = named("iid-fmnist"), named("energy-closer"), named("iid-fmnist-converge")


def async_ahead(*by: float) -> list[Finding]:
    """By so much of accuracy on average over all slots, seed by seed, in the first reading."""
    sync = [flat(0.5) for _ in by]
    return judge(*of_claim(IID, [flat(0.5 + each) for each in by], sync), [IID])


def energies_closer() -> list[Finding]:
    plans = [plan(1e3, 1.5e3), plan(1e3, 3e3)]
    pairs = {(line.setting, 0): each for line, each in zip(CLOSER.lines, plans, strict=True)}
    return judge(study(pairs), Results({}), [CLOSER])


def words(cell: str | Cell) -> str:
    return cell.text if isinstance(cell, Cell) else cell


def rows(grid: Grid) -> list[list[str]]:
    assert all(len(row) == len(grid.head) for row in grid.rows)
    return [[words(cell) for cell in row] for row in grid.rows]


def test_the_summary_has_both_readings() -> None:
    grid = summary_grid([*async_ahead(0.02, 0.02, 0.02, 0.02), *energies_closer()])
    first, second = rows(grid)
    assert grid.head[2::2] == ("as the paper", "as it would fly")
    assert first[1:] == ["5", "reproduced", "+2.00 (+2.00 to +2.00) points", "not applicable", "-"]
    assert second[1:4] == [
        "16",
        "reproduced",
        "range of energies +1500 J; deviation of energies +750 J",
    ]
    sentence = grid.rows[0][0]
    assert isinstance(sentence, Cell)
    assert (sentence.text, sentence.link) == (IID.sentence, "iid-fmnist")


@pytest.mark.parametrize(
    ("by", "verdict", "difference"),
    [
        ((-0.02, -0.02), "not reproduced", "-2.00 (-2.00 to -2.00) points"),
        ((-0.02, 0.03), "undecided", "+0.50 (-31.27 to +32.27) points"),  # 0.5 +- 12.706 x 2.5
        ((0.02,), "undecided", "+2.00 points"),  # of one seed there is no interval
    ],
)
def test_verdicts(by: tuple[float, ...], verdict: str, difference: str) -> None:
    finding = async_ahead(*by)[0]
    ((_, _, said, decided, _, run),) = rows(claims_grid([finding], study({}, seeds=len(by))))
    assert (said, decided) == (verdict, f"mean accuracy {difference}")
    seeds = "1 seed" if len(by) == 1 else f"{len(by)} seeds"
    slots = protocol().full.horizon["fmnist"]
    assert run == f"Async - Sync: network 0, {seeds} each, {slots:,} slots, FMNIST"


def test_what_stands_beside_and_how_convergence_is_shown() -> None:
    ((*_, beside, _),) = rows(claims_grid(async_ahead(0.02, 0.02)[:1], study({})))
    assert beside.startswith("final accuracy +2.00 (+2.00 to +2.00) points; sooner by +0 ")
    assert beside.endswith(" slots to 50 %")
    finding = _find(CONVERGE, as_paper(), *of_claim(CONVERGE, [flat(0.8)] * 2, [flat(0.7)] * 2))
    ((_, _, verdict, decided, *_),) = rows(claims_grid([finding], study({})))
    assert (verdict, decided) == ("reproduced", "final accuracy 70.00 (70.00 to 70.00) %")


def test_what_cannot_be_served() -> None:
    findings = judge(study({}), Results({}), [IID])
    ((*_, decided, beside, run),) = rows(claims_grid(findings[:1], study({})))
    assert (decided, beside) == ("-", "-")
    assert run == "nothing: no plan keeps the budgets"
    assert rows(networks_grid(findings)) == []


def test_network_by_network() -> None:
    made, results = on_networks(IID, [flat(0.6), flat(0.5), flat(0.7)], [flat(0.5)] * 3)
    grid = networks_grid([_find(IID, as_paper(), made, results)])
    assert grid.head[1] == "Async - Sync, mean accuracy (points), as the paper"
    assert rows(grid) == [["0", "10.00"], ["1", "0.00"], ["2", "20.00"]]


def test_numbers_of_a_line() -> None:
    runs = [curve(0.1, 0.5, 0.4), curve(0.1, 0.7, 0.6), curve(0.1, 0.9, complete=False)]
    count, mean, end, best, diverged = _line_numbers({(0, s): run for s, run in enumerate(runs)})
    assert (count, diverged) == ("3", "1")
    assert end == "36.7 % (10.0 to 60.0)"  # the last one guesses
    assert best == "70.0 % (50.0 to 90.0)"
    areas = (37.5, 52.5, 46.0)  # the last: 0.5 up to slot 90, then guessing
    assert mean == f"{sum(areas) / 3:.1f} % (37.5 to 52.5)"
    assert _line_numbers({}) == ("0", "-", "-", "-", "-")


def test_lines_of_a_figure_in_both_readings() -> None:
    by_case = {(line.setting, n, 1): flat(0.5) for line in IID.figure.lines for n in (0, 1)}
    results = Results(by_case)
    drawn = [_band_line(0, line, results, as_paper()) for line in IID.figure.lines]
    assert [len(line.courses) for line in drawn] == [2, 2]
    assert [row[:3] for row in rows(lines_grid(IID.figure, results))] == [
        [name, reading, count]
        for name in ("Sync", "Async")
        for reading, count in (("as the paper", "2"), ("as it would fly", "0"))
    ]


def test_the_lead_names_the_paper_and_counts_what_was_tested() -> None:
    findings = [*async_ahead(0.02, 0.02), *async_ahead(-0.02, 0.03), *energies_closer()]
    first, counts, *_ = _lead(study({}), findings)
    assert PAPER in first
    for part in ("Bian", "Shen", "Xu", "arXiv:2304.10744", "Indirect-Communication"):
        assert part in PAPER
    assert counts == "Of 3 claims 3 were tested, as the paper: 2 reproduced, 1 undecided."
    skipped = replace(findings[0], verdict="not tested")
    assert _counts([skipped, *findings[2:]]) == (
        "Of 3 claims 2 were tested, as the paper: 1 reproduced, 1 undecided. 1 not tested."
    )


def test_the_lead_says_what_intervals_are_over() -> None:
    assert "8 networks" in " ".join(_lead(study({}, networks=8, seeds=1), []))
    assert "say nothing about other maps" in " ".join(_lead(study({}), []))
    quick = replace(study({}), scale=protocol().quick)
    assert "about SVHN and about convergence are not tested" in _lead(quick, [])[-1]


def test_figures_of_a_stand_in_are_marked() -> None:
    quick = replace(study({}), scale=protocol().quick)
    assert _shown_mark(quick, "svhn") == " [shown: a part of FMNIST instead of SVHN]"
    assert _shown_mark(quick, "fmnist") == " [shown: a part of FMNIST]"
    assert _shown_mark(study({}), "svhn") == ""


def test_the_protocol_is_quoted() -> None:
    section = _protocol_section(study({}, networks=3, seeds=2))
    assert section.quote == protocol().text
    assert protocol().digest in section.text[0]
    assert "with 3 networks with 2 seeds each: it says 8 with 1" in section.text[0]
    usual = protocol().full
    assert "as it says" in _protocol_section(study({}, usual.networks, usual.seeds)).text[0]


def test_statements() -> None:
    assert [row[0] for row in rows(statements_grid())] == [each.sentence for each in STATEMENTS]


def test_no_tours_without_both_algorithms(tmp_path: Path) -> None:
    assert _tours_section(study({}), tmp_path) == []


def swept(x: float, *values: float, series: str = "as it would fly") -> SweptPoint:
    return SweptPoint(series, x, interval(values), interval(values), len(values))


def test_advice_says_no_more_than_the_intervals() -> None:
    remote, rates, *_ = sweeps_of(protocol().full)
    sure, unsure = swept(8.0, 0.09, 0.1, 0.11), swept(3.0, -0.05, 0.05, 0.1)
    (text,) = _advice(remote, [unsure, sure])
    assert "ahead with the group 8 km away" in text
    (none,) = _advice(remote, [unsure, swept(8.0, 0.09, 0.1, 0.11, series="as the paper")])
    assert "no distance was found" in none
    (both,) = _advice(remote, [swept(1.0, -0.09, -0.1, -0.11), sure])
    assert "It is behind at 1 km." in both
    assert _advice(rates, [sure]) == []


def test_a_sweep_is_a_difference_over_networks() -> None:
    _, rates, *_ = sweeps_of(protocol().full)
    by_case = {
        (replace(setting, reading=as_flown(), learning_rate=0.002), network, 1): flat(height + by)
        for setting, height in ((ASYNC, 0.6), (SYNC, 0.5))
        for network, by in ((0, 0.0), (1, 0.1))
    }
    (point,) = measure_sweep(rates, Results(by_case))
    assert (point.series, point.x, point.networks) == ("as it would fly", 0.002, 2)
    assert point.mean.values == pytest.approx((0.1, 0.1))
    ((x, series, mean, *_),) = rows(sweep_grid(rates, [point]))
    assert (x, series, mean) == ("0.002", "as it would fly", "+10.00 (+10.00 to +10.00)")
