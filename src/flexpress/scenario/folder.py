"""Folders that results are written to, and the names of the files that say what they are about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from flexpress.errors import InputError
from flexpress.scenario.files import reason, write_file

SCENARIO, PLAN = "scenario-used.toml", "plan.json"
PROBE = ".flexpress.part"


def check_folder(folder: Path, names: Iterable[str]) -> None:
    """InputError now rather than after the work, if files of these names cannot be written.

    Leaves nothing behind.
    """
    made: list[Path] = []
    try:
        made = [path for path in (folder, *folder.parents) if not path.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        (folder / PROBE).touch()
        (folder / PROBE).unlink()
    except (OSError, ValueError) as error:
        raise unusable(folder, error) from None
    finally:
        for path in made:
            if path.is_dir():
                path.rmdir()
    for name in names:
        if (folder / name).is_dir():
            raise InputError(f"{folder / name}: is a folder, and a file is to be written there")


def write_files(folder: Path, contents: Mapping[str, str | bytes]) -> None:
    """Each in one step; the folder is made if it is not there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unusable(folder, error) from None
    for name, content in contents.items():
        write_file(folder / name, content)


def unusable(folder: Path, error: OSError | ValueError) -> InputError:
    if isinstance(error, FileExistsError):
        return InputError(f"{folder}: is a file; name a folder")
    return InputError(f"{folder}: no files can be written there: {reason(error)}; name another")
