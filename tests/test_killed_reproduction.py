"""A reproduction that is killed at any time and started again: the same page, bit for bit."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from process_group import PATIENCE, Started, living, looked_up, wait_until
from small_reproduction import PROGRESS, reproduce, reproducing, written

OPTIONS = ("--figure", "network", "--figure", "iid-fmnist", "--networks", "1")
NUM_RUNS = 4
DELAY = 0.3
"""Seconds, at most, from the moment that is waited for to the end."""

MOMENTS: tuple[tuple[str, int], ...] = (
    ("", 1),  # the program has just begun
    ("runs/*/metrics.csv", 1),
    ("runs/*/checkpoint", 1),
    ("runs/*/model.npy", 1),
    ("runs/*/model.npy", 3),
    ("runs/*/model.npy", NUM_RUNS),  # the page is being made
    ("figures/*", 1),
)
"""So many files that match are there: in the order in which they come about."""


def kill(process: Started) -> None:
    process.send_signal(signal.SIGKILL)


def kill_all(process: Started) -> None:
    """As when there is no memory, or no power, left."""
    os.killpg(process.pid, signal.SIGKILL)


def reached(folder: Path, pattern: str, count: int) -> bool:
    return not pattern or len(list(folder.glob(pattern))) >= count


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("undisturbed")
    assert reproduce(folder, *OPTIONS) == []
    return written(folder)


def disturb(folder: Path, pattern: str, count: int, delay: float, end: Callable[..., None]) -> bool:
    """Whether it was killed: it may have come to its end before."""
    with reproducing(folder, *OPTIONS) as process:
        wait_until(lambda: process.poll() is not None or reached(folder, pattern, count))
        time.sleep(delay)
        if process.poll() is None:
            end(process)
        process.wait(PATIENCE)
        wait_until(lambda: living(process.pid) == [])  # no worker outlives it
    return process.returncode == -signal.SIGKILL


@pytest.mark.slow
@looked_up
@pytest.mark.parametrize("end", [kill, kill_all])
def test_killed_again_and_again(
    end: Callable[..., None], undisturbed: dict[str, bytes], tmp_path: Path
) -> None:
    delays = random.Random(end.__name__)
    killed = [disturb(tmp_path, *moment, delays.uniform(0, DELAY), end) for moment in MOMENTS]
    assert all(killed[:-2])  # all that were to happen before there was a page
    assert reproduce(tmp_path, *OPTIONS) == []
    assert written(tmp_path) == undisturbed


@pytest.mark.slow
def test_interrupted_and_started_again(undisturbed: dict[str, bytes], tmp_path: Path) -> None:
    """Ctrl-C, which a terminal sends to all; with one run at a time there are some left."""
    with reproducing(tmp_path, *OPTIONS, "--jobs", "1") as process:
        wait_until(lambda: reached(tmp_path, "runs/*/metrics.csv", 1))
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    *progress, last = err.splitlines()
    assert (process.returncode, out) == (130, "")
    assert last.startswith("flexpress: interrupted: ")
    assert last.endswith("; start again to resume")
    assert all(PROGRESS.fullmatch(line) for line in progress)
    assert not (tmp_path / "report.html").exists()
    assert reproduce(tmp_path, *OPTIONS) == []
    assert written(tmp_path) == undisturbed
