"""How a group of jobs is cut into shards, which fix the sums."""

from __future__ import annotations

from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flexpress.learning import Job
from flexpress.learning.on_ray.learner import _even_parts

MODEL = np.zeros(3)


def jobs(*steps: int) -> list[Job]:
    return [Job(i, MODEL, 0, number) for i, number in enumerate(steps)]


@given(st.integers(1, 60), st.integers(1, 20))
def test_shards_are_few_even_and_in_order(count: int, size: int) -> None:
    group = jobs(*[1] * count)
    parts = _even_parts(group, size)
    assert list(chain.from_iterable(parts)) == group
    sizes = [len(part) for part in parts]
    assert max(sizes) <= size
    assert max(sizes) - min(sizes) <= 1
    assert (len(parts) - 1) * size < count, "one less would not do"


@pytest.mark.parametrize(("count", "expected"), [(8, [8]), (9, [4, 5]), (10, [5, 5]), (1, [1])])
def test_shards_of_eight(count: int, expected: list[int]) -> None:
    assert [len(part) for part in _even_parts(jobs(*[3] * count), 8)] == expected
