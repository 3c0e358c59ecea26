"""A file that grows line by line, with errors of one line."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from flexpress.errors import InputError
from flexpress.scenario.files import reason


class GrowingFile:
    """Gone on with from some length; what came after is cut off."""

    def __init__(self, path: Path, length: int) -> None:
        self._path = path
        with self._writing():
            path.touch()
            if path.stat().st_size < length:
                raise damaged(path)
            os.truncate(path, length)
            self._file = path.open("ab")

    @property
    def length(self) -> int:
        """Bytes, with those that are not flushed yet."""
        return self._file.tell()

    def write(self, line: str) -> None:
        with self._writing():
            self._file.write(line.encode())

    def flush(self) -> None:
        with self._writing():
            self._file.flush()

    def close(self) -> None:
        """Whatever counts was flushed before."""
        with suppress(OSError):
            self._file.close()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise InputError(f"{self._path}: cannot be written: {reason(error)}") from None


def damaged(path: Path) -> InputError:
    return InputError(
        f"{path}: is not as its run had written it; "
        "it cannot be taken up: run into another folder without --resume"
    )
