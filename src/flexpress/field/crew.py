"""The programs of a rehearsal: each is a process of its own, and says what it does."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import connection
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from flexpress.callbacks import ShouldStop
from flexpress.errors import FlexpressError
from flexpress.field.client import run_client
from flexpress.field.courier import run_courier
from flexpress.field.log import Log
from flexpress.field.provisioning import SERVER_KIT
from flexpress.field.server import run_server
from flexpress.workers.processes import ignore_signals, signals_blocked

Entry = dict[str, Any]
"""An event of a program, as it logs it."""

OnEntry = Callable[[Entry], None]


@dataclass(frozen=True)
class Program:
    """A process, and where it says what it does."""

    name: str
    process: BaseProcess
    said: Connection


_ROLES: dict[str, Callable[..., None]] = {
    "client": run_client,
    "server": run_server,
    "courier": run_courier,
}
"""In the order in which they are started: clients take longest to be ready."""


_PRELOADED = "flexpress.field.preloaded"


@contextmanager
def programs(kits: Path) -> Iterator[list[Program]]:
    """All programs of these kits as processes, which end with the block."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([_PRELOADED])
    crew: list[Program] = []
    try:
        for role in _ROLES:
            for folder in sorted(kits.iterdir()):
                if _role_of(folder) == role:
                    crew.append(start(context, folder))
        yield crew
    finally:
        end(crew)


def _role_of(folder: Path) -> str:
    return folder.name.partition("-")[0]


def start(context: Any, folder: Path) -> Program:
    """The program of this kit, in a process of its own."""
    said, says = context.Pipe(duplex=False)
    process = context.Process(target=_perform, args=(folder, says), daemon=True)
    with signals_blocked():
        process.start()
    says.close()
    return Program(folder.name, process, said)


def _perform(folder: Path, says: Connection) -> None:
    """In the process. Ctrl-C is for the one that the user started, which then ends this one."""
    ignore_signals(but="SIGTERM")
    threading.Thread(target=_die_with_parent, daemon=True).start()
    log = Log(folder.name, sink=says.send)
    try:
        _ROLES[_role_of(folder)](folder, log=log)
    except FlexpressError as error:
        log("failed", reason=str(error))


def _die_with_parent() -> None:
    """A parent that was killed cannot ask us to stop. All that counts is stored."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def watch(crew: Sequence[Program], on_entry: OnEntry, should_stop: ShouldStop) -> None:
    """Pass on what they say, until the server says that the mission is over."""
    of = {program.said: program for program in crew}
    while not should_stop():
        for said in connection.wait(list(of), timeout=0.2):
            assert isinstance(said, Connection)
            try:
                entry: Entry = said.recv()
            except EOFError:
                if should_stop():  # somebody has asked all of us to stop
                    raise KeyboardInterrupt from None
                raise FlexpressError(f"{of[said].name} has ended; nothing is lost") from None
            on_entry(entry)
            if entry["event"] == "failed":
                raise FlexpressError(f"{of[said].name}: {entry['reason']}")
            if entry["event"] == "mission-over":
                if entry["program"] == SERVER_KIT:
                    return
                del of[said]  # a courier that ends now, before all that the server said is read
    raise KeyboardInterrupt


def end(crew: Sequence[Program]) -> None:
    """Ask them to stop; end those that do not."""
    for program in crew:
        program.process.terminate()
    for program in crew:
        program.process.join(10.0)
        if program.process.is_alive():
            program.process.kill()
            program.process.join()
        program.said.close()
