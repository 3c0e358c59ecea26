"""The page about scaling: its example runs, and its numbers are those of the program."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import Any

import pytest

from flexpress.learning.architecture import make_architecture
from flexpress.learning.on_ray.learner import _MOST_TEST_PARTS, _SHARD_SIZE, _SMALLEST_TEST_PART
from flexpress.learning.on_ray.worker_pool import _MOST_LOSSES, _PATIENCE_SECONDS
from flexpress.simulation import Trace
from flexpress.workers import ray_executor

PAGE = (Path(__file__).parents[2] / "docs" / "scaling.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_example(ray: Any) -> None:
    section = PAGE.split("## In Python")[1]
    code = textwrap.dedent("\n".join(re.findall(r"^(?:    .*|)$", section, re.MULTILINE)))
    namespace: dict[str, object] = {}
    exec(compile(code, "scaling.md", "exec"), namespace)
    trace = namespace["trace"]
    assert isinstance(trace, Trace)
    assert trace.metrics[-1].slot == 24


def test_numbers() -> None:
    assert f"at most {_SHARD_SIZE} clients" in PAGE
    assert f"⌈R_k / {_SHARD_SIZE}⌉" in PAGE
    assert f"{_MOST_TEST_PARTS} parts of at least {_SMALLEST_TEST_PART:,}" in PAGE
    assert _MOST_LOSSES == 5
    assert "Five workers that die" in PAGE
    assert ray_executor._MOST_LOSSES == 5
    assert PAGE.count("up to four times") == 1
    assert _PATIENCE_SECONDS == 120
    assert "after two minutes" in PAGE


def test_bytes() -> None:
    lenet = make_architecture("lenet", (1, 28, 28), 10)
    assert f"P = {lenet.num_params:,}" in PAGE
    assert f"{4 * lenet.num_params:,} bytes" in PAGE
    million = 1e6 / (4 * lenet.num_params)
    assert "four sums, 1 MB in all, instead of forty updates of 10 MB" in PAGE
    assert (round(4 / million), round(40 / million)) == (1, 10)
    assert (round(1000 / million), round(1e4 / million, -2)) == (247, 2500)
    fmnist, svhn = 70_000 * (28 * 28 + 4), (73_257 + 26_032) * (3 * 32 * 32 + 4)
    assert f"{fmnist / 1e6:.0f} MB for `fmnist`, {svhn / 1e6:.0f} MB for `svhn`" in PAGE
