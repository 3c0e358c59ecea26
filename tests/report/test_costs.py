"""What an accuracy costs: tours and joules as counted by hand and in the file of the trace."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawn import overlapping, texts
from matplotlib.colors import to_rgba
from shuttles import PLAN, SHUTTLES, Still, flown

from flexpress import InputError, Job, Metrics, StoredRun, Trace, compare, save_costs, simulate
from flexpress.learning import Vector
from flexpress.report.figures.costs import CostRow, costs_figure
from flexpress.report.figures.picture import _svg_text
from flexpress.report.figures.style import _THEMES, Theme
from flexpress.report.page.costs import costs_sections
from flexpress.report.page.shown_runs import shown_runs
from flexpress.report.tables.costs import Cost, cost_columns, costs_csv, costs_of, usual_targets
from flexpress.scenario import Algorithm, Clock

EAST, WEST = 4500.0, 2700.0  # joules of the two tours, of 150 s and 90 s
LONG = SHUTTLES.replace(run={"horizon": 40, "eval_every": 3})


class Rising:
    """Every step moves the model by one; 100 steps of each client are all there is to learn."""

    def initial_model(self) -> Vector:
        return np.zeros(3)

    def train(self, jobs: Sequence[Job]) -> Vector:
        return np.array([np.full(3, -float(job.num_steps)) for job in jobs])

    def evaluate(self, model: Vector) -> Metrics:
        return Metrics(1.0, float(model.mean()) / 100)


def rising(algorithm: Algorithm, **settings: Any) -> Trace:
    return simulate(LONG.replace(run=settings), PLAN, Rising(), algorithm=algorithm)


def seconds_to(trace: Trace, target: float) -> float:
    for measured in trace.metrics:
        if measured.accuracy >= target:
            return measured.seconds
    raise AssertionError("not reached")


@pytest.mark.parametrize("target", [0.01, 0.1, 0.2])
def test_by_hand(target: float) -> None:
    """In Sync both leave every 150 s, and the quick one lands after 90 s; in Async none waits."""
    sync, free = rising("sync"), rising("async")
    (cost,), time = costs_of(sync, [target]), round(seconds_to(sync, target))
    east, west = time // 150, (time - 90) // 150 + 1
    assert (cost.tours, cost.energy, cost.seconds) == (east + west, east * EAST + west * WEST, time)
    (cost,), time = costs_of(free, [target]), round(seconds_to(free, target))
    east, west = time // 150, time // 90
    assert (cost.tours, cost.energy, cost.reached) == (east + west, east * EAST + west * WEST, True)


@pytest.mark.parametrize("clock", ["slots", "exact"])
def test_by_the_lines_of_the_trace(clock: Clock, tmp_path: Path) -> None:
    """Landings before the first evaluation that is good enough."""
    traces = compare(LONG.replace(run={"clock": clock}), PLAN, Rising(), out=tmp_path)
    for name, trace in traces.items():
        lines = (tmp_path / name / "trace.jsonl").read_text().splitlines()
        for target in (0.05, 0.15, 0.2):
            tours, joules, slot = 0, 0.0, None
            for event in map(json.loads, lines):
                if event["event"] == "landing":
                    tours, joules = tours + 1, joules + event["energy"]
                elif event["event"] == "evaluation" and event["accuracy"] >= target:
                    slot = event["slot"]
                    break
            (cost,) = costs_of(trace, [target])
            assert (cost.tours, cost.slot, cost.reached) == (tours, slot, True)
            assert cost.energy == pytest.approx(joules)
    assert costs_of(traces["direct"], [0.2])[0].tours == 0


def test_what_is_not_reached_costs_the_whole_run() -> None:
    trace = rising("sync")
    (cost,) = costs_of(trace, [0.99])
    assert cost == Cost(0.99, False, 40, 2400.0, len(trace.landings), trace.energy)
    stopped = replace(trace, num_events=0, metrics=())
    assert costs_of(stopped, [0.5]) == [Cost(0.5, False, 0, 0.0, 0, 0)]


def with_best(accuracy: float) -> Trace:
    trace = flown("sync")
    return replace(trace, metrics=(replace(trace.metrics[0], accuracy=accuracy),))


@pytest.mark.parametrize(
    ("best", "targets"),
    [
        ([0.93, 0.2], (0.75, 0.8)),
        ([0.8], (0.75, 0.8)),
        ([0.79, 0.76], (0.7, 0.75)),
        ([0.31], (0.25, 0.3)),
        ([0.07], (0.05,)),
        ([0.04], ()),
    ],
)
def test_targets(best: list[float], targets: tuple[float, ...]) -> None:
    assert usual_targets(map(with_best, best)) == pytest.approx(targets)


DONE = Cost(0.75, True, 280, 16800.0, 140, 1.5e6)
NOT = Cost(0.75, False, 400, 24000.0, 200, 2.25e6)
LINK = Cost(0.75, True, 240, 14400.0, 0, 0.0)
ROWS = [
    CostRow("sync", (DONE, NOT), "#0072B2"),
    CostRow("sync, head start 0.5", (DONE, DONE), "#0072B2", strong=True),
    CostRow("direct", (LINK, LINK), "#009E73"),
]


def test_columns() -> None:
    columns = cost_columns(["a", "b", "c"], [DONE, NOT, LINK])
    assert [(name, unit, list(found)) for name, unit, found in columns] == [
        ("run", "", ["a", "b", "c"]),
        ("reached", "slot", ["280", "not reached", "240"]),
        ("tours", "", ["140", "-", "0"]),
        ("time", "h", ["4.667", "-", "4.000"]),
        ("energy", "kJ", ["1,500", "-", "0"]),
    ]


def test_csv() -> None:
    first, second, _ = csv.DictReader(io.StringIO(costs_csv([("a", [DONE, NOT]), ("b", [LINK])])))
    assert first["reached"] == "true"
    assert (second["run"], second["reached"], float(second["energy_J"])) == ("a", "false", 2.25e6)


def test_bars_are_as_long_as_the_costs_and_open_where_it_was_not_reached() -> None:
    tours, time, energy = costs_figure(ROWS).axes
    widths = [[bar.get_width() for bar in ax.patches] for ax in (tours, time, energy)]  # type: ignore[attr-defined]  # bars
    assert widths[0] == [140, 140, 0, 200, 140, 0]
    assert widths[1] == pytest.approx([16800 / 3600] * 2 + [4, 24000 / 3600, 16800 / 3600, 4])
    assert widths[2] == [1500, 1500, 0, 2250, 1500, 0]
    filled = [to_rgba(bar.get_facecolor())[3] > 0 for bar in tours.patches]
    assert filled == [True, True, True, False, True, True]
    pale, strong = (to_rgba(bar.get_facecolor()) for bar in time.patches[:2])
    assert sum(strong[:3]) < sum(pale[:3]), "a fuller colour"
    few = CostRow("few", (replace(DONE, tours=4), NOT), "#0072B2")
    assert "4" in [text.get_text() for text in costs_figure([few]).axes[0].texts]
    words = [text.get_text() for text in energy.texts]
    assert words == ["energy (kJ)", "1,500", "1,500", "none", "not reached", "1,500", "none"]


@pytest.mark.parametrize("theme", _THEMES, ids=lambda theme: theme.name)
def test_no_text_stands_on_another_and_the_same_text(theme: Theme) -> None:
    rows = [replace(row, label=f"{row.label} {30 * 'W'}") for row in ROWS]
    figure = costs_figure(rows, title="A title", theme=theme)
    assert overlapping(figure, texts(figure)) == []
    assert _svg_text(figure) == _svg_text(costs_figure(rows, title="A title", theme=theme))


def test_many_runs() -> None:
    figure = costs_figure([ROWS[0]] * 30)
    assert len(figure.axes[0].patches) == 24
    assert "and 18 more runs in the table" in [text.get_text() for text in figure.texts]


def test_saved(tmp_path: Path) -> None:
    traces = list(compare(LONG, PLAN, Rising()).values())
    save_costs(traces, tmp_path / "costs.png", title="shuttles")
    first = (tmp_path / "costs.png").read_bytes()
    save_costs(traces, tmp_path / "costs.png", targets=usual_targets(traces), title="shuttles")
    assert (tmp_path / "costs.png").read_bytes() == first
    save_costs(traces, tmp_path / "costs.png", targets=[0.1, 0.9])
    assert (tmp_path / "costs.png").read_bytes() != first


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"traces": []}, "traces = \\[\\]: must be at least one Trace"),
        ({"targets": [75]}, "targets\\[0\\] = 75.0: must be a number greater than 0 .* at most 1"),
        ({"targets": "high"}, 'targets = "high": must be'),
        ({"targets": []}, "targets = \\[\\]: must be at least one"),
        ({"title": 3}, "title = 3"),
        ({"traces": [with_best(0.01)]}, "no run reaches an accuracy of 5 %; give targets"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], message: str, tmp_path: Path) -> None:
    given = {"traces": [flown("sync")], "path": tmp_path / "costs.png", **arguments}
    with pytest.raises(InputError, match=message):
        save_costs(**given)
    assert list(tmp_path.iterdir()) == []


def stored(name: str, trace: Trace) -> StoredRun:
    return StoredRun(Path("out") / name, SHUTTLES, PLAN, trace, "complete")


@pytest.mark.usefixtures("blank_pictures")
def test_the_section_of_a_page() -> None:
    """Only where there are runs to compare."""
    slow, quick = rising("sync"), rising("direct")
    assert costs_sections(shown_runs([stored("a", slow)])) == []
    idle = simulate(SHUTTLES, PLAN, Still())
    zero = replace(idle, metrics=tuple(replace(m, accuracy=0.0) for m in idle.metrics))
    assert costs_sections(shown_runs([stored("a", zero), stored("b", zero)])) == []
    (section,) = costs_sections(shown_runs([stored("a", slow), stored("b", quick)]))
    lower, higher = section.tables
    assert [row[0] for row in higher.rows] == ["a", "b"]
    low, high = usual_targets([slow, quick])
    assert (lower.caption, higher.caption) == (f"Until {100 * low:g} %", f"Until {100 * high:g} %")
    (picture,) = section.pictures
    for trace in (slow, quick):
        cost = costs_of(trace, [high])[0]
        words = f"{cost.tours} tours, " if cost.reached else "not reached"
        assert f" {words}" in picture.alt
    assert "open bar" in picture.caption
