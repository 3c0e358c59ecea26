"""Tasks in parallel processes: they report progress, stop when asked, and end with this process."""

from __future__ import annotations

import multiprocessing
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from multiprocessing import connection, resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Event as Flag
from typing import Any, TypeVar

from flexpress.callbacks import ShouldStop

_Key = TypeVar("_Key")
_News = TypeVar("_News")
_Result = TypeVar("_Result")

WorkerTask = Callable[[Callable[[_News], None], ShouldStop], _Result]
"""Called with a function that reports news, and one that says whether to stop."""

_POLL_SECONDS = 0.2
"""Time to wait for a result before news are read."""

_SIGNALS = tuple(
    signal.Signals[name] for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
"""Terminals, `timeout` and job schedulers send them to all processes of a command.

Windows has no SIGHUP.
"""


def num_cores() -> int:
    """The number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass(frozen=True)
class WorkerPool:
    """Workers that perform tasks, such as processes of this machine."""

    submit: Callable[[Any, WorkerTask[Any, Any]], Future[Any]]  # a task and its key
    news: Callable[[], Iterator[tuple[Any, Any]]]  # since the last call: key, news
    stop: Callable[[], None]  # ask all tasks to stop


OpenPool = Callable[[int], AbstractContextManager[WorkerPool]]
"""Opens a pool with this number of workers."""


@contextmanager
def process_pool(jobs: int) -> Iterator[WorkerPool]:
    """Processes of this machine; after any error within the block they stop."""
    spawn = multiprocessing.get_context("spawn")  # a fork would copy locks, but not threads
    news, stop = spawn.Queue(), spawn.Event()
    ending, end = spawn.Pipe(duplex=False)
    workers: set[BaseProcess] = set()

    def submit(key: Any, task: WorkerTask[Any, Any]) -> Future[Any]:
        others = set(multiprocessing.active_children())
        with signals_blocked():
            result = pool.submit(_work, key, task)
        workers.update(set(multiprocessing.active_children()) - others)
        return result

    def received() -> Iterator[tuple[Any, Any]]:
        """Looks for dead workers: the pool may miss one that dies while it is being started."""
        if not all(process.is_alive() for process in workers):
            raise BrokenProcessPool
        return drain(news.get_nowait)

    with ending, end, ProcessPoolExecutor(jobs, spawn, _begin_work, (news, stop, ending)) as pool:
        try:
            yield WorkerPool(submit, received, stop.set)
        except BrokenProcessPool:
            end.send_bytes(b"end")  # never read: every worker sees that it arrived
            raise
        except BaseException:
            stop.set()
            raise


def perform_all(
    tasks: Mapping[_Key, WorkerTask[_News, _Result]],
    jobs: int,
    *,
    on_start: Callable[[_Key], None],
    on_news: Callable[[_Key, _News], None],
    on_end: Callable[[_Key, _Result], None],
    should_stop: ShouldStop,
    open_pool: OpenPool = process_pool,
) -> bool:
    """In their order, `jobs` at a time; False if they were asked to stop before the end.

    A task that is asked to stop ends with a result, too. An error of a task is raised here, after
    the others have stopped or were ended; BrokenProcessPool if its process was killed.
    """
    waiting, stopped = list(tasks), False
    running: dict[Future[_Result], _Key] = {}
    with open_pool(jobs) as pool:
        while running or (waiting and not stopped):
            if not stopped and should_stop():
                stopped = True
                pool.stop()
            while waiting and len(running) < jobs and not stopped:
                key = waiting.pop(0)
                on_start(key)
                running[pool.submit(key, tasks[key])] = key
            _pass_on(pool, running.values(), on_news)
            for future in wait(running, _POLL_SECONDS, FIRST_COMPLETED).done:
                _pass_on(pool, running.values(), on_news)
                key = running.pop(future)
                if not future.cancelled():  # if it had not begun when all were asked to stop
                    on_end(key, future.result())
    return not stopped


def _pass_on(
    pool: WorkerPool, keys: Collection[_Key], on_news: Callable[[_Key, _News], None]
) -> None:
    """News of these tasks; news may arrive after the end of their task."""
    for key, news in pool.news():
        if key in keys:
            on_news(key, news)


def drain(get_nowait: Callable[[], _Result]) -> Iterator[_Result]:
    """Everything that a queue holds."""
    while True:
        try:
            yield get_nowait()
        except queue.Empty:
            return


@contextmanager
def signals_blocked() -> Iterator[None]:
    """Processes started in the block ignore Ctrl-C, even before they call `ignore_signals`."""
    if sys.platform == "win32":
        yield
        return
    resource_tracker.ensure_running()  # else it would be started in the block, and end it for us
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def ignore_signals(but: str = "") -> None:
    """In a worker: the process that the user started hears them; one of them may stay as it is."""
    for number in _SIGNALS:
        if number.name != but:
            signal.signal(number, signal.SIG_IGN)
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)


_parent: dict[str, Any] = {}
"""In a worker: the queue for its news, and the flag that asks it to stop."""


def _begin_work(news: Queue[Any], stop: Flag, ending: Connection) -> None:
    """In a worker. Ctrl-C is for the process that the user started; that one asks us to stop."""
    ignore_signals()
    _parent.update(news=news, stop=stop)
    threading.Thread(target=_die_with_parent, args=(ending,), daemon=True).start()


def _die_with_parent(ending: Connection) -> None:
    """Or when it says so. A parent that was killed cannot ask us to stop."""
    parent = multiprocessing.parent_process()
    connection.wait([ending] if parent is None else [ending, parent.sentinel])
    os._exit(1)


def _work(key: _Key, task: WorkerTask[Any, _Result]) -> _Result:
    return task(lambda news: _parent["news"].put((key, news)), _parent["stop"].is_set)
