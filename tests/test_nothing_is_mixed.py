"""A plan does not get into a run that has another, whatever is typed and whenever."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from command_line import Outcome, Run, cli
from small_run import RESULTS, contents, press_after, write_scenario

from flexpress.simulation.events import Event
from flexpress.simulation.run_files import RunWriter

PLAN = ("plan", "four.toml", "--objective", "total", "--out")


@pytest.fixture(autouse=True)
def _no_drawing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("map.map_png", "curves.curves_png"):
        monkeypatch.setattr(f"flexpress.report.figures.{name}", lambda *_, **__: b"a picture")


def interrupted(run: Run, *arguments: str) -> None:
    """After 100 events."""
    with pytest.MonkeyPatch.context() as patches:
        press_after(patches, 100)
        assert run(*arguments).code == 130


def refused(run: Run, *arguments: str) -> str:
    before = contents(".")
    outcome: Outcome = run(*arguments)
    assert (outcome.code, outcome.out, outcome.err.count("\n")) == (2, "", 1)
    assert contents(".") == before
    return outcome.err


@pytest.mark.parametrize("algorithms", [("sync",), ("sync", "async")])
def test_a_plan_into_the_folder_of_an_unfinished_run(run: Run, algorithms: tuple[str, ...]) -> None:
    """It is resumed as if nothing had happened."""
    write_scenario()
    options = [word for each in algorithms for word in ("--algorithm", each)]
    simulate = ("simulate", "four.toml", *options, "--out")
    run(*simulate, "whole")
    interrupted(run, *simulate, "r")
    places = [str(path.parent) for path in sorted(Path("r").rglob("plan.json"))]
    assert places == (["r"] if len(algorithms) == 1 else ["r", "r/sync"])
    for place in places:
        said = refused(run, *PLAN, place)
        assert said.startswith(f"flexpress: {place}/plan.json: was written by `flexpress simulate`")
    assert run(*simulate, "r", "--resume").code == 0
    for path in Path("whole").rglob("trace.jsonl"):
        found = Path("r", path.parent.relative_to("whole"))
        assert contents(found, RESULTS) == contents(path.parent, RESULTS)


@pytest.mark.parametrize("algorithms", [("sync",), ("sync", "async")])
def test_a_plan_into_the_folder_of_a_run_under_way(
    run: Run, algorithms: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """From its first event on."""
    write_scenario()
    record, codes = RunWriter.record, list[int]()

    def record_and_plan(self: RunWriter, event: Event) -> None:
        record(self, event)
        if not codes:
            places = ["r"] if len(algorithms) == 1 else ["r", "r/sync"]
            codes.extend(cli.main([*PLAN, place]) for place in places)

    monkeypatch.setattr(RunWriter, "record", record_and_plan)
    options = [word for each in algorithms for word in ("--algorithm", each)]
    assert run("simulate", "four.toml", *options, "--out", "r").code == 0
    assert codes == [2] * len(algorithms)


def test_a_plan_that_someone_put_there(run: Run) -> None:
    """In the way of 0.6.1, which wrote over it."""
    write_scenario()
    interrupted(run, "simulate", "four.toml", "--out", "r")
    run(*PLAN, "other")
    Path("r/plan.json").write_bytes(Path("other/plan.json").read_bytes())
    said = refused(run, "simulate", "four.toml", "--out", "r", "--resume")
    assert said.startswith("flexpress: r/plan.json: was changed since `flexpress simulate` wrote")


@pytest.mark.parametrize("name", ["plan.json", "scenario-used.toml", "async/trace.jsonl"])
def test_no_run_of_several_goes_on_if_one_cannot(run: Run, name: str) -> None:
    """Neither is the longer horizon written anywhere."""
    write_scenario()
    several = ("simulate", "four.toml", "--algorithm", "sync", "--algorithm", "async", "--out", "r")
    assert run(*several).code == 0
    path = Path("r", name)
    path.write_bytes(b" " + path.read_bytes())
    said = refused(run, *several, "--resume", "--horizon", "50")
    assert said.startswith(f"flexpress: r/{name}: was changed since `flexpress simulate` wrote it")


OWN = """
import numpy as np

def load():
    images = np.arange(4000, dtype=np.uint8).reshape(1000, 2, 2) // {divisor}
    labels = np.arange(1000) % 2
    return (images, labels), (images, labels)
"""


def test_other_data_of_the_users_own(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are what the function returns, not what it is called."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    Path("mixed.py").write_text(OWN.format(divisor=1))
    name = write_scenario(learning={"dataset": "mixed:load"})
    interrupted(run, "simulate", name, "--out", "r")
    Path("mixed.py").write_text(OWN.format(divisor=20))
    del sys.modules["mixed"]
    said = refused(run, "simulate", name, "--out", "r", "--resume")
    assert said.startswith("flexpress: r: its run was made with other data; resume it as it was")
