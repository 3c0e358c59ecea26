"""The benchmark's own parts: reading TSPLIB, whole numbers for the peers, gaps in the table."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flexpress import Scenario, make_plan, record, simulate
from flexpress.planning import Problem

FOLDER = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def part(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Imports a file of the benchmarks, which are scripts and no package."""
    monkeypatch.syspath_prepend(str(FOLDER))
    return import_module


def test_tsplib_nodes(part: Any, tmp_path: Path) -> None:
    path = tmp_path / "two.tsp"
    path.write_text("NAME: two\nNODE_COORD_SECTION\n1 3 4\n2 6.5e1 -2\nEOF\n")
    assert part("instances").read_tsplib(path) == [[3.0, 4.0], [65.0, -2.0]]


def test_a_missing_tsplib_file_is_told(
    part: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    instances = part("instances")
    monkeypatch.setattr(instances, "find_tsplib", lambda name: None)
    case = instances.tsplib_case("eil51", 3)
    assert case.label == "uniform 51 (eil51.tsp not found), m=3, minmax"
    assert case.problem.num_clients == 50


def test_whole_numbers_keep_the_budget(part: Any) -> None:
    """What fits the rounded budget fits the real one, and times are rounded by a millionth."""
    problem = Problem.of(Scenario.preset("valley"))
    kinds = part("integers").transporters(problem)
    assert [numbers for _, numbers in kinds] == [[0], [1], [2]]
    rng = np.random.default_rng(0)
    for kind, (k,) in kinds:
        tour = rng.permutation(np.arange(1, 13))[:6].tolist()
        stops = [0, *tour, 0]
        energy = sum(int(kind.energies[i, j]) for i, j in pairwise(stops))
        time = sum(int(kind.times[i, j]) for i, j in pairwise(stops))
        assert energy / kind.budget >= problem.energy(k, tour) / problem.budgets[k]
        assert energy / kind.budget == pytest.approx(
            problem.energy(k, tour) / problem.budgets[k], rel=1e-5
        )
        scale = 1e6 / (problem.distances().max() * problem.time_per_metre.max())
        assert time == pytest.approx(problem.round_trip(k, tour) * scale, rel=1e-5)


def test_equal_transporters_are_one_kind(part: Any) -> None:
    kinds = part("integers").transporters(Problem.of(Scenario.preset("paper")))
    assert [numbers for _, numbers in kinds] == [[0, 1, 2, 3]]


def test_gaps_and_holes_of_a_row(part: Any) -> None:
    table, measurement = part("table"), part("measure").Measurement
    row = table.comparison_row(
        "case, total",
        [
            measurement(100.0, 10.0, 9.96, 200.0),
            measurement(101.5, 10.0, 10.0, 200.0),
            measurement(None, 3.0, 3.0, 200.0),
            None,
        ],
    )
    assert row[1:] == [
        "100.00 best, 10.0 / 10.0 s",
        "101.50 +1.50 %, 10.0 / 10.0 s",
        "none found, 3.0 / 3.0 s",
        "-",
    ]


@pytest.mark.parametrize("channels_last", [False, True])
def test_both_do_the_same_local_steps(part: Any, channels_last: bool) -> None:
    pytest.importorskip("torch")
    learning = part("learning")
    architecture = learning.lenet((1, 28, 28), 10)
    task, model = learning.make_task(architecture, 20), learning.make_model(architecture)
    learner = learning.FastLearner(task, architecture, model)
    (update,) = learner.train([learning.Job(1, model, 0, learning.NUM_STEPS)])
    train = learning.torch_loop(task, architecture, model, channels_last=channels_last)
    assert np.abs(update).max() > 1e-3
    assert np.abs(model - update - train()).max() < 1e-6


def test_calls_of_a_recording_are_counted(part: Any) -> None:
    """None in a plain run; otherwise a step for each slot, and more."""
    recording, four = part("recording"), Scenario.preset("four")
    plan = make_plan(four, solver="exact")
    plain = recording.calls_of_recording(lambda: simulate(four, plan, recording.Idle(), horizon=20))
    recorded = recording.calls_of_recording(
        lambda: record(four, plan, recording.Idle(), horizon=20)
    )
    assert plain == 0
    assert recorded > 20


@pytest.mark.slow
def test_a_short_run_without_peers() -> None:
    options = ["--quick", "--seconds", "0.2", "--only", "paper, 15 kJ, minmax"]
    command = [sys.executable, str(FOLDER / "run.py"), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "First call of `search`, wall / CPU: " in done.stdout
    assert "PyVRP is left out: " in done.stdout or "pyvrp " in done.stdout
    assert "| paper, 15 kJ, minmax " in done.stdout
