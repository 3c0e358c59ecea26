"""Machine code that was made from files that changed since is not used."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from flexpress import Scenario, make_learner, make_plan
from flexpress.compiled import cached_code, drop_stale_code
from flexpress.learning.fast.entry_points import local_steps, scores
from flexpress.planning.bounds import load as load_bounds
from flexpress.planning.bounds.completions import tour_cost
from flexpress.planning.bounds.enumeration import enumerate_tours
from flexpress.planning.bounds.pricing import price
from flexpress.planning.search.anneal import anneal

ENTRY_FUNCTIONS = [anneal, enumerate_tours, local_steps, price, scores, tour_cost]


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> None:
    four = Scenario.preset("four")
    make_plan(four, iterations=1)
    make_learner(four)
    load_bounds()


@pytest.mark.parametrize("compiled", ENTRY_FUNCTIONS, ids=lambda each: each.__name__)
def test_the_code_of_every_entry_function_is_found(compiled: Any) -> None:
    assert cached_code(compiled)


class Copy:
    """An entry function whose cache is a copy, which a test may damage."""

    def __init__(self, compiled: Any, folder: Path) -> None:
        self.__name__, self.__module__ = compiled.__name__, compiled.__module__
        self.stats = type("Stats", (), {"cache_path": str(folder)})
        for index in cached_code(compiled):
            shutil.copy2(index, folder)


@pytest.mark.parametrize("compiled", ENTRY_FUNCTIONS, ids=lambda each: each.__name__)
def test_code_older_than_a_file_of_its_folder_is_dropped(compiled: Any, tmp_path: Path) -> None:
    cache, sources = tmp_path / "cache", tmp_path / "sources"
    cache.mkdir()
    sources.mkdir()
    copy = Copy(compiled, cache)
    newest = max(index.stat().st_mtime for index in cached_code(copy))
    (sources / "kernel.py").touch()
    os.utime(sources / "kernel.py", (newest - 9e6, newest - 9e6))
    drop_stale_code(copy, sources)
    assert cached_code(copy), "it is newer than the file"
    os.utime(sources / "kernel.py", (newest + 1, newest + 1))
    drop_stale_code(copy, sources)
    assert not cached_code(copy)
