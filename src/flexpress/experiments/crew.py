"""Runs in parallel processes: they tell how far they are, stop when asked, and never outlive us."""

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
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import connection
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Event as Flag
from pathlib import Path
from typing import Any

from flexpress.errors import FlexpressError
from flexpress.experiments.run import Run, perform
from flexpress.simulation.events import Evaluation, Event
from flexpress.simulation.simulate import Simulation

PATIENCE = 0.2
"""Seconds to wait for news."""


@dataclass(frozen=True)
class News:
    """From a run under way."""

    key: str
    slot: int
    accuracy: float


def perform_all(
    runs: Mapping[str, Run],
    folder: Path,
    jobs: int,
    *,
    on_start: Callable[[str], None],
    on_news: Callable[[News], None],
    on_end: Callable[[str], None],
    should_stop: Callable[[], bool],
) -> bool:
    """Each in the folder of its key, in their order; False if it was asked to stop before the end.

    What a run has done when it is stopped, or killed, is not lost: it goes on from there.
    """
    spawn = multiprocessing.get_context("spawn")  # a fork would copy threads that are not there
    news, stop = spawn.Queue(), spawn.Event()
    with ProcessPoolExecutor(jobs, spawn, begin_work, (news, stop)) as pool, stopping(stop):
        waiting = list(runs)
        at_work: dict[Future[bool], str] = {}
        while at_work or (waiting and not stop.is_set()):
            if should_stop():
                stop.set()
            while waiting and len(at_work) < jobs and not stop.is_set():
                key = waiting.pop(0)
                on_start(key)
                with deaf_children():
                    at_work[pool.submit(work, runs[key], folder / key, key)] = key
            tell(news, at_work.values(), on_news)
            for future in wait(at_work, PATIENCE, FIRST_COMPLETED).done:
                tell(news, at_work.values(), on_news)
                key = at_work.pop(future)
                if future.result():
                    on_end(key)
    return not stop.is_set()


@contextmanager
def stopping(stop: Flag) -> Iterator[None]:
    """Whatever goes wrong here: the pool waits for its workers, and they shall not work on."""
    try:
        yield
    except BrokenProcessPool:
        stop.set()
        raise FlexpressError(
            "a process was ended from outside, perhaps for want of memory; start again to go on"
        ) from None
    except BaseException:
        stop.set()
        raise


@contextmanager
def deaf_children() -> Iterator[None]:
    """Processes that begin now do not hear Ctrl-C, not even before `begin_work`."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def tell(news: Queue[News], keys: Collection[str], listener: Callable[[News], None]) -> None:
    """All that has come in of these runs: news may come after the end of theirs."""
    while True:
        try:
            latest = news.get_nowait()
        except queue.Empty:
            return
        if latest.key in keys:
            listener(latest)


_outside: dict[str, Any] = {}
"""Of a worker: where its news go, and whether it shall stop."""


def begin_work(news: Queue[News], stop: Flag) -> None:
    """Ctrl-C is for the process that the user started, which then tells us."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _outside.update(news=news, stop=stop)
    threading.Thread(target=die_with_parent, daemon=True).start()


def die_with_parent() -> None:
    """If it was killed, nobody would tell us to stop."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def work(run: Run, folder: Path, key: str) -> bool:
    def on_event(event: Event, simulation: Simulation) -> None:
        if isinstance(event, Evaluation):
            _outside["news"].put(News(key, event.slot, simulation.metrics[-1].accuracy))

    return perform(run, folder, on_event=on_event, should_stop=_outside["stop"].is_set)
