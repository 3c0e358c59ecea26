"""Run folders read back: the same trace as the run had, whole or as far as it went."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple
from itertools import repeat
from pathlib import Path

import numpy as np
import pytest
from quadratic import Quadratic

from flexpress import DivergedError, InputError, Plan, Scenario, Trace, load_run, make_plan
from flexpress.files.provenance import Outputs
from flexpress.scenario import Algorithm, Clock
from flexpress.simulation.run_folder import run_in_folder
from flexpress.simulation.simulate import Simulation
from flexpress.simulation.stored_run import is_run, stored_scenario

# The horizon is no multiple of eval_every: the last measurement is no event.
VALLEY = Scenario.preset("valley").replace(run={"horizon": 70, "eval_every": 8, "head_start": 0.0})


@pytest.fixture(scope="module")
def plan() -> Plan:
    return make_plan(VALLEY, solver="exact")


def run(
    plan: Plan,
    folder: Path,
    scenario: Scenario = VALLEY,
    *,
    should_stop: Callable[[], bool] = lambda: False,
    learning_rate: float = 0.1,
) -> Trace:
    learner = Quadratic.drawn(VALLEY.client_ids, 7, learning_rate=learning_rate)
    return run_in_folder(Simulation(scenario, plan, learner), folder, should_stop=should_stop)


def after(calls: int) -> Callable[[], bool]:
    """Asks to stop when it has been asked so often."""
    answers = repeat(False, calls)
    return lambda: next(answers, True)


def assert_same(found: Trace, expected: Trace) -> None:
    assert found.timetable == expected.timetable
    assert (found.horizon, found.eval_every) == (expected.horizon, expected.eval_every)
    assert [astuple(m) for m in found.metrics] == [astuple(m) for m in expected.metrics]
    assert list(found.events()) == list(expected.events())
    assert found.model.dtype == expected.model.dtype
    assert np.array_equal(found.model, expected.model)


@pytest.mark.parametrize("clock", ["slots", "exact"])
@pytest.mark.parametrize("algorithm", ["sync", "async", "direct"])
def test_a_complete_run(algorithm: Algorithm, clock: Clock, plan: Plan, tmp_path: Path) -> None:
    scenario = VALLEY.replace(run={"algorithm": algorithm, "clock": clock})
    expected = run(plan, tmp_path, scenario)
    found = load_run(tmp_path)
    assert found.state == "complete"
    assert (found.folder, found.scenario, found.plan) == (tmp_path, scenario, plan)
    assert_same(found.trace, expected)
    assert found.trace.metrics[-1].slot == 70


@pytest.mark.parametrize("calls", [1, 40, 120])
def test_a_run_that_was_stopped(calls: int, plan: Plan, tmp_path: Path) -> None:
    expected = run(plan, tmp_path, should_stop=after(calls))
    found = load_run(str(tmp_path))
    assert found.state == "unfinished"
    assert_same(found.trace, expected)


def test_a_run_that_goes_on_while_it_is_read(plan: Plan, tmp_path: Path) -> None:
    """Lines behind the checkpoint do not count yet."""
    expected = run(plan, tmp_path, should_stop=after(40))
    for name, line in (("metrics.csv", "16,960.0,0."), ("trace.jsonl", '{"event": "vis')):
        with (tmp_path / name).open("a") as file:
            file.write(line)
    assert_same(load_run(tmp_path).trace, expected)


def test_a_run_that_diverged(plan: Plan, tmp_path: Path) -> None:
    with pytest.raises(DivergedError) as failure:
        run(plan, tmp_path, learning_rate=1e9)
    found = load_run(tmp_path)
    assert found.state == "diverged"
    assert isinstance(failure.value.trace, Trace)
    assert_same(found.trace, failure.value.trace)


def test_a_run_that_has_just_begun(plan: Plan, tmp_path: Path) -> None:
    run(plan, tmp_path, should_stop=after(1))
    (tmp_path / "checkpoint").unlink()
    found = load_run(tmp_path)
    assert (found.state, found.trace.metrics) == ("unfinished", ())
    assert list(found.trace.events()) == []


def test_no_run(tmp_path: Path, plan: Plan) -> None:
    with pytest.raises(InputError, match="holds no run; `flexpress simulate SCENARIO` makes one"):
        load_run(tmp_path)
    assert not is_run(tmp_path / "nowhere")
    VALLEY.save(tmp_path / "scenario-used.toml")  # such as `flexpress plan` writes
    assert not is_run(tmp_path)


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("metrics.csv", "slot,seconds,loss,accuracy\n", "metrics.csv: has no measurement, and"),
        ("metrics.csv", "slot,seconds\n1,x\n", "metrics.csv: is not a table of measurements"),
        ("model.npy", "nothing", "model.npy: damaged, or not a model"),
        ("model.npy", "", "model.npy: damaged, or not a model"),
        ("plan.json", "{}", "plan.json: "),
        ("scenario-used.toml", "a = [", "scenario-used.toml: not valid TOML"),
    ],
)
def test_damaged_files(name: str, content: str, expected: str, plan: Plan, tmp_path: Path) -> None:
    run(plan, tmp_path)
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=expected) as failure:
        load_run(tmp_path)
    assert "\n" not in str(failure.value)


def test_a_damaged_checkpoint(plan: Plan, tmp_path: Path) -> None:
    run(plan, tmp_path, should_stop=after(40))
    (tmp_path / "checkpoint").write_bytes(b"PK")
    with pytest.raises(InputError, match="checkpoint: damaged"):
        load_run(tmp_path)


def test_a_run_of_an_earlier_version_has_no_head_start(plan: Plan, tmp_path: Path) -> None:
    """Its scenario does not mention one, whatever the default is now."""
    now = VALLEY.replace(run={"head_start": 0.5, "preloaded": True})
    expected = run(plan, tmp_path / "new", now)
    found = load_run(tmp_path / "new").trace
    assert (found.head_start, found.timetable.preloaded) == (0.5, True)
    assert_same(found, expected)
    file = tmp_path / "new" / "scenario-used.toml"
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(x for x in lines if not x.startswith(("head_start", "preloaded"))))
    settings = stored_scenario(tmp_path / "new").run
    assert (settings.head_start, settings.preloaded) == (0.0, False)
    assert settings.horizon == now.run.horizon


@pytest.mark.parametrize("calls", [40, 10**9])
def test_a_run_of_an_earlier_version_is_read_as_it_was_flown(
    calls: int, plan: Plan, tmp_path: Path
) -> None:
    """Whole or not: its files, without the keys that there were not, are in order."""
    expected = run(plan, tmp_path, should_stop=after(calls))
    lines = (tmp_path / "scenario-used.toml").read_text().splitlines(keepends=True)
    before = "".join(x for x in lines if not x.startswith(("head_start", "preloaded")))
    assert "head_start" not in before
    Outputs("simulate").write(tmp_path, [("scenario-used.toml", before)])
    found = load_run(tmp_path)
    assert found.state == ("unfinished" if calls == 40 else "complete")
    assert (found.trace.head_start, found.trace.name) == (0.0, "sync")
    assert_same(found.trace, expected)
    assert found.scenario == VALLEY
    assert found.earlier
    assert Scenario.load(tmp_path / "scenario-used.toml").run.head_start == 0.5  # of a new run
