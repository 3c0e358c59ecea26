"""Runs that are killed, interrupted and taken up again leave the same bytes as undisturbed ones."""

from __future__ import annotations

import random
import signal
from dataclasses import dataclass
from pathlib import Path

import pytest
from killed_run import Ended, run, start, wait_for
from small_run import RESULTS, contents, write_scenario

from flexpress.scenario import Algorithm

HORIZON = 1000


@dataclass(frozen=True)
class Whole:
    """An undisturbed run."""

    arguments: tuple[str, ...]
    results: dict[str, bytes]
    began: float  # seconds until there was a folder
    seconds: float  # of the whole process


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    return undisturbed(tmp_path_factory.mktemp("whole"), "sync")


def undisturbed(folder: Path, algorithm: Algorithm) -> Whole:
    """Once more if something had to be compiled: that must not count."""
    write_scenario(folder / "four.toml", run={"horizon": HORIZON, "algorithm": algorithm})
    arguments = ("simulate", str(folder / "four.toml"), "--json")
    for name in ("whole", "again"):
        seen = folder / name / "metrics.csv"
        ended = run(*arguments, "--out", name, cwd=folder, seen=seen)
        assert ended.code == 0, ended.err
        if "compiling" not in ended.err:
            break
    results = contents(folder / name, RESULTS)
    return Whole(arguments, results, ended.began, ended.seconds)


def kill_again_and_again(whole: Whole, cwd: Path, kills: int, seed: int) -> int:
    """At random moments of a run's life; one that is done makes room for the next.

    In the end all of them are the same as the undisturbed one; how many there were.
    """
    moments, number = random.Random(seed), 0
    while kills:
        after = moments.uniform(0.8 * whole.began, whole.seconds)
        out = ("--out", f"{number}", "--resume")
        ended = run(*whole.arguments, *out, cwd=cwd, signals=[signal.SIGKILL], after=after)
        assert ended.code in (0, -signal.SIGKILL), ended.err
        kills -= ended.code != 0
        number += ended.code == 0
    assert run(*whole.arguments, "--out", f"{number}", "--resume", cwd=cwd).code == 0
    for each in range(number + 1):
        assert contents(cwd / f"{each}", RESULTS) == whole.results
    return number + 1


def begin(whole: Whole, cwd: Path, *signals: signal.Signals, seen: str = "checkpoint") -> Ended:
    """Disturbed a little after this file is there."""
    return run(
        *whole.arguments,
        "--out",
        "cut",
        cwd=cwd,
        signals=signals,
        after=0.1,
        seen=cwd / "cut" / seen,
    )


def assert_same_in_the_end(whole: Whole, cwd: Path) -> None:
    assert run(*whole.arguments, "--out", "cut", "--resume", cwd=cwd).code == 0
    assert contents(cwd / "cut", RESULTS) == whole.results


def test_killed_three_times(whole: Whole, tmp_path: Path) -> None:
    assert kill_again_and_again(whole, tmp_path, kills=3, seed=1) > 0


@pytest.mark.slow
def test_killed_while_it_writes(whole: Whole, tmp_path: Path) -> None:
    """After the first checkpoint: there is something to go on with."""
    ended = begin(whole, tmp_path, signal.SIGKILL)
    assert ended.code == -signal.SIGKILL
    assert not (tmp_path / "cut" / "model.npy").exists()
    size = (tmp_path / "cut" / "trace.jsonl").stat().st_size
    assert 0 < size < len(whole.results["trace.jsonl"])
    assert_same_in_the_end(whole, tmp_path)


@pytest.mark.slow
def test_killed_before_the_first_checkpoint(whole: Whole, tmp_path: Path) -> None:
    """As if it had not been: it may be begun with or without --resume."""
    run(
        *whole.arguments,
        "--out",
        "cut",
        cwd=tmp_path,
        signals=[signal.SIGKILL],
        seen=tmp_path / "cut" / "metrics.csv",
    )
    assert not (tmp_path / "cut" / "checkpoint").exists()
    assert run(*whole.arguments, "--out", "cut", cwd=tmp_path).code == 0
    assert contents(tmp_path / "cut", RESULTS) == whole.results


@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)]
)
def test_interrupted_once(whole: Whole, tmp_path: Path, number: signal.Signals) -> None:
    """It tells where it is and prints what there is."""
    ended = begin(whole, tmp_path, number)
    assert ended.code == 130
    assert ended.err.startswith("flexpress: sync: interrupted at slot ")
    assert ended.err.endswith("; --resume goes on\n")
    assert '"complete": false' in ended.out
    assert (tmp_path / "cut" / "curves.png").exists()
    assert_same_in_the_end(whole, tmp_path)


@pytest.mark.slow
def test_interrupted_twice(whole: Whole, tmp_path: Path) -> None:
    """At once, whatever it is doing."""
    ended = begin(whole, tmp_path, signal.SIGINT, signal.SIGINT)
    assert ended.code == 130
    assert "Traceback" not in ended.err
    assert_same_in_the_end(whole, tmp_path)


def test_two_at_once(whole: Whole, tmp_path: Path) -> None:
    """The second is turned away, and the first not disturbed."""
    arguments = (*whole.arguments, "--out", "cut", "--resume")
    with start(*arguments, cwd=tmp_path) as first:
        wait_for(first, tmp_path / "cut" / "checkpoint")
        second = run(*arguments, cwd=tmp_path)
        assert first.wait() == 0
        for stream in (first.stdout, first.stderr):
            assert stream
            stream.read()
    if second.code == 2:
        assert second.err.startswith("flexpress: cut: another run is under way there; wait for it")
    else:  # it came when the first was done
        assert second.code == 0
    assert contents(tmp_path / "cut", RESULTS) == whole.results


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["sync", "async"])
def test_killed_twenty_times(algorithm: Algorithm, tmp_path: Path) -> None:
    (tmp_path / "whole").mkdir()
    whole = undisturbed(tmp_path / "whole", algorithm)
    assert kill_again_and_again(whole, tmp_path, kills=20, seed=7) > 1
