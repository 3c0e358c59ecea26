"""One small Ray cluster on this machine for all tests that need one."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
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
