"""Tasks on a Ray cluster: lost and sent again, refused, given up. The rest: test_processes."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flexpress.errors import InputError
from flexpress.files.versions import versions
from flexpress.workers.cluster import cluster_cores
from flexpress.workers.processes import WorkerTask, perform_all
from flexpress.workers.ray_executor import (
    _MOST_LOSSES,
    LostError,
    Packed,
    _perform_task,
    _TaskMessage,
    ray_pool,
)

Report = Callable[[Any], None]
ShouldStop = Callable[[], bool]


def dies(deaths: int, sent: int, report: Report, should_stop: ShouldStop) -> int:
    """Ends its process the first `deaths` times that it is sent."""
    if sent <= deaths:
        os._exit(1)
    return sent


def go(task: Callable[..., Any], pack: Callable[[Any, WorkerTask[Any, Any]], Packed]) -> list[Any]:
    results: list[Any] = []
    assert perform_all(
        {"key": task},
        1,
        on_start=lambda key: None,
        on_news=lambda key, news: None,
        on_end=lambda key, result: results.append(result),
        should_stop=lambda: False,
        open_pool=partial(ray_pool, pack=pack),
    )
    return results


class Counted:
    """Gives a task the number of times that it was sent."""

    def __init__(self) -> None:
        self.sent = 0

    def __call__(self, key: Any, task: Callable[..., Any]) -> Packed:
        self.sent += 1
        return partial(task, self.sent), ()


@pytest.mark.slow
def test_what_is_lost_is_packed_anew(ray: Any) -> None:
    assert go(partial(dies, 2), Counted()) == [3]


@pytest.mark.slow
def test_what_is_lost_again_and_again_is_given_up(ray: Any) -> None:
    pack = Counted()
    with pytest.raises(
        LostError, match=f"^lost {_MOST_LOSSES} times, perhaps for lack of"
    ) as caught:
        go(partial(dies, 100), pack)
    assert "\n" not in str(caught.value)
    assert pack.sent == _MOST_LOSSES


def writable(
    own: np.ndarray[Any, Any], shared: np.ndarray[Any, Any], report: Report, should_stop: ShouldStop
) -> tuple[bool, bool]:
    return own.flags.writeable, shared.flags.writeable


def test_a_task_has_its_own_copy_of_all_but_what_is_shared(ray: Any) -> None:
    """Compiled code would have to be made anew for arrays that must not be written to."""
    shared = ray.put(np.zeros(100_000))
    task = partial(writable, np.zeros(100_000))
    assert go(task, lambda key, task: (task, (shared,))) == [(True, False)]


@pytest.mark.slow
def test_what_waits_for_a_core_is_given_up_when_asked_to_stop(ray: Any) -> None:
    """It would learn too late that it should stop."""

    class Holder:
        """Another user, who has all cores."""

        def ready(self) -> None:
            return

    holder = ray.remote(num_cpus=cluster_cores(ray))(Holder).remote()
    ray.get(holder.ready.remote(), timeout=600)
    asked, results = iter([False]), list[Any]()
    try:
        whole = perform_all(
            {"key": partial(dies, 0, 1)},
            1,
            on_start=lambda key: None,
            on_news=lambda key, news: None,
            on_end=lambda key, result: results.append(result),
            should_stop=lambda: next(asked, True),
            open_pool=ray_pool,
        )
    finally:
        ray.kill(holder)
    assert (whole, results) == (False, [])


def unpacked(key: Any, task: WorkerTask[Any, Any]) -> Packed:
    raise FileNotFoundError("the reason")


def test_a_task_that_cannot_be_packed(ray: Any) -> None:
    with pytest.raises(FileNotFoundError, match="the reason"):
        go(partial(dies, 0), unpacked)


class Traced:
    """Leaves a file when it is loaded."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.trace,)


def test_machines_that_disagree_load_nothing(tmp_path: Path) -> None:
    task, theirs = pickle.dumps(Traced(tmp_path / "loaded")), {**versions(), "numpy": "0.9"}
    with pytest.raises(InputError, match=r"machines disagree: numpy .* here, 0.9 elsewhere"):
        _perform_task(_TaskMessage("key", 1, task, (), theirs), None)
    assert not (tmp_path / "loaded").exists()
    pickle.loads(task)
    assert (tmp_path / "loaded").exists()


def test_a_cluster_without_cores() -> None:
    class Empty:
        def cluster_resources(self) -> dict[str, float]:
            return {"memory": 1e9}

    with pytest.raises(InputError, match="has no cores; add a machine"):
        cluster_cores(Empty())
