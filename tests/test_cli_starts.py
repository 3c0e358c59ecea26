"""`flexpress plan --starts`: its plan, Ctrl-C, and that no process outlives it."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest
from command_line import Run
from endless_plan import planning_for_ever
from process_group import PATIENCE, living, looked_up, wait_until

from flexpress import Scenario, load_plan, make_plan
from flexpress.planning.starts import _start_seeds


@pytest.mark.slow
def test_the_plan_is_as_from_python_and_valid(run: Run) -> None:
    given = ("--iterations", "300", "--starts", "3", "--jobs", "2")
    outcome = run("plan", "paper", *given, "--json", "--out", "out")
    assert (outcome.code, outcome.err) == (0, "")
    printed = json.loads(outcome.out)
    paper = Scenario.preset("paper")
    plans = [make_plan(paper, iterations=300, seed=seed) for seed in _start_seeds(paper.seed, 3)]
    best = min(plans, key=lambda plan: plan.cost)
    assert (printed["cost"], printed["seed"]) == (best.cost, best.seed)
    assert load_plan("out/plan.json", paper).transporters == best.transporters


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--starts", "0"], "starts = 0: must be a whole number from 1 to 10,000"),
        (["--jobs", "-1"], "jobs = -1: must be a whole number of at least 1"),
        (["--starts", "2", "--solver", "exact"], "starts = 2: the solver exact finds the optimum"),
    ],
)
def test_mistakes(arguments: list[str], message: str, run: Run) -> None:
    outcome = run("plan", "four", *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(f"flexpress: {message}")
    assert outcome.err.count("\n") == 1


@looked_up
@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_it_gives_the_best_so_far(number: signal.Signals, tmp_path: Path) -> None:
    """All processes get the signal, as from a terminal or from `timeout`."""
    with planning_for_ever(tmp_path) as process:
        os.killpg(process.pid, number)
        out, err = process.communicate(timeout=PATIENCE)
        wait_until(lambda: living(process.pid) == [])
    assert (process.returncode, err) == (0, "flexpress: interrupted: best plan so far\n")
    plan = json.loads(out)
    assert plan["feasible"]
    assert plan["seed"] in _start_seeds(Scenario.preset("paper").seed, 2)


@looked_up
@pytest.mark.slow
def test_killed_it_leaves_no_process(tmp_path: Path) -> None:
    with planning_for_ever(tmp_path) as process:
        process.send_signal(signal.SIGKILL)
        process.wait()
        wait_until(lambda: living(process.pid) == [])
