"""100 MB over a slow and broken link, with bounded memory at both ends."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from links import make_kits

SEED = 20
HERE = Path(__file__).parent


def transfer_in_processes(folder: Path, size: int) -> dict[str, dict[str, float]]:
    """A process for each end, and one for the link: what the caller and the port report."""
    make_kits(folder / "kits")
    (folder / "content").write_bytes(random.Random(SEED).randbytes(size))
    done = subprocess.run(
        [sys.executable, HERE / "transfer_program.py", "caller", folder, str(SEED)],
        capture_output=True,
        text=True,
        timeout=3600,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, dict[str, float]] = json.loads(done.stdout)
    return found


@pytest.mark.slow
def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    """Fetched and pushed, through a link that is cut some forty times each way."""
    found = transfer_in_processes(tmp_path, 100_000_000)
    for end in ("caller", "port"):
        assert found[end]["grown"] < 20_000_000, found
    assert found["link"]["connections"] > 60, found
    assert found["link"]["carried"] < 230_000_000, found


def test_both_ends_in_processes(tmp_path: Path) -> None:
    found = transfer_in_processes(tmp_path, 3_000_000)
    assert found["link"]["connections"] >= 2
