"""Runs read back from their folders, and how good they were."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from made_results import curve, flat

from flexpress.errors import DivergedError, InputError
from flexpress.experiments.figures import ASYNC, SYNC
from flexpress.experiments.protocol import protocol
from flexpress.experiments.results import Result, Results, read_result, read_results
from flexpress.experiments.run import Run
from flexpress.experiments.study import Study
from flexpress.learning import Job, Vector
from flexpress.planning import make_plan
from flexpress.scenario import Scenario
from flexpress.simulation.compare import simulate
from flexpress.simulation.run_folder import run_in_folder
from flexpress.simulation.simulate import Simulation
from flexpress.simulation.trace import Measurement

FOUR = Scenario.preset("four").replace(plan={"solver": "exact"})
PLAN = make_plan(FOUR)


@dataclass(frozen=True)
class Rising:
    """A model of one number, which every local step raises by one; past `end` its loss is lost."""

    end: float = np.inf

    def initial_model(self) -> Vector:
        return np.zeros(1)

    def train(self, jobs: Sequence[Job]) -> Vector:
        return np.array([[-float(job.num_steps)] for job in jobs])

    def evaluate(self, model: Vector) -> tuple[float, float]:
        steps = float(model[0])
        return (np.inf if steps > self.end else 1 / (1 + steps)), steps / (10 + steps)


def make_run(folder: Path, learner: Rising, horizon: int = 25) -> Path:
    """Measured every 10 slots, and at the horizon."""
    scenario = FOUR.replace(run={"horizon": horizon, "eval_every": 10})
    try:
        run_in_folder(Simulation(scenario, PLAN, learner), folder)
    except DivergedError:
        assert np.isfinite(learner.end)
    return folder


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("runs") / "finished", Rising())


@pytest.fixture(scope="module")
def diverged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("runs") / "diverged", Rising(end=12.0))


def test_a_finished_run(finished: Path) -> None:
    result = read_result(finished)
    trace = simulate(FOUR.replace(run={"horizon": 25, "eval_every": 10}), PLAN, Rising())
    assert result.complete
    assert (result.horizon, result.last_slot) == (25, 25)
    assert result.metrics == trace.metrics
    assert [each.slot for each in result.metrics] == [0, 10, 20, 25]


def test_a_diverged_run(diverged: Path) -> None:
    """Tours last a slot, and at slot 10 all steps but those of the last one are there: 9."""
    result = read_result(diverged)
    assert not result.complete
    assert (result.horizon, result.last_slot) == (25, 10)
    assert [each.accuracy for each in result.metrics] == [0.0, pytest.approx(9 / 19)]


def stop_at_once() -> bool:
    return True


def test_a_run_that_is_not_over(tmp_path: Path) -> None:
    simulation = Simulation(FOUR.replace(run={"horizon": 25}), PLAN, Rising())
    run_in_folder(simulation, tmp_path, should_stop=stop_at_once)
    with pytest.raises(InputError, match=f"{tmp_path}: its run is not over; start again"):
        read_result(tmp_path)


def test_no_run_at_all(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"{tmp_path}: its run is not over; start again"):
        read_result(tmp_path)


def last_line_gone(text: str) -> str:
    return "".join(text.splitlines(keepends=True)[:-1])


DAMAGES: dict[str, tuple[Callable[[str], str], str]] = {
    "empty": (lambda text: "", "was changed after its run"),
    "only a head": (lambda text: text.splitlines()[0] + "\n", "has no measurement, and its run"),
    "another head": (lambda text: text.replace("loss", "mood"), "was changed after its run"),
    "first line gone": (lambda text: text.replace("0,0.0,1.0,0.0\n", "", 1), "no measurement at"),
    "last line gone": (last_line_gone, "ends at slot 20, and its run ended at slot 25"),
    "half a line": (lambda text: text[:-4], "was changed after its run"),
    "a column too many": (lambda text: text[:-1] + ",7\n", "is not a table of measurements"),
    "a word": (lambda text: text.replace("20,", "twenty,", 1), "is not a table of measurements"),
    "twice": (lambda text: text + text.splitlines()[-1] + "\n", "goes back in time after slot 25"),
    "no time": (lambda text: text.replace("10,600.0", "10,0.0"), "goes back in time after slot 0"),
    "not finite": (lambda text: text.replace("0,0.0,1.0", "0,0.0,inf", 1), "numbers at slot 0"),
    "too good": (lambda text: text.replace("1.0,0.0\n", "1.0,1.5\n", 1), "numbers at slot 0"),
    "another spelling": (
        lambda text: text.replace("1.0,0.0\n", "1,0\n", 1),
        "was changed after its run",
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_table(damage: str, finished: Path, tmp_path: Path) -> None:
    change, words = DAMAGES[damage]
    folder = shutil.copytree(finished, tmp_path / "run")
    before = (folder / "metrics.csv").read_text()
    after = change(before)
    assert after != before
    (folder / "metrics.csv").write_text(after)
    with pytest.raises(InputError, match=words) as caught:
        read_result(folder)
    assert str(caught.value).startswith(f"{folder / 'metrics.csv'}: ")
    assert "\n" not in str(caught.value)


def test_a_diverged_run_whose_table_was_cut(diverged: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(diverged, tmp_path / "run")
    table = folder / "metrics.csv"
    table.write_text(last_line_gone(table.read_text()))
    with pytest.raises(InputError, match=r"was changed after .*; or delete the folder of this run"):
        read_result(folder)


def test_a_diverged_run_may_have_lines_that_do_not_count(diverged: Path, tmp_path: Path) -> None:
    """Its checkpoint knows how many do."""
    folder = shutil.copytree(diverged, tmp_path / "run")
    with (folder / "metrics.csv").open("a") as file:
        file.write("20,1200.0,1.0,0.9\n")
    assert read_result(folder).last_slot == 10


def test_mean_accuracy_by_hand() -> None:
    """0 to 0.4 in 50 slots, to 0.6 in 50 more: (0.2 + 0.5) / 2."""
    assert curve(0.0, 0.4, 0.6).mean_accuracy == pytest.approx(0.35)
    assert flat(0.7).mean_accuracy == pytest.approx(0.7)


def test_mean_accuracy_of_uneven_measurements() -> None:
    points = ((0, 0.2), (10, 0.4), (40, 0.8))
    metrics = tuple(Measurement(slot, 60.0 * slot, 0.0, accuracy) for slot, accuracy in points)
    result = Result(40, True, metrics)
    assert result.mean_accuracy == pytest.approx((10 * 0.3 + 30 * 0.6) / 40)


def test_a_diverged_run_guesses_for_the_rest() -> None:
    assert curve(0.5, 0.5, 0.5, complete=False).mean_accuracy == pytest.approx(
        0.9 * 0.5 + 0.1 * 0.1
    )


def test_the_best_accuracy() -> None:
    assert curve(0.1, 0.5, 0.4, 0.6, 0.5).best_accuracy == 0.6


def test_the_final_accuracy_is_that_of_the_last_tenth() -> None:
    rising = curve(*np.linspace(0.0, 1.0, 21).tolist())
    assert rising.final_accuracy == pytest.approx((0.9 + 0.95 + 1.0) / 3)
    assert curve(0.1, 0.4).final_accuracy == pytest.approx(0.4)
    assert curve(0.1, 0.4, complete=False).final_accuracy == 0.1  # it diverged, and guesses


def small_study() -> Study:
    """Two cases of the same key, and one of another; the folders are given those names."""
    run = Run(ASYNC, 0, 1, FOUR, PLAN)
    keys = {(ASYNC, 0, 1): "a", (SYNC, 0, 1): "a", (ASYNC, 0, 2): "b"}
    return Study(protocol().full, (0,), 2, {"a": run, "b": run}, keys, {})


def test_results_of_a_study(tmp_path: Path, finished: Path, diverged: Path) -> None:
    shutil.copytree(finished, tmp_path / "a")
    shutil.copytree(diverged, tmp_path / "b")
    results = read_results(small_study(), tmp_path)
    assert list(results.by_case) == list(small_study().keys)
    assert results.by_case[ASYNC, 0, 1] is results.by_case[SYNC, 0, 1]
    of_async = results.of(ASYNC)
    assert {cell: run.complete for cell, run in of_async.items()} == {(0, 1): True, (0, 2): False}
    assert list(results.of(SYNC)) == [(0, 1)]


def test_results_of_a_study_with_a_missing_run(tmp_path: Path, finished: Path) -> None:
    shutil.copytree(finished, tmp_path / "a")
    with pytest.raises(InputError, match=f"{tmp_path / 'b'}: its run is not over"):
        read_results(small_study(), tmp_path)


def test_no_results() -> None:
    assert Results({}).of(ASYNC) == {}
