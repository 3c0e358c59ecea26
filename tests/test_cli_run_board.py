"""How far many runs are, on the terminal and in logs."""

from __future__ import annotations

import io
import sys
import time

import pytest

from flexpress.cli import run_board
from flexpress.cli.run_board import Board, PlainLines, shown, time_text


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Its last entry is the time."""
    moments = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: moments[-1])
    return moments


def test_the_time_left(clock: list[float]) -> None:
    board = Board(horizon=100, total=4, done=1, started=0.0)
    assert board.seconds_left is None
    assert board.line == "1 of 4 runs"
    board.begin("a", "first")
    board.begin("b", "second")
    for key in "ab":
        board.tell(key, 0, 0.1)
    clock.append(10.0)
    assert board.seconds_left is None
    board.tell("a", 50, 0.4)
    assert board.seconds_left == pytest.approx(50)  # 50 slots in 10 s, 250 are left
    board.tell("a", 100, 0.5)
    board.end("a")
    assert board.seconds_left == pytest.approx(20)  # 100 in 10 s, 200 are left
    assert board.line == "2 of 4 runs, 20 s left"
    for key in "bc":
        if key == "c":
            board.begin("c", "third")
            board.tell("c", 0, 0.1)
        board.tell(key, 100, 0.5)
        board.end(key)
    assert board.line == "4 of 4 runs, 0 s left"


def test_what_an_earlier_start_has_done_takes_no_time(clock: list[float]) -> None:
    board = Board(horizon=100, total=1, done=0, started=0.0)
    board.begin("a", "taken up again")
    board.tell("a", 80, 0.4)
    assert board.seconds_left is None
    clock.append(10.0)
    board.tell("a", 90, 0.4)
    assert board.seconds_left == pytest.approx(10)


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
    assert time_text(seconds) == text


def test_the_table(clock: list[float]) -> None:
    from rich.console import Console

    board = Board(horizon=2000, total=2, done=0, started=0.0)
    board.begin("a", "async sws")
    board.tell("a", 1500, 0.876)
    console = Console(width=100)
    for stopping, note in ((False, "0 of 2 runs"), (True, "stopping: what is done is kept")):
        with console.capture() as capture:
            console.print(board.table(stopping))
        lines = capture.get().splitlines()
        assert lines[1].split() == ["async", "sws", "1,500", "of", "2,000", "87.6%"]
        assert lines[-1].strip() == note


def test_plain_lines_now_and_then(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    board = Board(horizon=100, total=2, done=1, started=0.0)
    with shown(board, lambda: False) as refresh:
        assert isinstance(refresh, PlainLines)
        for moment in (1.0, run_board.PLAIN_SECONDS + 1, run_board.PLAIN_SECONDS + 2):
            clock.append(moment)
            refresh()
    assert capsys.readouterr().err == "flexpress: 1 of 2 runs\n"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_live_table_on_a_terminal(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    for name, value in {"TERM": "xterm", "COLUMNS": "100", "NO_COLOR": "1"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stderr", screen)
    board = Board(horizon=100, total=2, done=1, started=0.0)
    with shown(board, lambda: False) as refresh:
        board.begin("a", "async sws [fmnist]")
        board.tell("a", 0, 0.1)
        clock.append(10.0)
        board.tell("a", 25, 0.4)
        refresh()
    for piece in ("async sws [fmnist]", "25 of 100", "40.0%", "1 of 2 runs, 30 s left"):
        assert piece in screen.getvalue()
