"""A file that grows line by line, with errors of one line."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from flexpress.errors import InputError
from flexpress.files.disk import read_bytes, unwritable

REMEDY = "put it back as it was, or simulate again into another folder"


class GrowingFile:
    """Continues a file from some length, cutting off the rest. It keeps the file's digest."""

    def __init__(self, path: Path, length: int) -> None:
        self._path = path
        with self._writing():
            path.touch()
            if path.stat().st_size < length:
                raise damaged(path)
            os.truncate(path, length)
            self._digest = hashlib.sha256(path.read_bytes())
            self._file = path.open("ab")

    @property
    def length(self) -> int:
        """In bytes, including those that are not flushed yet."""
        return self._file.tell()

    @property
    def sha256(self) -> str:
        """The digest of these bytes."""
        return self._digest.hexdigest()

    def write(self, line: str) -> None:
        content = line.encode()
        with self._writing():
            self._file.write(content)
        self._digest.update(content)

    def flush(self) -> None:
        with self._writing():
            self._file.flush()

    def sync(self) -> None:
        """Flush, and wait until the disk has it."""
        with self._writing():
            self._file.flush()
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Without an error: all that matters was flushed before."""
        with suppress(OSError):
            self._file.close()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise unwritable(self._path, error) from None


def check_beginning(path: Path, length: int, sha256: str) -> None:
    """InputError if the first bytes of the file are not those that were written."""
    content = read_bytes(path)[:length]
    if len(content) < length or hashlib.sha256(content).hexdigest() != sha256:
        raise damaged(path)


def damaged(path: Path) -> InputError:
    return InputError(f"{path}: was changed after its run wrote it; {REMEDY}")
