"""Folders that results are written to, and the names of the files that say what they are about."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from flexpress.errors import InputError
from flexpress.scenario.files import reason, write_file

SCENARIO, PLAN = "scenario-used.toml", "plan.json"


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
            with suppress(OSError, ValueError):  # not there, or in use by another command
                path.rmdir()
    for name in names:
        try:
            is_folder = (folder / name).is_dir()
        except OSError as error:  # a name that is too long
            raise InputError(f"{folder / name}: {reason(error)}; name another file") from None
        if is_folder:
            raise InputError(f"{folder / name}: is a folder, and a file is to be written there")


def write_files(folder: Path, contents: Mapping[str, str | bytes]) -> None:
    """Each in one step; the folder is made if it is not there."""
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
