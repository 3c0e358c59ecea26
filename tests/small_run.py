"""A small, quick scenario for the tests of `simulate` and `data`, and runs that are cut short.

It is flown as in the paper, so that runs are called `sync` and `async`. Tests of head starts name
one.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

import flexpress
from flexpress.scenario import Scenario
from flexpress.simulation.events import Event
from flexpress.simulation.run_files import RunWriter

FOUR = Scenario.preset("four").replace(
    plan={"solver": "exact"},
    learning={"model": "logistic"},
    run={"horizon": 30, "eval_every": 10, "head_start": 0.0},
)
RESULTS = ("metrics.csv", "trace.jsonl", "model.npy")


def write_scenario(path: str | Path = "four.toml", **sections: dict[str, object] | str) -> str:
    """The file's name; in the working folder unless the path says otherwise."""
    FOUR.replace(**sections).save(path)
    return str(path)


def contents(folder: str | Path, names: tuple[str, ...] | None = None) -> dict[str, bytes]:
    """The files of a folder and of those in it, or those of these names."""
    root = Path(folder)
    paths = [root / name for name in names] if names else sorted(root.rglob("*"))
    return {str(path.relative_to(root)): path.read_bytes() for path in paths if path.is_file()}


def press_after(monkeypatch: pytest.MonkeyPatch, *counts: int) -> None:
    """Ctrl-C, from within, when so many events have been recorded."""
    record, recorded = RunWriter.record, [0]

    def record_and_press(self: RunWriter, event: Event) -> None:
        record(self, event)
        recorded[0] += 1
        for _ in range(counts.count(recorded[0])):
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(RunWriter, "record", record_and_press)


def environment() -> dict[str, str]:
    """For subprocesses in other folders: the package that is tested, wherever it was found."""
    return {**os.environ, "PYTHONPATH": str(Path(flexpress.__file__).parents[1])}
