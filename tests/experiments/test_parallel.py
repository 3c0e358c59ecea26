"""Runs in parallel processes: the same results, stopped, killed and resumed."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from multiprocessing import active_children
from pathlib import Path

import pytest
from few_runs import LONG, Seen, alone, perform_here_and_wait, results, several, small
from process_group import PATIENCE, Started, living, looked_up, started, wait_until

from flexpress.errors import FlexpressError, InputError
from flexpress.experiments.parallel import RunEvaluation, run_in_processes
from flexpress.experiments.run import Run
from flexpress.simulation.stored_run import is_over


def go(
    runs: Mapping[str, Run],
    folder: Path,
    seen: Seen,
    should_stop: Callable[[], bool] = lambda: False,
    jobs: int = 2,
) -> bool:
    return run_in_processes(
        runs,
        folder,
        jobs,
        on_start=lambda key: seen.calls.append(("start", key)),
        on_progress=seen.hear,
        on_end=lambda key: seen.calls.append(("end", key)),
        should_stop=should_stop,
    )


def test_the_same_results_as_in_one_process(tmp_path: Path) -> None:
    runs, seen = several(3), Seen()
    assert go(runs, tmp_path / "parallel", seen)
    assert results(runs, tmp_path / "parallel") == alone(runs, tmp_path / "alone")
    assert seen.of("start") == list(runs)
    assert sorted(seen.of("end")) == sorted(runs)
    for key in runs:
        own = [kind for kind, its in seen.calls if its == key]
        assert own[0] == "start"
        assert own[-1] == "end", "no progress after the end"
        assert set(own[1:-1]) <= {"progress"}


def test_nothing_to_do(tmp_path: Path) -> None:
    assert go({}, tmp_path, Seen())
    assert list(tmp_path.iterdir()) == []


def test_stopped_and_started_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs, seen = several(2), Seen()
    with monkeypatch.context() as waiting:
        waiting.setattr("flexpress.experiments.parallel._perform_here", perform_here_and_wait)
        assert not go(runs, tmp_path / "parallel", seen, lambda: len(seen.progress) > 1, jobs=1)
    first = next(iter(runs))
    assert seen.of("start") == [first]
    assert (tmp_path / "parallel" / first / "checkpoint").exists()
    assert not is_over(tmp_path / "parallel" / first)
    trace, begun = tmp_path / "parallel" / first / "trace.jsonl", {first: runs[first]}
    os.link(trace, tmp_path / "same")
    assert go(begun, tmp_path / "parallel", Seen())
    assert trace.samefile(tmp_path / "same"), (
        "it is resumed: a run from the beginning has a new file"
    )
    assert results(begun, tmp_path / "parallel") == alone(begun, tmp_path / "alone")


@pytest.mark.slow
def test_a_complaint_of_a_worker(tmp_path: Path) -> None:
    """It is raised here as it was there, and those beside it do not work on to their end."""
    wrong, long = small(1, model="nosuch:model"), small(2, LONG)
    with pytest.raises(InputError) as caught:
        go({"long": long, "wrong": wrong}, tmp_path, Seen())
    assert "nosuch" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not is_over(tmp_path / "long")
    assert active_children() == []


@pytest.mark.slow
def test_a_mistake_of_a_listener_does_not_let_them_work_on(tmp_path: Path) -> None:
    class PressedError(Exception):
        pass

    class Second(Seen):
        def hear(self, progress: RunEvaluation) -> None:
            raise PressedError

    with pytest.raises(PressedError):
        go({"long": small(1, LONG)}, tmp_path, Second())
    assert (tmp_path / "long" / "checkpoint").exists()
    assert active_children() == []


def test_a_worker_that_is_ended_from_outside(tmp_path: Path) -> None:
    class Murder(Seen):
        def hear(self, progress: RunEvaluation) -> None:
            for worker in active_children():
                worker.kill()

    with pytest.raises(FlexpressError, match=r"ended from outside.*start again to resume"):
        go({"long": small(1, LONG)}, tmp_path, Murder(), jobs=1)


PROGRAM = f"""
import sys
from pathlib import Path
from few_runs import several
from test_parallel import Seen, go
from flexpress.cli.interrupt import interruptible
with interruptible() as stop:
    print("ready", flush=True)
    whole = go(several(2, {LONG}), Path(sys.argv[1]), Seen(), stop.requested)
sys.exit(10 if whole else 11)
"""


@contextmanager
def program(folder: Path) -> Iterator[Started]:
    places = [Path(__file__).parent, Path(__file__).parents[1]]
    with started(["-c", PROGRAM, str(folder)], places=places) as process:
        yield process


@pytest.mark.slow
@looked_up
@pytest.mark.parametrize("seconds", [0.0, 0.3])
def test_control_c_while_workers_begin(seconds: float, tmp_path: Path) -> None:
    """A terminal sends it to all of them, also to those that have not yet been told of it."""
    with program(tmp_path) as process:
        assert process.stdout
        process.stdout.readline()
        wait_until(lambda: len(living(process.pid)) >= 3)  # it, a tracker of resources, a worker
        time.sleep(seconds)
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
        assert (process.returncode, err) == (11, "")
        wait_until(lambda: living(process.pid) == [])  # the tracker ends a moment after us


@pytest.mark.slow
@looked_up
def test_workers_do_not_outlive_one_who_is_killed(tmp_path: Path) -> None:
    runs = several(2, LONG)
    with program(tmp_path) as process:
        wait_until(lambda: all((tmp_path / key / "metrics.csv").exists() for key in runs))
        assert len(living(process.pid)) >= 3  # it and two workers
        process.send_signal(signal.SIGKILL)
        process.wait()
        wait_until(lambda: living(process.pid) == [])
