"""How jobs are cut up for Ray workers: shards fix the sums, bundles must not change them."""

from __future__ import annotations

from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flexpress.learning import Job
from flexpress.learning.on_ray.shards import LARGEST_BUNDLE, bundles, even_parts

MODEL = np.zeros(3)


def jobs(*steps: int) -> list[Job]:
    return [Job(i, MODEL, 0, number) for i, number in enumerate(steps)]


@given(st.integers(1, 60), st.integers(1, 20))
def test_shards_are_few_even_and_in_order(count: int, size: int) -> None:
    group = jobs(*[1] * count)
    parts = even_parts(group, size)
    assert list(chain.from_iterable(parts)) == group
    sizes = [len(part) for part in parts]
    assert max(sizes) <= size
    assert max(sizes) - min(sizes) <= 1
    assert (len(parts) - 1) * size < count, "one less would not do"


@pytest.mark.parametrize(("count", "expected"), [(8, [8]), (9, [4, 5]), (10, [5, 5]), (1, [1])])
def test_shards_of_eight(count: int, expected: list[int]) -> None:
    assert [len(part) for part in even_parts(jobs(*[3] * count), 8)] == expected


@given(
    st.lists(st.lists(st.integers(1, 50), min_size=1, max_size=9), max_size=40),
    st.integers(1, 9),
    st.integers(1, 9),
)
def test_bundles_are_whole_shards_in_order(
    steps: list[list[int]], num_workers: int, most: int
) -> None:
    shards = [jobs(*each) for each in steps]
    found = [list(bundle) for bundle in bundles(shards, num_workers, most)]
    assert list(chain.from_iterable(found)) == shards
    assert all(1 <= len(bundle) <= most for bundle in found)
    largest = max((sum(each) for each in steps), default=0)
    for bundle in found:
        assert sum(job.num_steps for shard in bundle for job in shard) < LARGEST_BUNDLE + largest


def test_there_are_bundles_for_all_workers() -> None:
    """Forty shards of 8 clients with 8 steps each, and three workers."""
    found = list(bundles([jobs(*[8] * 8)] * 40, 3, 100))
    assert len(found) >= 9
    assert {len(bundle) for bundle in found} == {4}
