"""A process that is kept warm: code is loaded and compiled before the first task comes.

Tasks run one at a time, report news while they work, and stop when they are asked to. The page
stays responsive whatever they do, and a task that dies takes nothing else with it.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import threading
from collections.abc import Callable
from multiprocessing import connection
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Event as Flag
from typing import Any

from flexpress.callbacks import ShouldStop
from flexpress.errors import FlexpressError
from flexpress.workers.processes import ignore_signals, signals_blocked

Report = Callable[[Any], None]
Task = Callable[[Report, ShouldStop], Any]
"""Called with a function that reports news, and one that says whether to stop."""


class Worker:
    """One process, started when it is first needed, and again if it died."""

    def __init__(self, warm_up: Callable[[], None]) -> None:
        """`warm_up` loads what tasks need; it must be importable by name."""
        self._warm_up = warm_up
        self._spawn = multiprocessing.get_context("spawn")
        self._process: Any = None
        self._pipe: Connection | None = None
        self._stop: Flag = self._spawn.Event()
        self._turn = asyncio.Lock()

    def start(self) -> None:
        if self._process is not None and self._process.is_alive():
            return
        ours, theirs = self._spawn.Pipe()
        self._process = self._spawn.Process(
            target=_serve, args=(theirs, self._stop, self._warm_up), daemon=True
        )
        with signals_blocked():
            self._process.start()
        theirs.close()
        self._pipe = ours

    async def perform(self, task: Task, on_news: Report) -> Any:
        """The result; FlexpressError if the task fails, or if its process dies."""
        async with self._turn:
            self.start()
            assert self._pipe is not None
            self._stop.clear()
            try:
                self._pipe.send(task)
                while True:
                    kind, value = await asyncio.to_thread(self._pipe.recv)
                    if kind == "done":
                        return value
                    if kind == "failed":
                        raise value
                    on_news(value)
            except (EOFError, OSError):
                self._process = None
                raise FlexpressError("the work ended unexpectedly; start it again") from None

    def stop(self) -> None:
        """Ask the task to stop with what it has."""
        self._stop.set()

    def end(self) -> None:
        """End the process; a task that was under way fails."""
        if self._process is not None:
            self._process.terminate()
            self._process.kill()
            self._process.join()


def _serve(pipe: Connection, stop: Flag, warm_up: Callable[[], None]) -> None:
    """In the process."""
    ignore_signals(but="SIGTERM")
    threading.Thread(target=_die_with_parent, daemon=True).start()
    warm_up()
    while True:
        try:
            task: Task = pipe.recv()
        except EOFError:
            return
        pipe.send(_outcome(task, lambda news: pipe.send(("news", news)), stop.is_set))


def _outcome(task: Task, report: Report, should_stop: ShouldStop) -> tuple[str, Any]:
    try:
        return "done", task(report, should_stop)
    except FlexpressError as error:
        return "failed", type(error)(str(error))
    except Exception as error:
        text = f"{type(error).__name__}: {error}. This is a bug in flexpress; please report it"
        return "failed", FlexpressError(text)


def _die_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    connection.wait([parent.sentinel])
    os._exit(1)
