"""One small Ray cluster on this machine for all tests that need one."""

from __future__ import annotations

import gc
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

STORE_BYTES = 200 * 2**20


@contextmanager
def small_cluster() -> Iterator[Any]:
    """No more memory than the tests need, and it is gone in the end.

    Cores are those that Ray counts: two for a learner that several tests use, one for another.
    """
    ray = pytest.importorskip("ray", reason='needs Ray: pip install "flexpress[ray]"')
    with untidy():
        ray.init(
            "local",
            num_cpus=3,
            include_dashboard=False,
            object_store_memory=STORE_BYTES,
            logging_level="ERROR",
            log_to_driver=False,
        )
    try:
        yield ray
    finally:
        with untidy():
            ray.shutdown()


@contextmanager
def untidy() -> Iterator[None]:
    """Ray leaves files open, and does not wait for its processes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        yield
        gc.collect()


def processes_that_do(name: str, caller: int | None = None) -> list[int]:
    """Workers that are at work on this remote function, of a caller's own cluster, or of ours."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            title = path.read_text()
            ancestors = parent(int(path.parent.name)), parent(parent(int(path.parent.name)))
        except OSError:  # it has just ended
            continue
        if f"ray::{name}" in title and (caller or os.getpid()) in ancestors:
            found.append(int(path.parent.name))
    return found


def parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
