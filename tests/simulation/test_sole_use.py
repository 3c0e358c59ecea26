"""Two processes in the same folder: the second is turned away, and the system keeps the books."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from flexpress.errors import InputError
from flexpress.files.lock import sole_use

OTHER = """
import sys
from pathlib import Path
from flexpress.files.lock import sole_use
with sole_use(Path(sys.argv[1])):
    print("there", flush=True)
    sys.stdin.read()
"""


def test_another_process_in_the_folder(tmp_path: Path) -> None:
    """Even kill -9 lets go of it."""
    folder = tmp_path / "new"
    command = [sys.executable, "-c", OTHER, str(folder)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout
        assert other.stdout.readline() == "there\n"
        refused = pytest.raises(InputError, match="new: another run is under way there; wait for")
        with refused, sole_use(folder):
            raise AssertionError("not alone")
        other.kill()
    with sole_use(folder):
        assert list(folder.iterdir()) == []


def test_again_after_an_error(tmp_path: Path) -> None:
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt), sole_use(tmp_path):
            raise KeyboardInterrupt
