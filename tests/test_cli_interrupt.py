"""Ctrl-C, SIGTERM, SIGHUP and the progress line, with solvers that press the key themselves."""

from __future__ import annotations

import io
import json
import os
import signal
import sys
import time
import warnings
from collections.abc import Callable

import pytest
from process_group import wait_until

from flexpress.planning import Problem, Progress
from flexpress.planning.bounds.certificate import LowerBound
from flexpress.planning.bounds.effort import ProofEffort
from flexpress.planning.problem import Tours
from flexpress.planning.progress import Watch

with warnings.catch_warnings():
    # typer below 0.21, where we stay for Flower's sake, imports names that click 8.5 deprecates.
    warnings.filterwarnings("ignore", message="'click.utils.get_", category=DeprecationWarning)
    from flexpress import cli

Listener = Callable[[Progress], None]
ShouldStop = Callable[[], bool]
Solver = Callable[..., Tours | None]

PLAN: Tours = [[1, 2], [3, 4]]
ARGUMENTS = ["plan", "four", "--json"]


@pytest.fixture
def solve_with(monkeypatch: pytest.MonkeyPatch) -> Callable[[Solver], None]:
    """Puts a function of (should_stop, on_progress) in the place of all solvers."""

    def install(solver: Solver) -> None:
        def solve(problem: Problem, *arguments: object) -> Tours | None:
            *_, watch = arguments
            assert isinstance(watch, Watch)
            return solver(watch.should_stop, watch.on_progress)

        monkeypatch.setattr("flexpress.planning.solve.solve", solve)

    return install


def press(number: int) -> None:
    os.kill(os.getpid(), number)
    time.sleep(0.01)


def until_stopped(should_stop: ShouldStop) -> None:
    wait_until(should_stop)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_first_time_gives_the_best_plan_so_far(
    number: int,
    solve_with: Callable[[Solver], None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    def solver(should_stop: ShouldStop, on_progress: Listener) -> Tours:
        assert not should_stop()
        press(number)
        until_stopped(should_stop)
        return PLAN

    solve_with(solver)
    before = signal.getsignal(number)
    assert cli.main(ARGUMENTS) == 0
    assert signal.getsignal(number) is before
    out, err = capsys.readouterr()
    assert json.loads(out)["cost"] == pytest.approx(14.0)
    assert err == "flexpress: interrupted: best plan so far\n"


def test_a_hangup_that_comes_twice_is_no_abort(
    solve_with: Callable[[Solver], None], capsys: pytest.CaptureFixture[str]
) -> None:
    """A terminal that closes sends one, and so does its shell."""

    def solver(should_stop: ShouldStop, on_progress: Listener) -> Tours:
        press(signal.SIGHUP)
        press(signal.SIGHUP)
        until_stopped(should_stop)
        return PLAN

    solve_with(solver)
    assert cli.main(ARGUMENTS) == 0
    assert json.loads(capsys.readouterr().out)["cost"] == pytest.approx(14.0)


def test_under_nohup_a_hangup_is_ignored(solve_with: Callable[[Solver], None]) -> None:
    def solver(should_stop: ShouldStop, on_progress: Listener) -> Tours:
        press(signal.SIGHUP)
        assert not should_stop()
        return PLAN

    solve_with(solver)
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert cli.main(ARGUMENTS) == 0
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_while_a_certificate_is_made_it_gives_the_best_bound_so_far(
    solve_with: Callable[[Solver], None],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def prove(problem: object, objective: object, tours: object, effort: ProofEffort) -> LowerBound:
        press(signal.SIGINT)
        until_stopped(effort.over)
        return LowerBound(7.0, "shared load")

    solve_with(lambda should_stop, on_progress: PLAN)
    monkeypatch.setattr("flexpress.planning.bounds.certificate._lower_bound", prove)
    assert cli.main([*ARGUMENTS, "--certify"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["gap"] == pytest.approx(0.5)
    assert err == "flexpress: interrupted: best bound so far\n"


def test_without_a_plan_it_is_exit_code_130(
    solve_with: Callable[[Solver], None], capsys: pytest.CaptureFixture[str]
) -> None:
    def solver(should_stop: ShouldStop, on_progress: Listener) -> None:
        press(signal.SIGINT)
        until_stopped(should_stop)

    solve_with(solver)
    assert cli.main(ARGUMENTS) == 130
    assert capsys.readouterr() == ("", "flexpress: interrupted before there was a result\n")


def test_the_second_time_aborts(
    solve_with: Callable[[Solver], None], capsys: pytest.CaptureFixture[str]
) -> None:
    def solver(should_stop: ShouldStop, on_progress: Listener) -> Tours:
        press(signal.SIGINT)
        press(signal.SIGINT)
        raise AssertionError("still there")

    solve_with(solver)
    before = signal.getsignal(signal.SIGINT)
    assert cli.main(ARGUMENTS) == 130
    assert signal.getsignal(signal.SIGINT) is before
    assert capsys.readouterr() == ("", "flexpress: interrupted before there was a result\n")


def test_without_a_terminal_a_note_is_told_once(
    solve_with: Callable[[Solver], None], capsys: pytest.CaptureFixture[str]
) -> None:
    def solver(should_stop: ShouldStop, on_progress: Listener) -> Tours:
        on_progress(Progress(0.0, None, "compiling, once"))
        on_progress(Progress(0.1, None, "compiling, once"))
        on_progress(Progress(0.43, 14.5, stage="1 of 2 starts done"))
        return PLAN

    solve_with(solver)
    assert cli.main(ARGUMENTS) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["cost"] == pytest.approx(14.0)
    assert err == "flexpress: compiling, once\n"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_on_a_terminal_there_is_a_line(
    solve_with: Callable[[Solver], None],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    screen = Terminal()

    def solver(should_stop: ShouldStop, on_progress: Listener) -> Tours:
        on_progress(Progress(0.1, None, "compiling, once"))
        wait_until(lambda: "compiling, once" in screen.getvalue())
        on_progress(Progress(0.43, 14.5, stage="1 of 2 starts done"))
        wait_until(lambda: " 43%" in screen.getvalue())
        return PLAN

    for name, value in {"TERM": "xterm", "COLUMNS": "100", "NO_COLOR": "1"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stderr", screen)
    solve_with(solver)
    assert cli.main([*ARGUMENTS, "--solver", "search"]) == 0
    assert json.loads(capsys.readouterr().out)["cost"] == pytest.approx(14.0)
    shown = screen.getvalue()
    for piece in ("search", "compiling, once", "no plan yet", " 43%", "best 14.5 s", "1 of 2 "):
        assert piece in shown
