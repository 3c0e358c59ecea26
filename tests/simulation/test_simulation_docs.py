"""The page about simulation draws what happens, and names all that traces and runs have."""

from __future__ import annotations

import csv
import tomllib
from collections import defaultdict
from dataclasses import fields
from pathlib import Path
from typing import get_args

import pytest

from flexpress.learning import Learner, make_learner
from flexpress.planning import Plan, make_plan
from flexpress.scenario import Algorithm, Scenario
from flexpress.simulation import Measurement, Trace, simulate
from flexpress.simulation.events import Contribution, Departure, Event, Landing, Update, Visit
from flexpress.simulation.run_files import RUN_FILES
from flexpress.simulation.timetable import Timetable

PAGE = (Path(__file__).parents[2] / "docs" / "simulation.md").read_text(encoding="utf-8")
LINE = Scenario.from_dict(tomllib.loads(PAGE.split("```toml\n")[1].split("```")[0]))
ROW, CELL, LAST_SLOT = 17, 8, 9

Run = tuple[Plan, Learner]


@pytest.fixture(scope="module")
def run() -> Run:
    return make_plan(LINE), make_learner(LINE)


@pytest.mark.parametrize("algorithm", ["sync", "async"])
def test_the_drawings(algorithm: Algorithm, run: Run) -> None:
    trace = simulate(LINE, *run, algorithm=algorithm, horizon=LAST_SLOT)
    rows: dict[str, dict[int, str]] = {"server": {0: "0"}}
    for k in (1, 2):
        rows[f"transporter {k}"] = defaultdict(str)
    for event in trace.events():
        if isinstance(event, Update):
            rows["server"][event.slot] = str(event.version)
        elif isinstance(event, Departure | Landing | Visit):
            rows[f"transporter {event.transporter}"][event.slot] += sign(event)
    header = row(f"{algorithm}, slot", {t: str(t) for t in range(LAST_SLOT + 1)})
    drawing = [header, *(row(name, cells) for name, cells in rows.items())]
    assert "".join(f"    {line}\n" for line in drawing) in PAGE


def sign(event: Departure | Landing | Visit) -> str:
    if isinstance(event, Departure):
        return f"↑{event.version}"
    return f" {event.client}" if isinstance(event, Visit) else "↓"


def row(name: str, cells: dict[int, str]) -> str:
    texts = [f"{cells.get(t, '').strip():<{CELL}}" for t in range(LAST_SLOT + 1)]
    return f"{name:<{ROW}}{''.join(texts)}".rstrip()


def test_the_algorithms(run: Run) -> None:
    """Convoys and lags as in the table."""
    for algorithm in get_args(Algorithm):
        timetable = Timetable.of(LINE, run[0], algorithm)
        (line,) = (line for line in PAGE.splitlines() if line.startswith(f"| `{algorithm}` |"))
        cells = [cell.strip() for cell in line.split("|")[2:-1]]
        assert len(timetable.convoys) == (2 if cells[0] == "one for each transporter" else 1)
        own = [convoy.routes[0].duration for convoy in timetable.convoys]
        periods = own if cells[1] == "its own round trip" else [3]
        assert [convoy.period for convoy in timetable.convoys] == periods
        assert {convoy.lag for convoy in timetable.convoys} == {int(cells[2])}


def test_every_field_of_every_event() -> None:
    for kind in (*get_args(Event), Contribution):
        (line,) = (line for line in PAGE.splitlines() if line.startswith(f"| `{kind.__name__}` |"))
        names = set(kind.__annotations__) - {"slot", "seconds"}
        assert [name for name in names if f"`{name}`" not in line] == []


def test_all_that_a_trace_has() -> None:
    table = PAGE.split("| of a `Trace` | holds |")[1].split("\n\n")[0]
    names = [name for name in dir(Trace) if not name.startswith("_") and name != "events"]
    names += [field.name for field in fields(Trace)] + [field.name for field in fields(Measurement)]
    assert [name for name in names if f"`{name}`" not in table] == []
    assert "`events()`" in table


def test_the_files(run: Run) -> None:
    assert [name for name in RUN_FILES if f"| `{name}` |" not in PAGE] == []
    shown = PAGE.split("\n    slot,seconds,loss,accuracy\n")[1].split("\n\n")[0]
    rows = csv.reader(line.strip() for line in shown.splitlines())
    trace = simulate(LINE, *run, algorithm="async", horizon=40, head_start=0)
    assert len(trace.metrics) == 3
    for measured, cells in zip(trace.metrics, rows, strict=True):
        expected = [measured.slot, measured.seconds, measured.loss, measured.accuracy]
        assert [float(cell) for cell in cells] == pytest.approx(expected, rel=0.01)
