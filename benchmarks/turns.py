"""The contestant's side of a contest: waits for its turn, does the work, tells what it took.

It runs in the environment of the contestant, so it needs nothing but Python. Orders come in by
lines of JSON, answers go out in the same way; whatever libraries print goes to standard error.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

MARK = "FLEXPRESS_BENCHMARK"
"""A variable that all processes of a contestant inherit: no other way finds those of Ray."""


@dataclass(frozen=True)
class Order:
    """So many rounds of this work; `save` is a file for the global model after them, or None."""

    workload: str  # a folder
    channels_last: bool  # torch's other order of an image in memory
    rounds: int
    save: str | None = None


Perform = Callable[[Order], Any]
"""Does what is ordered, and returns the global model after it, flat, in torch's order."""


def claim_answers() -> TextIO:
    """Standard output for answers alone; what is printed from now on goes to standard error."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return answers


def take_turns(
    perform: Perform,
    cpu_seconds: Callable[[], float] | None = None,
    answers: TextIO | None = None,
) -> None:
    """Until no more orders come. Nothing but `perform` is timed."""
    clock, answers = cpu_seconds or own_cpu_seconds, answers or claim_answers()
    answer(answers, {"ready": True})
    for order in orders():
        wall, cpu = time.perf_counter(), clock()
        model = perform(order)
        wall, cpu = time.perf_counter() - wall, clock() - cpu
        if order.save is not None:
            model.tofile(order.save)
        answer(answers, {"wall": wall, "cpu": cpu})


def orders() -> Iterator[Order]:
    for line in sys.stdin:
        yield Order(**json.loads(line))


def answer(answers: TextIO, what: dict[str, object]) -> None:
    answers.write(f"{json.dumps(what)}\n")
    answers.flush()


def own_cpu_seconds() -> float:
    """Of this process and of those it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def cpu_seconds_of_all() -> float:
    """Of all processes that carry our mark, and of those that they have waited for."""
    ticks = sum(ticks_of(process) for process in marked_processes(os.environ[MARK]))
    return ticks / os.sysconf("SC_CLK_TCK")


def ticks_of(process: Path) -> int:
    """Fields 14 to 17 of its line: user and system, its own and those of its dead children."""
    try:
        fields = (process / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0  # it has just ended, and its parent has its ticks
    return sum(int(field) for field in fields[11:15])


def marked_processes(mark: str) -> Iterator[Path]:
    """Those that were started with our mark among their variables (Linux)."""
    wanted = f"{MARK}={mark}".encode()
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                variables = (process / "environ").read_bytes().split(b"\0")
            except OSError:
                continue  # another user's, or it has just ended
            if wanted in variables:
                yield process
