"""Runs that are killed, interrupted and taken up again leave the same bytes as undisturbed ones."""

from __future__ import annotations

import random
import signal
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from command_line import Run, cli
from killed_run import Ended, kill, run, start
from small_run import RESULTS, contents, write_scenario
from thinned import by_default

from flexpress.scenario import Algorithm

pytestmark = pytest.mark.usefixtures("blank_pictures")

HORIZON = 30
LONG = 1000
EVENTS = 200
"""Fewer than there are in a run."""


@dataclass(frozen=True)
class Whole:
    """An undisturbed run."""

    arguments: tuple[str, ...]
    results: dict[str, bytes]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    return undisturbed(tmp_path_factory.mktemp("whole"), "sync", HORIZON)


def undisturbed(folder: Path, algorithm: Algorithm, horizon: int, **run: object) -> Whole:
    scenario = folder / "four.toml"
    write_scenario(scenario, run={"horizon": horizon, "algorithm": algorithm, **run})
    arguments = ("simulate", str(scenario), "--json")
    assert cli.main([*arguments, "--out", str(folder / "whole")]) == 0
    results = contents(folder / "whole", RESULTS)
    assert results["trace.jsonl"].count(b"\n") > EVENTS
    return Whole(arguments, results)


def begin(whole: Whole, cwd: Path, event: int, *signals: signal.Signals) -> Ended:
    return run(*whole.arguments, "--out", "cut", cwd=cwd, event=event, signals=signals)


def assert_same_in_the_end(whole: Whole, resume: Run, *options: str) -> None:
    assert resume(*whole.arguments, "--out", "cut", *options).code == 0
    assert contents("cut", RESULTS) == whole.results


@pytest.fixture
def resume(run: Run) -> Run:
    """In this process; `run` is what disturbs another one here."""
    return run


@pytest.mark.slow
def test_killed_ten_times(whole: Whole, resume: Run, tmp_path: Path) -> None:
    """Each time some events after those that the last checkpoint has."""
    moments, kills = random.Random(1), 10
    for _ in range(kills):
        out = ("--out", "cut", "--resume")
        event = moments.randrange(1, EVENTS // kills)
        ended = run(*whole.arguments, *out, cwd=tmp_path, event=event, signals=[signal.SIGKILL])
        assert ended.code == -signal.SIGKILL, ended.err
    assert not (tmp_path / "cut" / "model.npy").exists()
    assert_same_in_the_end(whole, resume, "--resume")


def test_killed_after_a_checkpoint(whole: Whole, resume: Run, tmp_path: Path) -> None:
    """There is something to go on with, and more than that has been written."""
    assert begin(whole, tmp_path, 60, signal.SIGKILL).code == -signal.SIGKILL
    assert (tmp_path / "cut" / "checkpoint").exists()
    assert_same_in_the_end(whole, resume, "--resume")


@pytest.mark.parametrize("algorithm", by_default(1, ["async", "sync"]))
def test_killed_with_a_head_start(algorithm: Algorithm, resume: Run, tmp_path: Path) -> None:
    """Twice, with x^0 on board: the clients' last updates are in the checkpoint."""
    whole = undisturbed(tmp_path, algorithm, HORIZON, head_start=0.5, preloaded=True)
    for _ in range(2):
        out = ("--out", "cut", "--resume")
        ended = run(*whole.arguments, *out, cwd=tmp_path, event=60, signals=[signal.SIGKILL])
        assert ended.code == -signal.SIGKILL, ended.err
        with np.load(tmp_path / "cut" / "checkpoint") as content:
            assert "last-updates" in content.files
    assert not (tmp_path / "cut" / "model.npy").exists()
    assert_same_in_the_end(whole, resume, "--resume")


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("--resume",)])
def test_killed_before_the_first_checkpoint(
    whole: Whole, options: tuple[str, ...], resume: Run, tmp_path: Path
) -> None:
    """As if it had not been: it may be begun with or without --resume."""
    assert begin(whole, tmp_path, 10, signal.SIGKILL).code == -signal.SIGKILL
    assert not (tmp_path / "cut" / "checkpoint").exists()
    assert_same_in_the_end(whole, resume, *options)


@pytest.mark.parametrize("number", by_default(1, [signal.SIGINT, signal.SIGTERM]))
def test_interrupted_once(
    whole: Whole, number: signal.Signals, resume: Run, tmp_path: Path
) -> None:
    """It tells where it is and prints what there is."""
    ended = begin(whole, tmp_path, 60, number)
    assert ended.code == 130
    assert ended.err.startswith("flexpress: sync: interrupted at slot ")
    assert ended.err.endswith("; --resume continues it\n")
    assert '"complete": false' in ended.out
    assert (tmp_path / "cut" / "curves.png").exists()
    assert_same_in_the_end(whole, resume, "--resume")


@pytest.mark.slow
def test_interrupted_twice(whole: Whole, resume: Run, tmp_path: Path) -> None:
    """At once, whatever it is doing."""
    ended = begin(whole, tmp_path, 60, signal.SIGINT, signal.SIGINT)
    assert ended.code == 130
    assert "Traceback" not in ended.err
    assert_same_in_the_end(whole, resume, "--resume")


def test_two_at_once(whole: Whole, resume: Run, tmp_path: Path) -> None:
    """The second is turned away, and the first not disturbed."""
    arguments = (*whole.arguments, "--out", "cut", "--resume")
    with start("60", *arguments, cwd=tmp_path) as first:
        assert first.stdout
        assert first.stdout.readline() == "there\n"
        second = resume(*arguments)
        _, err = first.communicate("\n")
    assert second.code == 2
    assert second.err.startswith("flexpress: cut: another run is under way there; wait for it")
    assert (first.returncode, err) == (0, "")
    assert contents("cut", RESULTS) == whole.results


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["sync", "async"])
def test_killed_twenty_times(algorithm: Algorithm, tmp_path: Path) -> None:
    """At random moments of its life; one that is done makes room for the next."""
    whole = undisturbed(tmp_path, algorithm, LONG)
    begun = time.monotonic()
    assert run(*whole.arguments, "--out", "measured", cwd=tmp_path).code == 0
    seconds = time.monotonic() - begun
    moments, number, kills = random.Random(7), 0, 20
    while kills:
        out = ("--out", f"{number}", "--resume")
        ended = kill(*whole.arguments, *out, cwd=tmp_path, after=moments.uniform(0.3, 1) * seconds)
        assert ended.code in (0, -signal.SIGKILL), ended.err
        kills -= ended.code != 0
        number += ended.code == 0
    assert run(*whole.arguments, "--out", f"{number}", "--resume", cwd=tmp_path).code == 0
    for each in range(number + 1):
        assert contents(tmp_path / f"{each}", RESULTS) == whole.results
