"""Runs in folders: interrupted anywhere and taken up again, they leave the same bytes."""

from __future__ import annotations

import csv
import json
import os
import random
import resource
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from quadratic import Quadratic

from flexpress.errors import DivergedError, InputError
from flexpress.files.provenance import RECORD
from flexpress.learning import Vector
from flexpress.planning import Plan, make_plan
from flexpress.scenario import Algorithm, Clock, Scenario
from flexpress.simulation import run_files, run_lines
from flexpress.simulation.compare import simulate
from flexpress.simulation.deliveries import Deliveries
from flexpress.simulation.run_files import RUN_FILES, Header, _save_checkpoint
from flexpress.simulation.run_folder import run_in_folder
from flexpress.simulation.simulate import Simulation

KEPT = ("trace.jsonl", "metrics.csv", "model.npy", "checkpoint", "scenario-used.toml", "plan.json")
ALGORITHMS: list[Algorithm] = ["sync", "async", "direct"]
CLOCKS: list[Clock] = ["slots", "exact"]

VALLEY = Scenario.preset("valley").replace(run={"horizon": 70, "eval_every": 8, "head_start": 0.0})


@pytest.fixture(scope="module")
def plan() -> Plan:
    return make_plan(VALLEY, iterations=2000)


def learner(learning_rate: float = 0.1) -> Quadratic:
    return Quadratic.drawn(VALLEY.client_ids, 7, learning_rate=learning_rate)


def run(
    plan: Plan,
    folder: Path,
    scenario: Scenario = VALLEY,
    *,
    resume: bool = False,
    should_stop: Callable[[], bool] = lambda: False,
) -> Simulation:
    simulation = Simulation(scenario, plan, learner())
    run_in_folder(simulation, folder, resume=resume, should_stop=should_stop)
    return simulation


def after(calls: int) -> Callable[[], bool]:
    """Asks to stop when it has been asked so often."""
    answers = iter([False] * calls)
    return lambda: next(answers, True)


def contents(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in KEPT}


def lines_of(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / "trace.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("clock", CLOCKS)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_stopped_anywhere_and_resumed(
    algorithm: Algorithm, clock: Clock, plan: Plan, tmp_path: Path
) -> None:
    scenario = VALLEY.replace(run={"algorithm": algorithm, "clock": clock})
    run(plan, tmp_path / "whole", scenario)
    moments = random.Random(algorithm + clock)
    stops = 0
    while not (tmp_path / "cut" / "model.npy").exists():
        stop = after(moments.randrange(1, 60 if algorithm != "direct" else 8))
        run(plan, tmp_path / "cut", scenario, resume=True, should_stop=stop)
        stops += 1
    assert stops > 3
    assert contents(tmp_path / "cut") == contents(tmp_path / "whole")


@pytest.mark.parametrize("clock", CLOCKS)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_run_is_complete_if_its_trace_says_so(
    algorithm: Algorithm, clock: Clock, plan: Plan, tmp_path: Path
) -> None:
    """Also if it is stopped in the very last moments."""
    scenario = VALLEY.replace(run={"algorithm": algorithm, "clock": clock, "horizon": 8})
    last = simulate(scenario, plan, learner()).num_events
    for number in range(max(1, last - 6), last + 1):
        folder = tmp_path / str(number)
        stopped = Simulation(scenario, plan, learner())
        trace = run_in_folder(stopped, folder, should_stop=after_events(stopped, number))
        assert trace.complete == stopped.complete == (folder / "model.npy").exists()


def after_events(simulation: Simulation, number: int) -> Callable[[], bool]:
    return lambda: simulation.num_events >= number


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_what_was_written_after_the_checkpoint_is_written_again(
    algorithm: Algorithm, plan: Plan, tmp_path: Path
) -> None:
    scenario = VALLEY.replace(run={"algorithm": algorithm})
    run(plan, tmp_path / "whole", scenario)
    run(plan, tmp_path / "cut", scenario, should_stop=after(25))
    saved = (tmp_path / "cut" / "checkpoint").read_bytes()
    run(plan, tmp_path / "cut", scenario, resume=True, should_stop=after(40))
    (tmp_path / "cut" / "checkpoint").write_bytes(saved)
    (tmp_path / "cut" / "model.npy").unlink(missing_ok=True)
    with (tmp_path / "cut" / "trace.jsonl").open("a") as trace:
        trace.write('{"event": "half a li')
    run(plan, tmp_path / "cut", scenario, resume=True)
    assert contents(tmp_path / "cut") == contents(tmp_path / "whole")


