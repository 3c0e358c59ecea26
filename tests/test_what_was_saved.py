"""When something goes wrong while files are written, the error says which are saved."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from command_line import Run
from small_run import FOUR, RESULTS, contents, write_scenario

from flexpress import load_plan, load_run
from flexpress.report.page.page import Download, Page, PageSection

FULL = "cannot be written: No space left on device; make room on the disk"


@pytest.fixture
def there(run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command where a scenario is, and draws nothing."""
    for name in ("map.map_png", "curves.curves_png", "label_mix.label_mix_png"):
        monkeypatch.setattr(f"flexpress.report.figures.{name}", lambda *_, **__: b"a picture")
    write_scenario()
    return run


def fill_disk(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """There is no space for a file of this name."""
    open_path = Path.open

    def open_with_space(self: Path, mode: str = "r", *arguments: Any, **options: Any) -> Any:
        if "w" in mode and name in self.name:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return open_path(self, mode, *arguments, **options)

    monkeypatch.setattr(Path, "open", open_with_space)


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_plan_without_its_map(
    there: Run, options: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The plan is shown, too."""
    fill_disk(monkeypatch, "map.png")
    outcome = there("plan", "four.toml", "--out", "o", *options)
    saved = "o/plan.json, o/scenario-used.toml are saved"
    assert (outcome.code, outcome.err) == (2, f"flexpress: {saved}; o/map.png: {FULL}\n")
    assert load_plan("o/plan.json", FOUR).cost == pytest.approx(14.0)
    assert "minmax 14 s" in outcome.out or '"cost": 14.0' in outcome.out
    assert not Path("o/map.png").exists()


def test_a_plan_that_cannot_be_saved_is_shown(there: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    fill_disk(monkeypatch, "plan.json")
    outcome = there("plan", "four.toml", "--out", "o", "--json")
    assert (outcome.code, outcome.err) == (2, f"flexpress: o/plan.json: {FULL}\n")
    Path("rescued.json").write_text(outcome.out)
    assert load_plan("rescued.json", FOUR).cost == pytest.approx(14.0)


@pytest.mark.parametrize(
    ("error", "code", "end"),
    [
        (KeyboardInterrupt(), 130, "interrupted"),
        (
            MemoryError("too large"),
            1,
            "MemoryError: too large. This is a bug in flexpress; please report",
        ),
    ],
)
def test_a_map_that_cannot_be_drawn(
    there: Run, error: BaseException, code: int, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def draw(*_: object) -> bytes:
        raise error

    monkeypatch.setattr("flexpress.report.figures.map.map_png", draw)
    outcome = there("plan", "four.toml", "--out", "o")
    assert outcome.code == code
    assert outcome.err.startswith(f"flexpress: o/plan.json, o/scenario-used.toml are saved; {end}")
    assert outcome.err.count("\n") == 1


@pytest.mark.parametrize(
    ("algorithms", "saved"),
    [(("sync",), "r is saved"), (("sync", "async"), "r/sync, r/async are saved")],
)
def test_runs_without_their_curves(
    there: Run, algorithms: tuple[str, ...], saved: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill_disk(monkeypatch, "curves.png")
    options = [word for each in algorithms for word in ("--algorithm", each)]
    outcome = there("simulate", "four.toml", "--out", "r", *options)
    assert (outcome.code, outcome.err) == (2, f"flexpress: {saved}; r/curves.png: {FULL}\n")
    folders = ["r"] if len(algorithms) == 1 else [f"r/{each}" for each in algorithms]
    assert {load_run(folder).state for folder in folders} == {"complete"}


def test_a_run_goes_on_when_there_is_space_again(
    there: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the last checkpoint for which there was some."""
    there("simulate", "four.toml", "--out", "whole")
    monkeypatch.setattr("flexpress.simulation.run_files._CHECKPOINT_SECONDS", 0.0)
    monkeypatch.setattr("flexpress.simulation.run_files._LARGEST_SHARE", float("inf"))
    with monkeypatch.context() as patches:
        replace, left = os.replace, iter(range(60))

        def refuse_in_the_end(draft: Path, path: Path) -> None:
            if next(left, None) is None:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            replace(draft, path)

        patches.setattr(os, "replace", refuse_in_the_end)
        outcome = there("simulate", "four.toml", "--out", "r")
    slot = int(outcome.err.split("saved up to slot ")[1].split()[0])
    saved = f"saved up to slot {slot} in r: continue with --resume"
    assert (outcome.code, outcome.err) == (2, f"flexpress: r/checkpoint: {FULL}; {saved}\n")
    assert there("simulate", "four.toml", "--out", "r", "--resume").code == 0
    assert contents("r", RESULTS) == contents("whole", RESULTS)


def test_a_run_of_which_nothing_is_saved(there: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    fill_disk(monkeypatch, "checkpoint")
    outcome = there("simulate", "four.toml", "--out", "r")
    expected = f"r/checkpoint: {FULL}; nothing of the run is saved"
    assert (outcome.code, outcome.err) == (2, f"flexpress: {expected}\n")


def test_missions(there: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    there("plan", "four.toml", "--out", "o")
    fill_disk(monkeypatch, "plan.kml")
    formats = ("--format", "qgc", "--format", "csv", "--format", "gpx", "--format", "kml")
    outcome = there("export", "o", *formats, "--origin", "47,8", "--out", "m")
    saved = "m/transporter-1.plan, m/transporter-2.plan, m/plan.csv and 1 more are saved"
    assert (outcome.code, outcome.err) == (2, f"flexpress: {saved}; m/plan.kml: {FULL}\n")


def test_a_page_without_its_last_file(there: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    page = Page("runs", (), (), (PageSection("a", "A", downloads=(Download("a.csv", "a\n"),)),))
    monkeypatch.setattr("flexpress.report.page.runs._runs_page", lambda *_, **__: page)
    there("simulate", "four.toml", "--out", "r")
    fill_disk(monkeypatch, "report.html")
    outcome = there("report", "r")
    expected = f"r/figures/a.csv is saved; r/report.html: {FULL}"
    assert (outcome.code, outcome.err) == (2, f"flexpress: {expected}\n")


def test_a_reproduction_without_its_page(there: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The runs took hours, and are there."""
    study = SimpleNamespace(runs={})
    monkeypatch.setattr("flexpress.experiments.reproduce.make_study", lambda *_, **__: study)
    monkeypatch.setattr("flexpress.experiments.reproduce._run_missing", lambda *_, **__: True)
    page = Page("all", (), (), (PageSection("a", "A"),))
    name = "flexpress.experiments.reproduce.reproduction_page"
    monkeypatch.setattr(name, lambda *_, **__: page)
    fill_disk(monkeypatch, "report.html")
    outcome = there("reproduce", "--quick", "--out", "p")
    assert (outcome.code, outcome.err) == (
        2,
        f"flexpress: p/runs is saved; p/report.html: {FULL}\n",
    )
