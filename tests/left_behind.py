"""Processes that a program has started, and that should not outlive it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from small_run import environment

WAIT = 180.0
"""Seconds. Ray's agents look only now and then whether those whom they serve are alive."""

can_look = Path("/proc/self/stat").exists()


@contextmanager
def started(program: str, *arguments: str, cwd: Path) -> Iterator[subprocess.Popen[str]]:
    """In a session of its own, so that what it starts can be found; a test that fails ends it."""
    process = subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        env=environment(),
        start_new_session=True,
    )
    with process:
        try:
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def living(session: int) -> list[int]:
    """Processes of the session of this leader."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, its = path.read_text().rpartition(")")[2].split()[:4]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(its) == session and state != "Z":
            found.append(int(path.parent.name))
    return found


def wait_until_gone(session: int) -> None:
    deadline = time.monotonic() + WAIT
    while living(session):
        assert time.monotonic() < deadline, living(session)
        time.sleep(0.05)
