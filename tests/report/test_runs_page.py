"""Which runs are one line, what they are called, and in what they differ."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from shuttles import PLAN, SHUTTLES, Still

from flexpress import InputError, Plan, Scenario, StoredRun, save_report, simulate
from flexpress.report.figures.band_figure import bands_figure
from flexpress.report.page.plans import _data_settings, _traces_shown, flown_plans
from flexpress.report.page.runs import _commands, _lead, _page_title, _runs_page, _summary
from flexpress.report.page.shown_runs import (
    _run_names,
    common_folder,
    differences,
    run_lines,
    short_text,
    shown_runs,
)
from flexpress.simulation.stored_run import RunState

OTHER = Plan.of(SHUTTLES, "total", [[1, 2], []], solver="search", seed=0, seconds=0.0)


def stored(
    name: str, plan: Plan = PLAN, state: RunState = "complete", **sections: Any
) -> StoredRun:
    scenario = SHUTTLES.replace(**sections)
    nodes = {client: node for node, client in enumerate(scenario.client_ids, start=1)}
    tours = [[nodes[client] for client in tour.clients] for tour in plan.transporters]
    plan = Plan.of(scenario, plan.objective, tours, solver="search", seed=0, seconds=0.0)
    return StoredRun(Path(name), scenario, plan, simulate(scenario, plan, Still()), state)


def seed(number: int) -> dict[str, object]:
    return {"seed": number}


def labels(*runs: StoredRun) -> list[tuple[str, int, int, bool]]:
    """Of each line: its name, seeds, colour, and whether it is dashed."""
    lines = run_lines(shown_runs(runs))
    return [(line.label, line.seeds, line.hue, line.dashed) for line in lines]


def test_runs_that_differ_in_their_seed_only_are_one_line() -> None:
    fast, slow = {"algorithm": "async"}, {"algorithm": "sync"}
    assert labels(
        stored("a", learning=seed(1), run=slow),
        stored("b", learning=seed(1), run=fast),
        stored("c", learning=seed(2), run=slow),
        stored("d", learning=seed(2), run=fast),
        stored("e", learning=seed(3), run=fast),
    ) == [("sync", 2, 0, False), ("async", 3, 1, False)]


def test_the_same_run_twice_is_not_another_seed() -> None:
    assert [label for label, *_ in labels(stored("a"), stored("b"))] == ["a", "b"]


def test_a_run_that_is_not_complete_is_a_line_of_its_own() -> None:
    runs = [stored("a", learning=seed(1)), stored("b", learning=seed(2))]
    assert len(labels(*runs)) == 1
    assert len(labels(*runs, stored("c", learning=seed(3), state="unfinished"))) == 2


def test_other_plans_and_horizons_are_other_lines() -> None:
    assert len(labels(stored("a"), stored("b", OTHER, learning=seed(2)))) == 2
    assert len(labels(stored("a"), stored("b", learning=seed(2), run={"horizon": 8}))) == 2


def test_the_coarser_clock_is_dashed_and_keeps_the_colour() -> None:
    runs = [
        stored(f"{algorithm}-{clock}", run={"algorithm": algorithm, "clock": clock})
        for clock in ("exact", "slots")
        for algorithm in ("sync", "async")
    ]
    assert labels(*runs) == [
        ("sync-exact", 1, 0, False),
        ("async-exact", 1, 1, False),
        ("sync-slots", 1, 0, True),
        ("async-slots", 1, 1, True),
    ]
    assert not any(dashed for *_, dashed in labels(*runs[2:]))


FIVE = [("sync", 0.0), ("async", 0.0), ("sync", 0.5), ("async", 0.5), ("direct", 0.0)]


def five() -> list[StoredRun]:
    """As `--algorithm all` leaves them."""
    runs = [stored("", run={"algorithm": a, "head_start": g}) for a, g in FIVE]
    return [replace(run, folder=Path("out") / run.trace.name) for run in runs]


def test_with_a_head_start_a_line_is_dashed_and_keeps_the_colour_of_its_algorithm() -> None:
    assert labels(*five()) == [
        ("sync", 1, 0, False),
        ("async", 1, 1, False),
        ("sync, head start 0.5", 1, 0, True),
        ("async, head start 0.5", 1, 1, True),
        ("direct", 1, 2, False),
    ]
    assert not any(dashed for *_, dashed in labels(*five()[2:4])), "all have one"
    curves = _runs_page(five()).sections[0].pictures[0]
    assert "Dashed: with a head start." in curves.caption


def test_several_head_starts_are_lines_of_their_own_colour() -> None:
    runs = [stored(f"{g}", run={"head_start": g}) for g in (0.0, 0.25, 0.5)]
    assert labels(*runs) == [
        ("head start 0", 1, 0, False),
        ("head start 0.25", 1, 1, False),
        ("head start 0.5", 1, 2, False),
    ]


def test_where_clocks_differ_dashes_tell_the_clock() -> None:
    runs = [
        stored(f"{clock}{g}", run={"clock": clock, "head_start": g})
        for clock in ("slots", "exact")
        for g in (0.0, 0.5)
    ]
    assert [line[2:] for line in labels(*runs)] == [(0, True), (1, True), (0, False), (1, False)]


def test_the_summary_of_a_comparison_says_the_head_starts_once() -> None:
    (grid,) = _summary(shown_runs(five()))
    assert grid.head == ("run", "sync", "async", "sync-head-start", "async-head-start", "direct")
    rows = {str(row[0]): row[1:] for row in grid.rows}
    assert rows["algorithm"] == ("sync", "async", "sync", "async", "direct")
    assert rows["head start"] == ("0", "0", "0.5", "0.5", "-")
    assert _page_title(shown_runs(five()[2:3])) == "shuttles: sync, head start 0.5"


def test_colours_by_order_where_algorithms_are_not_enough() -> None:
    runs = [stored(f"{j}", learning={"learning_rate": 0.1 * j}) for j in (1, 2, 3)]
    assert [hue for _, _, hue, _ in labels(*runs)] == [0, 1, 2]


def test_lines_are_told_apart_by_as_few_settings_as_possible() -> None:
    runs = [
        stored(
            f"{algorithm}{rate}{number}",
            run={"algorithm": algorithm},
            learning={
                "learning_rate": rate,
                "batch_size": round(100 * rate),
                **seed(number),
            },
        )
        for algorithm in ("sync", "async")
        for rate in (0.1, 0.2)
        for number in (1, 2)
    ]
    assert [label for label, *_ in labels(*runs)] == [
        "sync, learning rate 0.1",
        "sync, learning rate 0.2",
        "async, learning rate 0.1",
        "async, learning rate 0.2",
    ]


def test_a_folder_that_is_a_number_says_of_what() -> None:
    runs = [stored(f"{rate:g}", learning={"learning_rate": rate}) for rate in (0.02, 0.05)]
    assert [label for label, *_ in labels(*runs)] == ["learning rate 0.02", "learning rate 0.05"]
    runs = [stored("0.5", fleet={"budgets": None}), stored("1", fleet={"budgets": [6e3, 3e3]})]
    assert [label for label, *_ in labels(*runs)] == ["no budgets", "budgets 6000, 3000"]


def test_a_sweep_among_other_runs_is_told_by_what_was_swept() -> None:
    sweep = [
        stored(f"s{rate}{number}", learning={"learning_rate": rate, **seed(number)})
        for rate in (0.02, 0.05)
        for number in (1, 2)
    ]
    other = stored("other", run={"algorithm": "async", "horizon": 6})
    found = [label for label, *_ in labels(*sweep, other)]
    assert found == ["learning rate 0.02", "learning rate 0.05", "other"]


def test_only_runs_that_were_stopped_or_diverged_are_cut_short() -> None:
    runs = [
        stored("whole"),
        stored("short", run={"horizon": 6}),
        stored("stopped", state="unfinished"),
        stored("wild", state="diverged"),
    ]
    assert [line.cut_short for line in run_lines(shown_runs(runs))] == [False, False, True, True]


def test_the_loss_is_drawn_as_it_was_measured() -> None:
    (line,) = run_lines(shown_runs([stored("a")]))
    assert list(line.courses[0].losses) == [1.0] * 6
    *_, lowest = bands_figure([line], 60.0).axes
    assert lowest.get_ylabel() == "test loss"
    assert np.asarray(lowest.lines[0].get_xydata()).tolist() == [[t, 1.0] for t in range(0, 11, 2)]


def test_slots_of_another_length_are_put_on_one_scale() -> None:
    one, other = run_lines(shown_runs([stored("a"), stored("b", slot=30.0)]))
    assert list(one.courses[0].slots) == [0, 2, 4, 6, 8, 10]
    assert list(other.courses[0].slots) == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("folders", "names", "common"),
    [
        (["out/run"], ["run"], "out/run"),
        (["out/run/sync", "out/run/async"], ["sync", "async"], "out/run"),
        (["a/sync", "b/sync", "b/async"], ["a/sync", "b/sync", "b/async"], "."),
    ],
)
def test_names(folders: list[str], names: list[str], common: str) -> None:
    paths = [Path(folder) for folder in folders]
    assert _run_names(paths) == names
    assert common_folder(paths) == Path(common).resolve()


def test_differences() -> None:
    other = SHUTTLES.replace(
        fleet={"speeds": [2.0, 2.0], "budgets": None}, learning={"data_dir": "/elsewhere"}
    )
    assert differences([SHUTTLES, other]) == {
        "fleet.speeds": ["2 \N{MULTIPLICATION SIGN} 1", "2 \N{MULTIPLICATION SIGN} 2"],
        "fleet.budgets": ["6000, 3000", "-"],
    }
    assert differences([SHUTTLES, SHUTTLES]) == {}
    assert short_text(list(range(100))).endswith("…")


def test_few_runs_are_columns_and_many_are_rows() -> None:
    few = [stored(f"{j}", learning=seed(j)) for j in range(5)]
    grid, differing = _summary(shown_runs(few))
    assert grid.head == ("run", "0", "1", "2", "3", "4")
    assert differing.rows == (("learning.seed", "0", "1", "2", "3", "4"),)
    learned, flown, differing = _summary(shown_runs([*few, stored("5", learning=seed(5))]))
    assert learned.head[:3] == ("run", "state", "algorithm")
    assert flown.head[:2] == ("run", "simulated (slots)")
    assert {*learned.head, *flown.head} == {"run", *(row[0] for row in grid.rows)}
    for table in (learned, flown):
        assert [row[0] for row in table.rows] == ["0", "1", "2", "3", "4", "5"]
    assert differing.folded


def test_the_lead_tells_the_outcome_and_what_is_missing() -> None:
    one = shown_runs([stored("one")])
    assert _page_title(one) == "shuttles: sync"
    assert _lead(one) == ["Test accuracy at the end: one: 50.0 %."]
    two = shown_runs([stored("one"), stored("two", state="diverged", learning=seed(2))])
    assert _page_title(two) == "shuttles: 2 runs compared"
    assert _lead(two)[1] == (
        "Not complete, and shown as far as it went: two diverged in slot 10 of 10."
    )


def test_a_run_of_an_earlier_version_is_repeated_without_a_head_start() -> None:
    """Its scenario does not mention one, and would now have one."""
    before, now = replace(stored("before"), earlier=True), stored("now")
    first, second = _commands(shown_runs([before, now])).splitlines()
    assert " --plan before/plan.json --head-start 0 --out " in first
    assert "head-start" not in second


def test_runs_on_one_plan_stand_together() -> None:
    runs = shown_runs(
        [
            stored("a"),
            stored("b", OTHER),
            stored("c", run={"algorithm": "async"}),
            stored("d", run={"algorithm": "async"}, learning={"partition": "dirichlet"}),
        ]
    )
    first, second = flown_plans(runs)
    assert [run.name for run in first.runs] == ["a", "c", "d"]
    assert [run.name for run in second.runs] == ["b"]
    assert [name for name, _ in _traces_shown(first)] == ["Sync", "Async"]
    assert [s.learning.partition for s in _data_settings(first)] == ["iid", "dirichlet"]


def test_head_starts_do_not_change_the_tours_and_clients_with_a_model_on_board_do() -> None:
    (plan,) = flown_plans(shown_runs(five()))
    assert [name for name, _ in _traces_shown(plan)] == ["Sync", "Async", "Direct"]
    (plan,) = flown_plans(shown_runs([*five()[:2], stored("p", run={"preloaded": True})]))
    assert [name for name, _ in _traces_shown(plan)] == ["Sync", "Async", "Sync, preloaded"]


def test_of_an_unfinished_run_and_a_whole_one_the_whole_one_tells_the_tours() -> None:
    whole = stored("b", learning=seed(2))
    begun = replace(whole, folder=Path("a"), trace=replace(whole.trace, num_events=0))
    (plan,) = flown_plans(shown_runs([begun, whole]))
    assert _traces_shown(plan) == [("Sync", whole.trace)]


def test_labels_are_asked_of_each_way_of_dealing() -> None:
    asked: list[Scenario] = []

    def counts(scenario: Scenario) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
        asked.append(scenario)
        return np.eye(2, 10, dtype=np.int64)

    page = _runs_page([stored("a"), stored("b", learning=seed(1))], label_counts=counts)
    assert len(asked) == 1
    assert [picture.name for picture in page.sections[2].pictures] == [
        "tours-map",
        "tours-energy",
        "tours-timeline",
        "tours-labels-1",
    ]


def test_no_runs(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="runs = \\[\\]: must be at least one StoredRun"):
        save_report([], tmp_path / "report.html")
