"""Tasks in parallel processes: they tell how far they are, stop when asked, and die with us."""

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
from multiprocessing import connection
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Event as Flag
from typing import Any, TypeVar

Key = TypeVar("Key")
News = TypeVar("News")
Result = TypeVar("Result")

Task = Callable[[Callable[[News], None], Callable[[], bool]], Result]
"""Gets a function to tell news with, and one to ask whether it shall stop."""

PATIENCE = 0.2
"""Seconds to wait for news."""

SIGNALS = tuple(
    signal.Signals[name] for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
"""A terminal, `timeout` and job schedulers send them to all processes of a command.

Where there are no terminals to hang up, there is no SIGHUP.
"""


def num_cores() -> int:
    """Those that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass(frozen=True)
class Workers:
    """Those who do tasks: processes of this machine, or whoever else can do these three things."""

    submit: Callable[[Any, Task[Any, Any]], Future[Any]]  # a task and its key
    news: Callable[[], Iterator[tuple[Any, Any]]]  # told since the last time: key, news
    stop: Callable[[], None]  # ask all tasks to come to an end


Hire = Callable[[int], AbstractContextManager[Workers]]
"""Gives so many workers for as long as they are needed."""


@contextmanager
def local_processes(jobs: int) -> Iterator[Workers]:
    """Whatever goes wrong here: the pool waits for its workers, and they shall not work on."""
    spawn = multiprocessing.get_context("spawn")  # a fork would copy threads that are not there
    news, stop = spawn.Queue(), spawn.Event()
    ending, end = spawn.Pipe(duplex=False)
    staff: set[BaseProcess] = set()

    def submit(key: Any, task: Task[Any, Any]) -> Future[Any]:
        others = set(multiprocessing.active_children())
        with deaf_children():
            result = pool.submit(work, key, task)
        staff.update(set(multiprocessing.active_children()) - others)
        return result

    def told() -> Iterator[tuple[Any, Any]]:
        """The pool sees deaths too, but not that of a process it starts while it looks on."""
        if not all(process.is_alive() for process in staff):
            raise BrokenProcessPool
        return received(news.get_nowait)

    with ending, end, ProcessPoolExecutor(jobs, spawn, begin_work, (news, stop, ending)) as pool:
        try:
            yield Workers(submit, told, stop.set)
        except BrokenProcessPool:
            end.send_bytes(b"end")  # nobody reads it: all of them see that it is there
            raise
        except BaseException:
            stop.set()
            raise


def perform_all(
    tasks: Mapping[Key, Task[News, Result]],
    jobs: int,
    *,
    on_start: Callable[[Key], None],
    on_news: Callable[[Key, News], None],
    on_end: Callable[[Key, Result], None],
    should_stop: Callable[[], bool],
    hire: Hire = local_processes,
) -> bool:
    """In their order, so many at a time; False if they were asked to stop before the end.

    A task that is asked to stop has its end and its result as well. What it raises is raised here,
    after the others have stopped, or were ended; BrokenProcessPool if its process was killed.
    """
    waiting, stopped = list(tasks), False
    at_work: dict[Future[Result], Key] = {}
    with hire(jobs) as workers:
        while at_work or (waiting and not stopped):
            if not stopped and should_stop():
                stopped = True
                workers.stop()
            while waiting and len(at_work) < jobs and not stopped:
                key = waiting.pop(0)
                on_start(key)
                at_work[workers.submit(key, tasks[key])] = key
            pass_on(workers, at_work.values(), on_news)
            for future in wait(at_work, PATIENCE, FIRST_COMPLETED).done:
                pass_on(workers, at_work.values(), on_news)
                key = at_work.pop(future)
                if not future.cancelled():  # as it had not begun when all were asked to stop
                    on_end(key, future.result())
    return not stopped


def pass_on(workers: Workers, keys: Collection[Key], listener: Callable[[Key, News], None]) -> None:
    """News of these tasks: some come after the end of theirs."""
    for key, news in workers.news():
        if key in keys:
            listener(key, news)


def received(get_nowait: Callable[[], Result]) -> Iterator[Result]:
    """All that a queue has."""
    while True:
        try:
            yield get_nowait()
        except queue.Empty:
            return


@contextmanager
def deaf_children() -> Iterator[None]:
    """Processes that begin now do not hear Ctrl-C, not even before `begin_work`."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_outside: dict[str, Any] = {}
"""Of a worker: where its news go, and whether it shall stop."""


def begin_work(news: Queue[Any], stop: Flag, ending: Connection) -> None:
    """Ctrl-C is for the process that the user started, which then tells us."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    _outside.update(news=news, stop=stop)
    threading.Thread(target=die_with_parent, args=(ending,), daemon=True).start()


def die_with_parent(ending: Connection) -> None:
    """Or at its word. If it was killed, nobody would tell us to stop."""
    parent = multiprocessing.parent_process()
    connection.wait([ending] if parent is None else [ending, parent.sentinel])
    os._exit(1)


def work(key: Key, task: Task[Any, Result]) -> Result:
    return task(lambda news: _outside["news"].put((key, news)), _outside["stop"].is_set)
