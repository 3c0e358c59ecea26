"""Which command wrote which file, and the one rule for replacing files.

A command replaces a file only if it wrote the file itself and it is unchanged since; it never
writes over a file that it reads. For this, every folder has a record: a line for each file that
was written, with the command and the digest of the content. A line is added before its file is
written and is never removed, so that the record stays right if the command is killed, and if
several commands work in one folder.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, Self

from flexpress.errors import InputError
from flexpress.files.disk import check_folder, make_folder, reason, unwritable, write_file
from flexpress.files.lock import LOCK
from flexpress.files.versions import version_of

RECORD = ".flexpress.jsonl"
_MOST_NAMES = 3
"""Number of saved files that an error names, so that it stays one line."""


class _Writer(NamedTuple):
    """The command that wrote a file, and whether the file is still as it was then."""

    command: str
    unchanged: bool


class Outputs:
    """The files that a command writes; errors within a `with` block say which are saved.

    `inputs` are the files that it reads. A call from Python has no command, and may replace any
    file but its inputs.
    """

    def __init__(self, command: str = "", inputs: Iterable[Path] = ()) -> None:
        self.command, self._inputs = command, tuple(inputs)
        self.saved: list[Path] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: object, error: BaseException | None, *__: object) -> None:
        if error and self.saved:
            more = len(self.saved) - _MOST_NAMES
            names = ", ".join(map(str, self.saved[:_MOST_NAMES]))
            names += f" and {more} more" if more > 0 else ""
            error.add_note(f"{names} {'is' if len(self.saved) == 1 else 'are'} saved")

    def check(self, folder: Path, names: Iterable[str], growing: Iterable[str] = ()) -> None:
        """InputError before the work if files of these names cannot or must not be written.

        Leaves nothing behind. Growing files may be longer than they were when recorded.
        """
        names, growing = list(names), list(growing)
        check_folder(folder, [*names, *growing])
        for name in [*names, *growing]:
            self.check_file(folder / name, growing=name in growing)

    def write(self, folder: Path, contents: Iterable[tuple[str, str | bytes]]) -> None:
        """One after the other: the first are saved even if a later content cannot be made."""
        make_folder(folder)
        for name, content in contents:
            path = folder / name
            data = content.encode() if isinstance(content, str) else content
            self.check_file(path)
            if self.command:
                add_line(path, self.command, hashlib.sha256(data).hexdigest())
            write_file(path, data)
            self.saved.append(path)

    def check_file(self, path: Path, *, growing: bool = False) -> None:
        """The rule; a file that does not exist may be written."""
        if path.name in (RECORD, LOCK):
            raise InputError(f"{path}: this name is reserved by flexpress; choose another")
        if not os.path.lexists(path):
            return
        if any(other.exists() and path.exists() and path.samefile(other) for other in self._inputs):
            raise InputError(f"{path}: is read by this command; write to another place")
        fault = self.command and why_not_own(path, self.command, growing=growing)
        if fault:
            raise InputError(f"{path}: {fault}; name another place with --out, or delete it")


def why_not_own(path: Path, command: str, *, growing: bool = False) -> str:
    """The reason; blank if this command wrote the file and it is unchanged, or may grow."""
    writer = _writer_of(path)
    if writer is None:
        return "was not written by flexpress"
    if writer.command != command:
        return f"was written by `flexpress {writer.command}`"
    if not (writer.unchanged or growing):
        return f"was changed since `flexpress {command}` wrote it"
    return ""


def _writer_of(path: Path) -> _Writer | None:
    """The last command that wrote this content, or else the last that wrote this file."""
    lines = list(_lines_about(path))
    if not lines:
        return None
    found = digest(path)
    same = [line["command"] for line in lines if line["sha256"] == found]
    return _Writer(same[-1], True) if same else _Writer(lines[-1]["command"], False)


def is_changed(path: Path) -> bool:
    """Whether the file differs from its record; without a record it does not."""
    writer = _writer_of(path)
    return writer is not None and not writer.unchanged


def digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {reason(error)}") from None


def add_line(path: Path, command: str, sha256: str) -> None:
    """Record that this command is about to write the file, or has just written it."""
    entry = {"file": path.name, "command": command, "sha256": sha256}
    entry["flexpress"] = version_of("flexpress")
    lines = list(_lines_about(path))
    if lines and lines[-1] == entry:
        return
    record = path.with_name(RECORD)
    torn = record.exists() and not record.read_bytes().endswith(b"\n")
    try:
        with record.open("ab") as file:  # one write: other commands may append too
            file.write(("\n" * torn + json.dumps(entry) + "\n").encode())
    except OSError as error:
        raise unwritable(record, error) from None


def _lines_about(path: Path) -> Iterator[Mapping[str, str]]:
    """The lines of the record about this file; a line torn by a full disk is skipped."""
    record = path.with_name(RECORD)
    try:
        lines = record.read_bytes().splitlines() if record.exists() else []
    except OSError as error:
        raise InputError(f"{record}: cannot be read: {reason(error)}") from None
    for line in lines:
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict) and entry.get("file") == path.name:
            yield {key: str(entry.get(key)) for key in ("file", "command", "sha256", "flexpress")}
