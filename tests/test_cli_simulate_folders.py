"""`flexpress simulate`: folders that hold runs already, whole ones, unfinished ones and others."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from command_line import Outcome, Run
from small_run import FOUR, RESULTS, contents, press_after, write_scenario

from flexpress.files.lock import sole_use
from flexpress.planning import make_plan
from flexpress.planning.plan_file import save_plan

pytestmark = pytest.mark.usefixtures("blank_pictures")


@pytest.fixture
def interrupted(run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The same as `run`, with Ctrl-C after 100 events."""

    def run_and_press(*arguments: str) -> Outcome:
        with monkeypatch.context() as patches:
            press_after(patches, 100)
            outcome = run(*arguments)
        assert outcome.code == 130
        return outcome

    return run_and_press


@pytest.fixture
def scenario(run: Run) -> str:
    return write_scenario()


def other_plan() -> str:
    """All clients on the tour of one drone."""
    save_plan(make_plan(FOUR, objective="total"), "other.json")
    return "other.json"


def assert_refused(outcome: Outcome, expected: str) -> None:
    """One line, exit code 2."""
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == f"flexpress: {expected}\n"


def test_interrupted_and_resumed(run: Run, interrupted: Run, scenario: str) -> None:
    run("simulate", scenario, "--out", "whole")
    first = interrupted("simulate", scenario, "--out", "cut")
    assert first.err == "flexpress: sync: interrupted at slot 11; --resume continues it\n"
    assert " sync ended early, in slot " in first.out
    assert not Path("cut/model.npy").exists()
    second = run("simulate", scenario, "--out", "cut", "--resume")
    assert (second.code, second.err) == (0, "")
    assert contents("cut", RESULTS) == contents("whole", RESULTS)


@pytest.mark.parametrize("before", [0, 1, 4])
def test_interrupted_at_the_horizon(
    run: Run, scenario: str, monkeypatch: pytest.MonkeyPatch, before: int
) -> None:
    """After the last evaluation there is nothing left to interrupt: the run is complete."""
    run("simulate", scenario, "--out", "whole")
    events = len(Path("whole/trace.jsonl").read_text().splitlines())
    press_after(monkeypatch, events - before)  # the evaluation, and four visits, come last
    outcome = run("simulate", scenario, "--out", "cut")
    assert (outcome.code, outcome.err) == (0, "")
    assert contents("cut", RESULTS) == contents("whole", RESULTS)


def test_several_interrupted_and_resumed(run: Run, interrupted: Run, scenario: str) -> None:
    run("simulate", scenario, "--algorithm", "all", "--out", "whole")
    interrupted("simulate", scenario, "--algorithm", "all", "--out", "cut")
    assert not Path("cut/async").exists()
    assert run("simulate", scenario, "--algorithm", "all", "--out", "cut", "--resume").code == 0
    for algorithm in ("sync", "async", "sync-head-start", "async-head-start", "direct"):
        assert contents(f"cut/{algorithm}", RESULTS) == contents(f"whole/{algorithm}", RESULTS)


def test_an_unfinished_run_is_not_begun_anew(run: Run, interrupted: Run, scenario: str) -> None:
    interrupted("simulate", scenario, "--out", "cut")
    before = contents("cut")
    assert_refused(
        run("simulate", scenario, "--out", "cut"),
        "cut: holds a run that is not complete; continue it with --resume, or name another folder",
    )
    assert contents("cut") == before


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--eval-every", "5"), "r: its run has another run.eval_every; resume it as it was begun"),
        (("--algorithm", "async"), "r: its run has another run.algorithm; resume it as it was "),
        (("--head-start", "0.5"), "r: its run has another run.head_start; resume it as it was "),
        (("--horizon", "9"), "run.horizon = 9: the run in r is at slot 11 already; give at least "),
        (("--plan", "other.json"), "r: its run has another plan; resume it as it was begun"),
    ],
)
def test_resumed_with_other_options(
    run: Run, interrupted: Run, scenario: str, options: tuple[str, str], expected: str
) -> None:
    interrupted("simulate", scenario, "--out", "r")
    other_plan()
    before = contents("r")
    outcome = run("simulate", scenario, "--out", "r", "--resume", *options)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(f"flexpress: {expected}")
    assert outcome.err.count("\n") == 1
    assert contents("r") == before


def test_another_plan_does_not_spoil_several_runs(
    run: Run, interrupted: Run, scenario: str
) -> None:
    """Refused, and afterwards they can be gone on with as before."""
    several = ("simulate", scenario, "--algorithm", "all", "--out", "r", "--resume")
    interrupted(*several)
    before = contents("r")
    assert_refused(
        run(*several, "--plan", other_plan()),
        "r/sync: its run has another plan; resume it as it was begun",
    )
    assert contents("r") == before
    assert run(*several).code == 0


def test_several_runs_in_the_folder_of_one(run: Run, interrupted: Run, scenario: str) -> None:
    """Their plan would take the place of its own."""
    interrupted("simulate", scenario, "--out", "r")
    before = contents("r")
    assert_refused(
        run("simulate", scenario, "--out", "r", "--algorithm", "all", "--plan", other_plan()),
        "r: holds a single run; name another folder for several",
    )
    assert contents("r") == before


@pytest.mark.parametrize("algorithm", ["sync", "all"])
def test_a_folder_where_the_picture_should_go(run: Run, scenario: str, algorithm: str) -> None:
    Path("r/curves.png").mkdir(parents=True)
    assert_refused(
        run("simulate", scenario, "--out", "r", "--algorithm", algorithm),
        "r/curves.png: is a folder, and a file is to be written there",
    )
    assert contents("r") == {}


def test_no_plan_is_made_for_data_that_are_not_there(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planning may take minutes: what can be complained about before that, is."""

    def plan(*arguments: object, **options: object) -> None:
        raise AssertionError("too early")

    monkeypatch.setattr(sys.modules["flexpress.simulation.compare"], "make_plan", plan)
    scenario = write_scenario(learning={"dataset": "nowhere:load"})
    outcome = run("simulate", scenario)
    assert (outcome.code, outcome.err.split(":")[1]) == (2, ' learning.dataset = "nowhere')


@pytest.mark.parametrize(("algorithm", "busy"), [("sync", "r"), ("all", "r"), ("all", "r/async")])
def test_a_folder_in_which_another_run_is_under_way(
    run: Run, scenario: str, algorithm: str, busy: str
) -> None:
    with sole_use(Path(busy)):
        outcome = run("simulate", scenario, "--out", "r", "--algorithm", algorithm)
    saved = "r/sync is saved; " if busy == "r/async" else ""
    assert_refused(
        outcome,
        f"{saved}{busy}: another run is under way there; wait for it, or name another folder",
    )
