"""One process at a time in a folder: two would write into the same files."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from flexpress.errors import InputError
from flexpress.files.disk import write_files


@contextmanager
def sole_use(folder: Path) -> Iterator[None]:
    """InputError if another process is at work there; the folder is made if it is not there.

    The lock is the system's: it is gone when the process is, however that ended.
    """
    write_files(folder, {})
    if sys.platform == "win32":  # where folders cannot be locked
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        if not locked(descriptor):
            raise InputError(
                f"{folder}: another run is under way there; wait for it, or name another folder"
            )
        yield
    finally:
        os.close(descriptor)


def locked(descriptor: int) -> bool:
    """Whether it is ours now; where there are no locks, it is anybody's."""
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # some file systems on networks know none
        return True
    return True
