"""How far many runs are, on the terminal and in logs."""

from __future__ import annotations

import io
import os
import signal
import sys
import time

import pytest
from process_group import wait_until

from flexpress.cli import progress
from flexpress.cli.progress import _Pace, _time_text, watched
from flexpress.simulation import RunProgress, RunsProgress


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Its last entry is the time."""
    moments = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: moments[-1])
    return moments


def runs(done: int, total: int, **slots: int) -> RunsProgress:
    """Slots of those under way; -1: it has not reported yet."""
    running = [RunProgress(n, max(s, 0), 100, None if s < 0 else 0.4) for n, s in slots.items()]
    return RunsProgress(done, total, tuple(running))


def test_the_time_left(clock: list[float]) -> None:
    pace = _Pace()
    assert pace.line(runs(1, 4)) == "1 of 4 runs"
    assert pace.line(runs(1, 4, a=-1, b=-1)) == "1 of 4 runs"
    assert pace.line(runs(1, 4, a=0, b=0)) == "1 of 4 runs"
    clock.append(10.0)
    assert pace.line(runs(1, 4, a=0, b=0)) == "1 of 4 runs"
    assert pace.line(runs(1, 4, a=50, b=0)) == "1 of 4 runs, 50 s left"  # 50 in 10 s, 250 are left
    pace.line(runs(1, 4, a=100, b=0))
    assert pace.line(runs(2, 4, b=0)) == "2 of 4 runs, 20 s left"  # 100 in 10 s, 200 are left
    for slots in ({"b": 100}, {}, {"c": -1}, {"c": 0}, {"c": 100}):
        pace.line(runs(2 if "b" in slots else 3, 4, **slots))
    assert pace.line(runs(4, 4)) == "4 of 4 runs, 0 s left"


def test_what_an_earlier_start_has_done_takes_no_time(clock: list[float]) -> None:
    pace = _Pace()
    pace.line(runs(0, 1, a=-1))
    assert pace.line(runs(0, 1, a=80)) == "0 of 1 runs"
    clock.append(10.0)
    assert pace.line(runs(0, 1, a=90)) == "0 of 1 runs, 10 s left"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.4, "0 s"),
        (59.4, "59 s"),
        (59.7, "1 min"),  # not 60 s
        (60, "1 min"),
        (3569, "59 min"),
        (3600, "1 h 00 min"),
        (7500, "2 h 05 min"),
    ],
)
def test_times(seconds: float, text: str) -> None:
    assert _time_text(seconds) == text


def test_plain_lines_now_and_then(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    with watched("reproduce") as screen:
        for moment in (1.0, progress._PLAIN_SECONDS + 1, progress._PLAIN_SECONDS + 2):
            clock.append(moment)
            screen.reproducing(runs(1, 2))
    assert capsys.readouterr().err == "flexpress: 1 of 2 runs\n"


def test_plain_lines_of_one_run(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    with watched("plan") as screen:
        for moment in (1.0, progress._PLAIN_SECONDS + 1, progress._PLAIN_SECONDS + 2):
            clock.append(moment)
            screen.running(RunProgress("sync", 20, 2000, 0.123))
    assert capsys.readouterr().err == "flexpress: sync: slot 20 of 2,000, accuracy 12.3%\n"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Takes the place of standard error."""
    for name, value in {"TERM": "xterm", "COLUMNS": "120", "NO_COLOR": "1"}.items():
        monkeypatch.setenv(name, value)
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    return screen


def test_a_line_for_each_run_on_a_terminal(
    clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = terminal(monkeypatch)
    with watched("reproduce") as screen:
        screen.reproducing(runs(1, 2, **{"async sws [fmnist]": 0}))
        clock.append(10.0)
        screen.reproducing(runs(1, 2, **{"async sws [fmnist]": 25}))
    for piece in ("async sws [fmnist]", "slot 25 of 100", "40.0%", "1 of 2 runs, 30 s left"):
        assert piece in shown.getvalue()


def test_the_line_of_a_run_that_is_over_is_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = terminal(monkeypatch)
    with watched("reproduce") as screen:
        screen.reproducing(runs(0, 2, first=50))
        wait_until(lambda: "first" in shown.getvalue())
        screen.reproducing(runs(1, 2, second=50))
        wait_until(lambda: "second" in shown.getvalue())
        seen = len(shown.getvalue())
        wait_until(lambda: "second" in shown.getvalue()[seen:])
        assert "first" not in shown.getvalue()[seen:].split("\x1b[2K", 1)[-1]


def test_while_runs_are_under_way_ctrl_c_is_a_request(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = terminal(monkeypatch)
    with watched("reproduce") as screen:
        screen.reproducing(runs(0, 2, a=50))
        os.kill(os.getpid(), signal.SIGINT)
        wait_until(lambda: "stopping; Ctrl-C again aborts" in shown.getvalue())
        assert screen.should_stop()


@pytest.mark.parametrize("begun", [False, True])
def test_before_and_after_the_runs_ctrl_c_aborts(begun: bool) -> None:
    def press() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        wait_until(lambda: False)

    with watched("reproduce") as screen:
        if begun:
            screen.reproducing(runs(1, 2, a=50))
            screen.reproducing(runs(2, 2))
        with pytest.raises(KeyboardInterrupt):
            press()
