"""Where the official files are on this machine, for the tests that need them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
GIVEN = os.environ.get("FLEXPRESS_DATA")  # before any test changes it


def official_folder(name: str) -> Path:
    """The folder of this data set; the test is skipped if there is none."""
    for place in ([Path(GIVEN)] if GIVEN else []) + [REPOSITORY.parent / "shared" / "data"]:
        if (place / name).is_dir():
            return place / name
    pytest.skip(f"no official files: set FLEXPRESS_DATA to a folder with {name}/")
