"""Where files of others are looked for: `$FLEXPRESS_DATA`, or `shared/data` beside the project."""

from __future__ import annotations

import os
from pathlib import Path


def data_folders() -> list[Path]:
    beside = Path(__file__).parents[2] / "shared" / "data"
    named = os.environ.get("FLEXPRESS_DATA")
    return [Path(named), beside] if named else [beside]


def find(*names: str) -> Path | None:
    """The first folder's file, or folder, of this name below it."""
    paths = [folder.joinpath(*names) for folder in data_folders()]
    return next((path for path in paths if path.exists()), None)