@pytest.mark.parametrize(
    ("owner", "name", "calls"),
    [
        (run_files.RunWriter, "record", 90),  # the event has happened, and is not recorded
        (run_files.RunWriter, "_record_measurement", 3),
        (run_lines, "_metrics_line", 3),  # in the trace, and not in the metrics
        (Deliveries, "forget", 2),  # the model has changed, and the event not happened
    ],
)
def test_aborted_at_a_bad_moment(
    owner: object,
    name: str,
    calls: int,
    plan: Plan,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By a second Ctrl-C: it goes on from the last checkpoint before."""
    run(plan, tmp_path / "whole")
    monkeypatch.setattr(run_files, "_CHECKPOINT_SECONDS", 0.0)
    monkeypatch.setattr(run_files, "_LARGEST_SHARE", float("inf"))
    method, left = getattr(owner, name), iter(range(calls))

    def abort(*arguments: object) -> object:
        if next(left, None) is None:
            raise KeyboardInterrupt
        return method(*arguments)

    with monkeypatch.context() as patches:
        patches.setattr(owner, name, abort)
        with pytest.raises(KeyboardInterrupt):
            run(plan, tmp_path / "cut")
    assert (tmp_path / "cut" / "checkpoint").exists()
    run(plan, tmp_path / "cut", resume=True)
    assert contents(tmp_path / "cut") == contents(tmp_path / "whole")


def test_drafts_of_a_killed_process_are_swept_up(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under the names that `write_file` gave them in that process."""
    drafts: list[Path] = []
    replace = os.replace

    def noted(draft: Path, path: Path) -> None:
        drafts.append(draft)
        replace(draft, path)

    with monkeypatch.context() as patches:
        patches.setattr(os, "getpid", lambda: 1)
        patches.setattr(os, "replace", noted)
        run(plan, tmp_path)
    assert len(drafts) > 3
    for draft in drafts:
        draft.write_bytes(b"half")
    run(plan, tmp_path, resume=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted((RECORD, *RUN_FILES))


def test_checkpoints_are_written_on_the_way(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[int] = []

    def save(path: Path, simulation: Simulation, header: Header) -> None:
        written.append(simulation.num_events)
        _save_checkpoint(path, simulation, header)

    monkeypatch.setattr(run_files, "_CHECKPOINT_SECONDS", 0.0)
    monkeypatch.setattr(run_files, "_LARGEST_SHARE", float("inf"))
    monkeypatch.setattr(run_files, "_save_checkpoint", save)
    simulation = run(plan, tmp_path)
    assert len(written) > 10
    assert written == sorted(written)
    assert written[-1] == simulation.num_events


@pytest.mark.parametrize("resume", [False, True])
def test_killed_before_the_first_checkpoint(
    resume: bool, plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is nothing to go on with, and nothing to be lost: it begins anew."""
    run(plan, tmp_path / "whole")

    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patches:
        patches.setattr(run_files, "_save_checkpoint", fail)
        with pytest.raises(KeyboardInterrupt):
            run(plan, tmp_path / "cut")
    assert (tmp_path / "cut" / "trace.jsonl").stat().st_size > 100
    run(plan, tmp_path / "cut", resume=resume)
    assert contents(tmp_path / "cut") == contents(tmp_path / "whole")


def test_a_longer_horizon_goes_on(plan: Plan, tmp_path: Path) -> None:
    """Also from a horizon that is not a slot of evaluation."""
    longer = VALLEY.replace(run={"horizon": 133})
    run(plan, tmp_path / "long", longer)
    run(plan, tmp_path / "short")
    run(plan, tmp_path / "short", longer, resume=True)
    assert contents(tmp_path / "short") == contents(tmp_path / "long")


def test_a_complete_run_stays_as_it_is(plan: Plan, tmp_path: Path) -> None:
    run(plan, tmp_path)
    before = contents(tmp_path)
    run(plan, tmp_path, resume=True)
    assert contents(tmp_path) == before
    run(plan, tmp_path)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_files_tell_what_the_trace_tells(
    algorithm: Algorithm, plan: Plan, tmp_path: Path
) -> None:
    scenario = VALLEY.replace(run={"algorithm": algorithm})
    simulation = run(plan, tmp_path, scenario)
    trace = simulate(scenario, plan, learner())
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted((RECORD, *RUN_FILES))
    np.testing.assert_array_equal(np.load(tmp_path / "model.npy"), trace.model)
    np.testing.assert_array_equal(simulation.model, trace.model)
    rows = list(csv.DictReader((tmp_path / "metrics.csv").read_text().splitlines()))
    assert [(int(row["slot"]), float(row["loss"])) for row in rows] == [
        (measured.slot, measured.loss) for measured in trace.metrics
    ]
    lines = lines_of(tmp_path)
    kinds = [type(event).__name__.lower() for event in trace.events()]
    assert [line["event"] for line in lines] == [*kinds, "evaluation"]  # the last at the horizon
    visits = [line["client"] for line in lines if line["event"] == "visit"]
    assert visits == [visit.client for visit in trace.visits]
    assert Scenario.load(tmp_path / "scenario-used.toml") == scenario


def test_an_unfinished_run_is_not_lost_by_accident(plan: Plan, tmp_path: Path) -> None:
    run(plan, tmp_path, should_stop=after(30))
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(
        InputError, match="holds a run that is not complete; continue it with --resume"
    ):
        run(plan, tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def change(name: str, plan: Plan) -> tuple[Scenario, Plan]:
    if name == "plan":
        return VALLEY, make_plan(VALLEY, objective="minmax", solver="carp", iterations=3)
    changes = {"seed": 1} if name == "seed" else {"run": {"algorithm": "async"}}
    return VALLEY.replace(**changes), plan


@pytest.mark.parametrize(
    ("name", "expected"),
    [("seed", "another seed;"), ("algorithm", "another run.algorithm;"), ("plan", "another plan;")],
)
def test_another_run_cannot_be_resumed(
    name: str, expected: str, plan: Plan, tmp_path: Path
) -> None:
    run(plan, tmp_path, should_stop=after(30))
    scenario, other = change(name, plan)
    with pytest.raises(InputError, match=f"its run has {expected} resume it as it was begun"):
        run(other, tmp_path, scenario, resume=True)


def test_data_may_move(plan: Plan, tmp_path: Path) -> None:
    """As with the folder that the scenario is in: `data_dir` is absolute, once it is read."""
    run(plan, tmp_path, VALLEY.replace(learning={"data_dir": "/here"}), should_stop=after(30))
    moved = VALLEY.replace(learning={"data_dir": "/there"})
    assert run(plan, tmp_path, moved, resume=True).complete


def test_a_horizon_that_has_passed(plan: Plan, tmp_path: Path) -> None:
    run(plan, tmp_path, should_stop=after(60))
    with pytest.raises(InputError, match=r"run.horizon = 2: the run in .* is at slot \d+ already"):
        run(plan, tmp_path, VALLEY.replace(run={"horizon": 2}), resume=True)


class Other(Quadratic):
    """Trains elsewhere."""


def test_another_engine(plan: Plan, tmp_path: Path) -> None:
    run(plan, tmp_path, should_stop=after(30))
    simulation = Simulation(VALLEY, plan, Other.drawn(VALLEY.client_ids, 7))
    with pytest.raises(InputError, match="was trained by Quadratic, not by Other; resume it with"):
        run_in_folder(simulation, tmp_path, resume=True)


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04 nonsense", b"half"])
def test_a_damaged_checkpoint(damage: bytes, plan: Plan, tmp_path: Path) -> None:
    run(plan, tmp_path, should_stop=after(30))
    path = tmp_path / "checkpoint"
    path.write_bytes(path.read_bytes()[: 1 << 9] if damage == b"half" else damage)
    with pytest.raises(InputError, match="checkpoint: damaged, or not a checkpoint"):
        run(plan, tmp_path, resume=True)


@pytest.mark.parametrize(
    ("name", "left"),
    [
        ("trace.jsonl", b""),
        ("metrics.csv", b""),
        ("metrics.csv", b"slot,seconds"),
        ("metrics.csv", b"\xfe" * 9999),
        ("metrics.csv", b"a,b\n1,2\n" * 9999),
    ],
)
def test_files_that_someone_changed(name: str, left: bytes, plan: Plan, tmp_path: Path) -> None:
    run(plan, tmp_path, should_stop=after(30))
    (tmp_path / name).write_bytes(left)
    with pytest.raises(InputError, match=f"{name}: was changed after its run wrote it"):
        run(plan, tmp_path, resume=True)


def test_metrics_that_someone_deleted(plan: Plan, tmp_path: Path) -> None:
    run(plan, tmp_path, should_stop=after(30))
    (tmp_path / "metrics.csv").unlink()
    with pytest.raises(InputError, match=r"metrics\.csv: no such file"):
        run(plan, tmp_path, resume=True)


@pytest.mark.parametrize(
    ("num_params", "dtype", "expected"), [(4, "float64", "4 of float64"), (3, "f4", "3 of float32")]
)
def test_another_model(
    num_params: int, dtype: str, expected: str, plan: Plan, tmp_path: Path
) -> None:
    """As when the user's own module has been changed in the meantime."""
    run(plan, tmp_path, should_stop=after(30))
    other = Quadratic.drawn(VALLEY.client_ids, 7, num_params=num_params, dtype=dtype)
    with pytest.raises(InputError, match=f"have 3 of float64 parameters, .* have {expected};"):
        run_in_folder(Simulation(VALLEY, plan, other), tmp_path, resume=True)


def test_a_disk_that_is_full(plan: Plan, tmp_path: Path) -> None:
    """Files may not grow beyond 8,000 bytes, as the trace does."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8000, limits[1]))
    try:
        with pytest.raises(InputError, match=r"trace\.jsonl: cannot be written: File too large"):
            run(plan, tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_divergence_keeps_all_before(plan: Plan, tmp_path: Path) -> None:
    """The very events of a run that ends just before, and resuming fails again at the same slot."""
    simulation = Simulation(VALLEY, plan, learner(1e9))
    with pytest.raises(DivergedError, match="no longer finite at slot") as caught:
        run_in_folder(simulation, tmp_path)
    trace = caught.value.trace
    lines = lines_of(tmp_path)
    assert len(lines) == trace.num_events > 0  # type: ignore[attr-defined]  # a Trace
    assert np.isfinite(trace.model).all()  # type: ignore[attr-defined]
    assert all(np.isfinite(m.loss) for m in trace.metrics)  # type: ignore[attr-defined]
    assert not (tmp_path / "model.npy").exists()
    again = Simulation(VALLEY, plan, learner(1e9))
    with pytest.raises(DivergedError, match=str(caught.value).split(";")[0]):
        run_in_folder(again, tmp_path, resume=True)


def test_a_diverged_run_may_be_replaced(plan: Plan, tmp_path: Path) -> None:
    """One lowers the learning rate, as the message says, and tries again."""
    with pytest.raises(DivergedError):
        run_in_folder(Simulation(VALLEY, plan, learner(1e9)), tmp_path / "again")
    run(plan, tmp_path / "again")
    run(plan, tmp_path / "whole")
    assert contents(tmp_path / "again") == contents(tmp_path / "whole")


class BadInTheEnd(Quadratic):
    """Only the model at the start can be evaluated."""

    def evaluate(self, model: Vector) -> tuple[float, float]:
        return (1.0 if np.array_equal(model, self.start) else np.inf), 0.5


def test_divergence_at_the_horizon(plan: Plan, tmp_path: Path) -> None:
    """Also where no evaluation was due."""
    scenario = VALLEY.replace(run={"eval_every": 1000})
    simulation = Simulation(scenario, plan, BadInTheEnd.drawn(VALLEY.client_ids, 7))
    with pytest.raises(DivergedError, match=f"at slot 70; .*; all before is in {tmp_path}"):
        run_in_folder(simulation, tmp_path)
    assert lines_of(tmp_path)[-1]["event"] != "evaluation"
    run(plan, tmp_path, scenario)
