"""Two processes in the same folder: the second is refused, and the lock ends with its process."""

from __future__ import annotations

import errno
import subprocess
import sys
from pathlib import Path

import pytest

from flexpress.errors import InputError
from flexpress.files.lock import LOCK, sole_use
from flexpress.files.provenance import Outputs

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
    assert [path.name for path in folder.iterdir()] == [LOCK]
    with sole_use(folder):
        pass
    assert list(folder.iterdir()) == []


def test_again_after_an_error(tmp_path: Path) -> None:
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt), sole_use(tmp_path):
            raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_no_file_of_a_command_has_the_name_of_the_lock(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"{LOCK}: this name is reserved by flexpress; choose"):
        Outputs("plan").check(tmp_path, [LOCK])


def test_a_folder_that_cannot_be_written_to(tmp_path: Path) -> None:
    """Not by its permissions: root may write everywhere."""
    (tmp_path / LOCK).mkdir()
    with pytest.raises(InputError, match="no files can be written there: "), sole_use(tmp_path):
        raise AssertionError("locked a folder")


def test_a_file_system_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some on networks have none: then nobody is refused."""

    def missing(self: object) -> None:
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr("flexpress.files.lock.FileLock.acquire", missing)
    with sole_use(tmp_path), sole_use(tmp_path):
        pass
