"""Processes that a program has started, and that should not outlive it."""

from __future__ import annotations

import time
from pathlib import Path

WAIT = 180.0
"""Seconds. Ray's agents look only now and then whether those whom they serve are alive."""

can_look = Path("/proc/self/stat").exists()


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
