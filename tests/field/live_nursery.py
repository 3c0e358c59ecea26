"""A program that starts the programs of the field, for tests: it has loaded what they need.

It reads orders, one JSON object per line, and forks a process for each. All of them write what they
have to say to its output: one line per event, in the order in which they happened. A process that
is to die at its n-th durable step (before it, or after it: each counts) sends itself a signal.
When the input ends, so do all that it has started.
"""

from __future__ import annotations

import errno
import itertools
import json
import os
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable
from io import FileIO
from pathlib import Path
from typing import Any
from unittest.mock import patch

import field_order
import msgspec
from field_order import Order
from ledger import Ledger

from flexpress.field import client, courier, local_training, room, server, store
from flexpress.field.calling import Patience
from flexpress.field.log import Log
from flexpress.field.trainer import Trainer
from flexpress.field.training import Training
from flexpress.scenario import Scenario

_RUN: dict[str, Callable[..., None]] = {
    "server": server.run_server,
    "courier": courier.run_courier,
    "client": client.run_client,
}

Entry = dict[str, Any]


def main() -> None:
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    living: dict[int, Order] = {}
    orders = FileIO(0)
    _say({"event": "nursery-open"})
    while True:
        ready, _, _ = select.select([0, woken], [], [])
        if woken in ready:
            os.read(woken, 4096)
            _bury(living)
        if 0 in ready:
            line = orders.readline()
            if not line:
                break
            order = msgspec.json.decode(line, type=Order)
            living[_bear(order)] = order
    for pid in living:
        os.kill(pid, signal.SIGKILL)


def _bury(living: dict[int, Order]) -> None:
    """Say how each process ended that has ended."""
    while living:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if not pid:
            return
        order, code = living.pop(pid), os.waitstatus_to_exitcode(status)
        ended = {"field": order.field, "program": order.name, "event": "ended"}
        _say({**ended, "pid": pid, "code": code})


def _say(entry: Entry) -> None:
    """In one piece: what has at most 4,096 bytes is not mixed with what others write."""
    line = f"{json.dumps(entry)}\n".encode()
    assert len(line) <= select.PIPE_BUF, line
    os.write(1, line)


def _bear(order: Order) -> int:
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        _become(order)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def _become(order: Order) -> None:
    """The program itself, in its own process."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _say({"field": order.field, "program": order.name, "event": "born", "pid": os.getpid()})
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    steps, all_steps = itertools.count(1), itertools.count(1)

    def say(entry: Entry) -> None:
        _say({"field": order.field, **entry})

    def disturb(number: int) -> None:
        if number in range(*order.no_room):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if number == order.leaps_at:
            later = time.time() + 10 * 365 * 86400
            patch.object(time, "time", lambda: later).start()
            say({"program": order.name, "event": "leaps"})

    def durable(step: str) -> None:
        disturb(next(all_steps))
        if order.step in ("", step) and next(steps) == order.dies_at:
            say({"program": order.name, "event": "dies", "step": step})
            os.kill(os.getpid(), order.by)

    patch.object(store, "durable", durable).start()
    patient = Patience(total=1e9, first_wait=0.02, longest_wait=0.1, outlasts_others=True)
    patch.object(courier, "_AT_HOME", patient).start()
    patch.object(local_training, "_SAVE_SECONDS", 0.5).start()
    patch.object(room, "_WAIT_SECONDS", 0.02).start()
    if order.counts:
        _keep_count()
    options = {"restored": True} if order.restored else {}
    _RUN[field_order.role(order.name)](Path(order.kit), log=Log(order.name, sink=say), **options)


def _keep_count() -> None:
    """Server and clients learn nothing but how often each step was applied."""

    def in_folder(training: Training, folder: Path, tell: object) -> Trainer:
        return Trainer(training, Ledger.for_one(training))

    def make_learner(scenario: Scenario, **options: object) -> Ledger:
        return Ledger.of(scenario.client_ids)

    patch.object(Trainer, "in_folder", in_folder).start()
    patch.object(server, "make_learner", make_learner).start()


if __name__ == "__main__":
    main()
