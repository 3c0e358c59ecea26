"""`flexpress plan --starts`: its plan, Ctrl-C, and that no process outlives it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from command_line import Run
from small_run import environment

from flexpress import Scenario, load_plan, make_plan
from flexpress.planning.starts import start_seeds

PROGRAM = "import sys; from flexpress.cli import main; sys.exit(main(sys.argv[1:]))"
ENDLESS = ("plan", "paper", "--iterations", "1000000000", "--starts", "3", "--jobs", "2", "--json")
SPENT = 300
"""Ticks of processor time: more than a worker needs to begin, compiled code at hand."""


def test_the_plan_is_as_from_python_and_valid(run: Run) -> None:
    given = ("--iterations", "300", "--starts", "3", "--jobs", "2")
    outcome = run("plan", "paper", *given, "--json", "--out", "out")
    assert (outcome.code, outcome.err) == (0, "")
    printed = json.loads(outcome.out)
    paper = Scenario.preset("paper")
    plans = [make_plan(paper, iterations=300, seed=seed) for seed in start_seeds(paper.seed, 3)]
    best = min(plans, key=lambda plan: plan.cost)
    assert (printed["cost"], printed["seed"]) == (best.cost, best.seed)
    assert load_plan("out/plan.json", paper).transporters == best.transporters


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--starts", "0"], "starts = 0: must be a whole number from 1 to 10,000"),
        (["--jobs", "-1"], "jobs = -1: must be at least 1"),
        (["--starts", "2", "--solver", "exact"], "starts = 2: the solver exact finds the optimum"),
    ],
)
def test_mistakes(arguments: list[str], message: str, run: Run) -> None:
    outcome = run("plan", "four", *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(f"flexpress: {message}")
    assert outcome.err.count("\n") == 1


@contextmanager
def endless(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """In a process group of its own, as from a terminal; nothing of it is left if a test fails."""
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *ENDLESS],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env=environment(),
        start_new_session=True,
    ) as process:
        try:
            yield process
        except BaseException:
            for pid in group(process.pid):
                os.kill(pid, signal.SIGKILL)
            raise


def group(leader: int) -> dict[int, int]:
    """Processes of this group that live, and the ticks they have worked."""
    found = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, its, *rest = path.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(its) == leader and state != "Z":
            found[int(path.parent.name)] = int(rest[8]) + int(rest[9])  # user and system time
    return found


def wait_until(true: Callable[[], bool], seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def both_at_work(leader: int) -> bool:
    """Two workers, besides the leader, have worked for long enough to have a plan."""
    ticks = [spent for pid, spent in group(leader).items() if pid != leader]
    return sum(spent > SPENT for spent in ticks) == 2


looked_up = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc")


@looked_up
@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_it_gives_the_best_so_far(number: signal.Signals, tmp_path: Path) -> None:
    """All processes get the signal, as from a terminal or from `timeout`."""
    with endless(tmp_path) as process:
        wait_until(lambda: both_at_work(process.pid))
        os.killpg(process.pid, number)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "flexpress: interrupted: best plan so far\n")
    plan = json.loads(out)
    assert plan["feasible"]
    assert plan["seed"] in start_seeds(Scenario.preset("paper").seed, 2)
    wait_until(lambda: group(process.pid) == {})


@looked_up
@pytest.mark.slow
def test_killed_it_leaves_no_process(tmp_path: Path) -> None:
    with endless(tmp_path) as process:
        wait_until(lambda: both_at_work(process.pid))
        process.send_signal(signal.SIGKILL)
        process.wait()
    wait_until(lambda: group(process.pid) == {})
