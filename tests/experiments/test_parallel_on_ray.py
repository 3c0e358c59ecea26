"""Whole runs on a Ray cluster: the same files at home as without it; stopped, lost, sent again."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from few_runs import (
    LONG,
    Seen,
    alone,
    perform_remotely_and_wait,
    perform_remotely_by_name,
    results,
    several,
    small,
)

from flexpress.errors import FlexpressError, InputError
from flexpress.experiments import parallel
from flexpress.experiments.parallel import RunEvaluation, run_on_ray
from flexpress.experiments.run import Run
from flexpress.files.lock import sole_use
from flexpress.simulation.stored_run import is_over
from flexpress.workers import ray_executor


def go(
    runs: Mapping[str, Run],
    folder: Path,
    seen: Seen,
    should_stop: Callable[[], bool] = lambda: False,
    jobs: int | None = None,
) -> bool:
    return run_on_ray(
        runs,
        folder,
        jobs,
        on_start=lambda key: seen.calls.append(("start", key)),
        on_progress=seen.hear,
        on_end=lambda key: seen.calls.append(("end", key)),
        should_stop=should_stop,
    )


def test_the_same_files_as_in_one_process(ray: Any, tmp_path: Path) -> None:
    runs, seen = several(3), Seen()
    runs["wild"] = small(7, learning_rate=1e38)
    assert go(runs, tmp_path / "ray", seen)
    wild = runs.pop("wild")
    assert is_over(tmp_path / "ray" / "wild"), "diverged"
    assert results(runs, tmp_path / "ray") == alone(runs, tmp_path / "alone")
    assert wild.seed == 7
    assert seen.of("start") == [*runs, "wild"]
    assert sorted(seen.of("end")) == sorted([*runs, "wild"])
    for key in runs:
        own = [kind for kind, its in seen.calls if its == key]
        assert own[0] == "start"
        assert own[-1] == "end", "no progress after the end"
        assert set(own[1:-1]) <= {"progress"}


def test_nothing_to_do(ray: Any, tmp_path: Path) -> None:
    assert go({}, tmp_path, Seen())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_stopped_and_resumed(ray: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On Ray, then by a process: what is begun there is a run like any other."""
    runs, seen = several(2), Seen()
    with monkeypatch.context() as waiting:
        waiting.setattr(parallel, "_perform_remotely", perform_remotely_and_wait)
        assert not go(runs, tmp_path / "ray", seen, lambda: len(seen.progress) > 1, jobs=1)
    first = next(iter(runs))
    assert seen.of("start") == [first]
    assert (tmp_path / "ray" / first / "checkpoint").exists()
    assert not is_over(tmp_path / "ray" / first)
    again, begun = Seen(), {first: runs[first]}
    assert go(begun, tmp_path / "ray", again)
    assert all(each.slot > 0 for each in again.progress), "it is resumed"
    assert results(begun, tmp_path / "ray") == alone(begun, tmp_path / "alone")


class Murder(Seen):
    """Kills the process of a run, whose number lies in a folder, when it tells something."""

    def __init__(self, place: Path, when: Callable[[], bool] = lambda: True) -> None:
        super().__init__()
        self.place, self.when = place, when
        self.killed: set[int] = set()
        place.mkdir()

    def hear(self, progress: RunEvaluation) -> None:
        super().hear(progress)
        if self.when():
            for pid in {int(path.name) for path in self.place.iterdir()} - self.killed:
                os.kill(pid, signal.SIGKILL)
                self.killed.add(pid)


@pytest.fixture
def pids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the processes of runs leave their numbers."""
    place = tmp_path / "pids"
    by_name = partial(perform_remotely_by_name, place)
    monkeypatch.setattr(parallel, "_perform_remotely", by_name)
    return place


@pytest.mark.slow
def test_a_run_that_is_lost_is_sent_again(
    ray: Any, pids: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its process is killed; it resumes from what was sent home."""
    monkeypatch.setattr(parallel, "_SEND_SECONDS", 0.3)
    runs = several(1, horizon=12_000)  # longer than to a checkpoint
    (key,) = runs
    seen = Murder(pids, lambda: not seen.killed and (tmp_path / key / "checkpoint").exists())
    assert go(runs, tmp_path, seen)
    assert len(seen.killed) == 1
    assert seen.of("start") == [key], "it is told once"
    assert [each.slot for each in seen.progress].count(0) == 1, "it does not begin anew"
    assert results(runs, tmp_path) == alone(runs, tmp_path / "alone")


def test_a_run_that_is_lost_again_and_again(
    ray: Any, pids: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray_executor, "_MOST_LOSSES", 2)
    seen = Murder(pids)
    with pytest.raises(
        FlexpressError, match=r"a run was lost 2 times.*start again to resume$"
    ) as it:
        go({"long": small(1, LONG)}, tmp_path, seen)
    assert "\n" not in str(it.value)
    assert len(seen.killed) == 2


@pytest.mark.slow
def test_a_complaint_from_over_there(ray: Any, tmp_path: Path) -> None:
    """It names the folder at home, and those beside it do not work on."""
    (tmp_path / "hurt").mkdir()
    (tmp_path / "hurt" / "checkpoint").write_text("nonsense")
    (tmp_path / "hurt" / "scenario-used.toml").write_text(small().scenario.to_toml())
    with pytest.raises(InputError) as caught:
        go({"long": small(2, LONG), "hurt": small()}, tmp_path, Seen())
    assert str(caught.value).startswith(f"{tmp_path / 'hurt' / 'checkpoint'}: damaged, or not")
    assert "\n" not in str(caught.value)
    assert not is_over(tmp_path / "long")
    with sole_use(tmp_path / "long"):
        pass  # it is free again


def test_a_folder_that_somebody_uses(ray: Any, tmp_path: Path) -> None:
    with sole_use(tmp_path / "long"), pytest.raises(InputError, match="another run is under way"):
        go({"long": small()}, tmp_path, Seen())
