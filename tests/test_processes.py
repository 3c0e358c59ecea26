"""Workers for any kind of task: results, errors, and that none is left behind."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import pytest
from process_group import PATIENCE, Started, living, looked_up, started, wait_until

from flexpress.workers.processes import OpenPool, num_cores, perform_all, process_pool
from flexpress.workers.ray_executor import ray_pool

Report = Callable[[Any], None]
ShouldStop = Callable[[], bool]

LONG = 600.0
"""Seconds after which a task gives up waiting to be stopped."""


def square(number: int, report: Report, should_stop: ShouldStop) -> int:
    report(f"{number} here")
    return number * number


def until_stopped(report: Report, should_stop: ShouldStop) -> str:
    """Reports its process; gives up after a while, so that a test fails rather than hangs."""
    report(os.getpid())
    deadline = time.monotonic() + LONG
    while not should_stop():
        if time.monotonic() > deadline:
            return "never stopped"
        time.sleep(0.01)
    return "stopped"


def touch_if_late(late: Path, report: Report, should_stop: ShouldStop) -> None:
    if until_stopped(report, should_stop) != "stopped":
        late.touch()


def mistake(report: Report, should_stop: ShouldStop) -> None:
    raise ZeroDivisionError("as asked")


def perform(
    tasks: dict[Any, Any],
    on_news: Callable[[Any, Any], None] = lambda key, news: None,
    should_stop: ShouldStop = lambda: False,
    jobs: int = 2,
    open_pool: OpenPool = process_pool,
) -> tuple[bool, list[Any], dict[Any, Any]]:
    """Whether it was the whole, the keys in the order of their beginnings, the results."""
    begun: list[Any] = []
    results: dict[Any, Any] = {}
    whole = perform_all(
        tasks,
        jobs,
        on_start=begun.append,
        on_news=on_news,
        on_end=results.__setitem__,
        should_stop=should_stop,
        open_pool=open_pool,
    )
    return whole, begun, results


@pytest.fixture(params=["processes", pytest.param("ray", marks=pytest.mark.slow)])
def open_pool(request: pytest.FixtureRequest) -> OpenPool:
    """All that does not depend on who does the tasks."""
    if request.param == "processes":
        return process_pool
    request.getfixturevalue("ray")
    return ray_pool


def test_all_are_done(open_pool: OpenPool) -> None:
    heard: list[tuple[int, str]] = []
    tasks = {number: partial(square, number) for number in range(5)}
    whole, begun, results = perform(
        tasks, lambda key, news: heard.append((key, news)), open_pool=open_pool
    )
    assert whole
    assert begun == list(range(5))
    assert results == {number: number**2 for number in range(5)}
    assert all(news == f"{key} here" for key, news in heard)
    assert active_children() == []


def test_stopped(open_pool: OpenPool) -> None:
    heard: list[int] = []
    tasks = dict.fromkeys(range(3), until_stopped)
    whole, begun, results = perform(
        tasks, lambda _, pid: heard.append(pid), lambda: len(heard) == 2, open_pool=open_pool
    )
    assert not whole
    assert begun == [0, 1]
    assert results == {0: "stopped", 1: "stopped"}
    assert len(set(heard)) == 2
    assert os.getpid() not in heard


def test_a_mistake_of_one_stops_the_others(open_pool: OpenPool, tmp_path: Path) -> None:
    late = tmp_path / "late"
    with pytest.raises(ZeroDivisionError, match="as asked"):
        perform({0: partial(touch_if_late, late), 1: mistake}, open_pool=open_pool)
    assert not late.exists()
    assert active_children() == []


@pytest.mark.parametrize("victim", [0, 1])
def test_one_that_is_killed_takes_the_others_with_it(victim: int, tmp_path: Path) -> None:
    """They would wait for work from a pool that is broken."""
    late, pids = tmp_path / "late", dict[int, int]()

    def kill(key: int, pid: int) -> None:
        pids[key] = pid
        if len(pids) == 2:
            os.kill(pids[victim], signal.SIGKILL)

    with pytest.raises(BrokenProcessPool):
        perform(dict.fromkeys(range(2), partial(touch_if_late, late)), kill)
    assert not late.exists()
    assert active_children() == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_workers_leave_signals_to_us(number: signal.Signals) -> None:
    """`timeout` and schedulers send SIGTERM to every process of a command."""
    sent: list[int] = []

    def send(key: int, pid: int) -> None:
        os.kill(pid, number)
        sent.append(pid)

    whole, _, results = perform({0: until_stopped, 1: until_stopped}, send, lambda: len(sent) == 2)
    assert not whole
    assert results == {0: "stopped", 1: "stopped"}


PROGRAM = """
import sys
from flexpress.cli.interrupt import interruptible
from test_processes import perform, until_stopped

def show(key, pid):
    print(pid, flush=True)

with interruptible() as stop:
    whole, _, results = perform({0: until_stopped, 1: until_stopped}, show, stop.requested)
print(whole, *results.values())
"""


@contextmanager
def two_at_work() -> Iterator[Started]:
    """Another process, whose two workers have reported their process ids."""
    with started(["-c", PROGRAM], places=[Path(__file__).parent]) as process:
        assert process.stdout
        assert len({int(process.stdout.readline()) for _ in range(2)}) == 2
        yield process


@looked_up
def test_control_c_of_a_terminal() -> None:
    """It is sent to all of them; the workers leave it to us, and end as they are asked to."""
    with two_at_work() as process:
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
        assert (process.returncode, out, err) == (0, "False stopped stopped\n", "")
        wait_until(lambda: living(process.pid) == [])  # a tracker of resources ends last


@looked_up
def test_workers_do_not_outlive_one_who_is_killed() -> None:
    with two_at_work() as process:
        process.send_signal(signal.SIGKILL)
        process.wait(PATIENCE)
        wait_until(lambda: living(process.pid) == [])


def test_cores() -> None:
    assert 1 <= num_cores() <= (os.cpu_count() or 1)
