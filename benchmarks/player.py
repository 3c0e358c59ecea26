"""A contestant's process, seen from outside: given orders, waited for, and ended."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from measure import THREADS
from turns import MARK, Order, marked_processes

LONGEST_WAIT = 600.0
"""Seconds for one answer."""


@dataclass(frozen=True)
class Contestant:
    """`orders`: whether images are channels last in memory; the best for it is what counts."""

    name: str
    command: tuple[str, ...]
    orders: tuple[bool, ...] = (False,)


@dataclass(frozen=True)
class Turn:
    """So many rounds, and what they took."""

    rounds: int
    wall: float
    cpu: float


class Player:
    """The process, and those that it starts; `lost` is why it takes no part any more."""

    def __init__(self, contestant: Contestant, log: Path) -> None:
        self.contestant = contestant
        self.lost: str | None = None
        self._log = log
        self._mark = uuid.uuid4().hex
        if not Path(contestant.command[0]).exists():
            self.lost = f"there is no {contestant.command[0]}"
            return
        with log.open("w") as errors:
            self._process = subprocess.Popen(
                contestant.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env=os.environ | dict.fromkeys(THREADS, "1") | {MARK: self._mark},
            )
        self._answer()

    def turn(self, order: Order) -> Turn | None:
        """None if it is lost."""
        if self.lost is not None:
            return None
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # it has ended: then no answer comes
            self._process.stdin.write(f"{json.dumps(asdict(order))}\n")
            self._process.stdin.flush()
        answer = self._answer()
        return None if answer is None else Turn(order.rounds, answer["wall"], answer["cpu"])

    def _answer(self) -> dict[str, Any] | None:
        """None if none comes; then it is lost."""
        assert self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], LONGEST_WAIT)
        line = self._process.stdout.readline() if ready else ""
        try:
            answer: dict[str, Any] = json.loads(line)
        except ValueError:
            self.close()
            self.lost = self._reason(line) if ready else f"no answer in {LONGEST_WAIT:g} s"
            return None
        return answer

    def _reason(self, line: str) -> str:
        """The last line that it wrote, be it in the place of an answer."""
        written = [row for row in [*self._log.read_text().splitlines(), line] if row.strip()]
        return written[-1].strip() if written else "it ended"

    def close(self) -> None:
        """It ends when no more orders come; what it leaves behind is ended too."""
        if self.lost is not None:
            return
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()
        end_marked(self._mark)


def end_marked(mark: str) -> None:
    """Processes that were started under this mark, asked first."""
    if not Path("/proc/self/environ").exists():
        return
    for request in (signal.SIGTERM, signal.SIGKILL):
        left = [int(process.name) for process in marked_processes(mark)]
        for number in left:
            with suppress(ProcessLookupError):
                os.kill(number, request)
        if left:
            time.sleep(2)


@contextmanager
def players(contestants: Sequence[Contestant]) -> Iterator[list[Player]]:
    """All of them; those that cannot be started are lost at once."""
    with tempfile.TemporaryDirectory() as folder:
        started: list[Player] = []
        try:
            for number, contestant in enumerate(contestants):
                started.append(Player(contestant, Path(folder) / f"{number}.log"))
            yield started
        finally:
            for player in started:
                player.close()
