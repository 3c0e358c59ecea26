"""Intervals by Student's t: against SciPy, by trying, and by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from flexpress.experiments.statistics import _quantile, interval


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.999])
def test_quantiles_are_those_of_scipy(confidence: float) -> None:
    freedoms = range(1, 201)
    ours = [_quantile(freedom, confidence) for freedom in freedoms]
    theirs = stats.t.ppf((1 + confidence) / 2, list(freedoms))
    np.testing.assert_allclose(ours, theirs, rtol=1e-9)


def test_by_hand() -> None:
    """Two values: mean 2, standard deviation sqrt(2), t = tan(0.95 pi / 2)."""
    found = interval([1.0, 3.0])
    reach = math.tan(0.95 * math.pi / 2)
    assert found.values == (1.0, 3.0)
    assert found.mean == 2.0
    assert found.low == pytest.approx(2 - reach)
    assert found.high == pytest.approx(2 + reach)


def test_four_values_as_scipy_has_them() -> None:
    values = [0.012, 0.003, -0.004, 0.009]
    low, high = stats.t.interval(0.95, 3, np.mean(values), stats.sem(values))
    found = interval(values)
    assert (found.low, found.high) == pytest.approx((low, high))


def test_one_value_has_no_interval() -> None:
    found = interval([0.25])
    assert (found.values, found.mean, found.low, found.high) == ((0.25,), 0.25, None, None)


def test_values_that_are_all_the_same() -> None:
    """Not a rounding error to the left or right of it."""
    found = interval([0.1] * 3)
    assert (found.low, found.mean, found.high) == (0.1, 0.1, 0.1)


@pytest.mark.parametrize("seeds", [2, 4, 10])
def test_the_true_mean_is_inside_in_95_of_100_cases(seeds: int) -> None:
    trials = 3000
    drawn = np.random.default_rng(seeds).normal(0.3, 2.0, (trials, seeds))
    inside = 0
    for values in drawn.tolist():
        found = interval(values)
        assert found.low is not None
        assert found.high is not None
        inside += found.low <= 0.3 <= found.high
    error = math.sqrt(0.95 * 0.05 / trials)
    assert inside / trials == pytest.approx(0.95, abs=4 * error)
