"""Reading and writing files and folders: whole or not at all, with errors of one line."""

from __future__ import annotations

import errno
import glob
import os
import tomllib
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from flexpress.errors import InputError

SCENARIO, PLAN = "scenario-used.toml", "plan.json"
"""The files in a folder of results that say what it is about, whichever command wrote it."""


_FULL = (errno.ENOSPC, errno.EDQUOT)


class DiskFullError(InputError):
    """There is no room left, or the quota is used up. Once somebody makes room, it can go on."""

    def __init__(
        self,
        path: Path,
        why: str,
        remedy: str = "make room on the disk",
        needed: int | None = None,
    ) -> None:
        """`needed` is how many bytes were to be written, if that is known."""
        super().__init__(f"{path}: cannot be written: {why}; {remedy}")
        self.path = path
        self.needed = needed


def read_text(path: Path) -> str:
    """A UTF-8 text file, with or without a byte order mark."""
    return decode(read_bytes(path), path)


def read_bytes(path: Path) -> bytes:
    with open_file(path) as file:
        try:
            return file.read()
        except OSError as error:
            raise _unreadable(path, error) from None


def open_file(path: Path) -> BinaryIO:
    """For reading bytes."""
    try:
        return path.open("rb")
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; check the name and the folder") from None
    except IsADirectoryError:
        raise InputError(f"{path}: is a folder; give the name of a file") from None
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from None


def _unreadable(path: Path, error: OSError | ValueError) -> InputError:
    return InputError(f"{path}: cannot be read: {reason(error)}")


def write_file(path: Path, content: str | bytes | Callable[[BinaryIO], object]) -> None:
    """Write a draft beside the file, then replace the file: it is never seen half written.

    Large content is a function that writes it, so that it is not in memory twice.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        try:
            with draft.open("wb") as file:
                if callable(content):
                    content(file)
                else:
                    file.write(content.encode() if isinstance(content, str) else content)
            os.replace(draft, path)
        finally:
            draft.unlink(missing_ok=True)
    except (OSError, ValueError) as error:
        raise unwritable(path, error) from None


def remove_drafts(path: Path) -> None:
    """Remove what processes left that were killed while they wrote this file."""
    for draft in path.parent.glob(f".{glob.escape(path.name)}.[0-9]*.part"):
        draft.unlink(missing_ok=True)


def reason(error: OSError | ValueError) -> str:
    """The system's message, without its error number."""
    return str(getattr(error, "strerror", None) or error)


def is_full(error: OSError | ValueError) -> bool:
    """Whether the disk, or the user's part of it, is full."""
    return getattr(error, "errno", None) in _FULL


def unwritable(path: Path, error: OSError | ValueError) -> InputError:
    """One line for an error that came while this was written."""
    if is_full(error):
        return DiskFullError(path, reason(error))
    return InputError(f"{path}: cannot be written: {reason(error)}")


def parse_toml(text: str, source: str) -> dict[str, object]:
    try:
        return tomllib.loads(text)
    except ValueError as error:  # TOMLDecodeError, or a number of absurd length
        raise InputError(f"{source}: not valid TOML: {error}") from None
    except RecursionError:
        raise InputError(f"{source}: not a scenario: brackets are nested too deeply") from None


def decode(content: bytes, path: Path) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}: line {line}: not UTF-8 text; save the file as UTF-8") from None


def check_folder(folder: Path, names: Iterable[str]) -> None:
    """InputError now rather than after the work, if files of these names cannot be written.

    Leaves nothing behind.
    """
    made: list[Path] = []
    probe = folder / f".flexpress.{os.getpid()}.part"
    try:
        made = [path for path in (folder, *folder.parents) if not path.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        probe.touch()
        probe.unlink()
    except (OSError, ValueError) as error:
        raise unusable(folder, error) from None
    finally:
        for path in made:
            with suppress(OSError, ValueError):  # missing, or in use by another command
                path.rmdir()
    for name in names:
        try:
            is_folder = (folder / name).is_dir()
        except OSError as error:  # a name that is too long
            raise InputError(f"{folder / name}: {reason(error)}; name another file") from None
        if is_folder:
            raise InputError(f"{folder / name}: is a folder, and a file is to be written there")


def write_files(folder: Path, contents: Mapping[str, str | bytes]) -> None:
    """Each in one step; the folder is made if it is missing."""
    make_folder(folder)
    for name, content in contents.items():
        write_file(folder / name, content)


def make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unusable(folder, error) from None


def unusable(folder: Path, error: OSError | ValueError) -> InputError:
    if isinstance(error, FileExistsError):
        return InputError(f"{folder}: is a file; name a folder")
    return InputError(f"{folder}: no files can be written there: {reason(error)}; name another")
