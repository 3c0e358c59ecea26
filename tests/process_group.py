"""Processes in a session of their own: watched, and ended whatever happens to the test."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from small_run import environment

PATIENCE = 600.0
"""Seconds: a machine may be busy, and what is not compiled yet is compiled first."""

Started = subprocess.Popen[str]

looked_up = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc")


@contextmanager
def started(
    arguments: Sequence[str], *, places: Sequence[Path] = (), cwd: Path | None = None
) -> Iterator[Started]:
    """Python with these arguments, and modules in these places.

    Nothing of its group is left afterwards: a test that fails must not wait for it.
    """
    surroundings = environment()
    path = os.pathsep.join([surroundings["PYTHONPATH"], *map(str, places)])
    with subprocess.Popen(
        [sys.executable, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        env={**surroundings, "PYTHONPATH": path},
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def wait_until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def living(leader: int) -> list[int]:
    """Processes of this session that live: some of Ray's are in groups of their own."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, session = path.read_text().rpartition(")")[2].split()[:4]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(session) == leader and state != "Z":
            found.append(int(path.parent.name))
    return found
