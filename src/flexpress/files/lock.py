"""One process at a time in a folder: two would write into the same files.

The lock is the operating system's, on the file `.flexpress.lock` in the folder: it ends with its
process, however that ended. The file is empty and removed at the end; one that a killed process
has left means nothing.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from flexpress.errors import InputError
from flexpress.files.disk import make_folder, unusable

LOCK = ".flexpress.lock"

_NO_LOCKS = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP)
"""Errors of file systems without locks, such as some on networks."""


@contextmanager
def sole_use(folder: Path) -> Iterator[None]:
    """InputError if another process works in the folder; the folder is made if it is missing."""
    make_folder(folder)
    lock = FileLock(folder / LOCK, blocking=False, fallback_to_soft=False)
    try:
        lock.acquire()
    except Timeout:
        raise InputError(
            f"{folder}: another run is under way there; wait for it, or name another folder"
        ) from None
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise unusable(folder, error) from None
    try:
        yield
    finally:
        with suppress(OSError):  # Windows removes it when it is released
            (folder / LOCK).unlink()
        lock.release()
