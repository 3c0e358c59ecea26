"""Winograd: two outputs of a convolution by the table of transforms, against their plain sums."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flexpress.learning.fast.tables import BOTH, LOWER, SKEW, UPPER
from flexpress.learning.fast.winograd import transforms_of

NUMBERS = st.integers(-9, 9).map(Fraction)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.data(), st.integers(1, 12))
def test_two_outputs(data: st.DataObject, kernel: int) -> None:
    inputs = data.draw(st.lists(NUMBERS, min_size=kernel + 1, max_size=kernel + 1))
    weights = data.draw(st.lists(NUMBERS, min_size=kernel, max_size=kernel))
    sums = [Fraction(0)] * 4
    for transform in transforms_of(kernel):
        _, row, other, sign, first, rows, flip = (int(number) for number in transform)
        transformed = inputs[row] + sign * inputs[other]
        signs = 1, flip, 1
        weight = sum(signs[i] * weights[first + i] for i in range(rows))
        sums[transform["sum"]] += transformed * weight / (2 if rows == 3 else 1)
    upper = sums[UPPER] + sums[BOTH] + sums[SKEW]
    lower = sums[LOWER] + sums[BOTH] - sums[SKEW]
    assert upper == sum(inputs[y] * weights[y] for y in range(kernel))
    assert lower == sum(inputs[y + 1] * weights[y] for y in range(kernel))


@pytest.mark.parametrize(("kernel", "products"), [(1, 2), (2, 3), (3, 4), (4, 6), (5, 7), (7, 10)])
def test_how_many_products(kernel: int, products: int) -> None:
    assert len(transforms_of(kernel)) == products
    assert list(transforms_of(kernel)["sum"]) == sorted(transforms_of(kernel)["sum"])
