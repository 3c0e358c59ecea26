"""The constants of quadratic losses in closed form, against searches that know no formula."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from bowls import Array, random_bowls
from hypothesis import given, settings
from hypothesis import strategies as st
from thinned import by_default

from flexpress.errors import InputError
from flexpress.theory import exact_constants
from flexpress.theory.quadratic_constants import _largest_square


def climbed(matrix: Array, slope: Array, radius: float, rng: np.random.Generator) -> float:
    """The largest |A u + b|^2 on the sphere that climbing finds: from many points, uphill."""
    points = rng.standard_normal((200, len(slope)))
    for _ in range(3000):
        points *= radius / np.linalg.norm(points, axis=1, keepdims=True)
        points = (points @ matrix + slope) @ matrix + 1e-300
    points *= radius / np.linalg.norm(points, axis=1, keepdims=True)
    return float(np.square(points @ matrix + slope).sum(axis=1).max())


@pytest.mark.parametrize("seed", by_default(3, range(8)))
def test_against_searches(seed: int) -> None:
    """Some with losses that are not convex; the mean of all has a minimum."""
    bowls = random_bowls(seed, params=1 + seed % 5, lowest=0.2 if seed % 2 else -0.5)
    rng = np.random.default_rng(seed)
    start, radius = rng.standard_normal(bowls.size), rng.uniform(0.1, 3.0)
    found = exact_constants(bowls.curvatures, bowls.centres, 0.3, start, radius)
    slopes = bowls.gradients(bowls.client_ids, start)
    pairs = zip(bowls.curvatures, slopes, strict=True)
    steepest = max(climbed(matrix, slope, radius, rng) for matrix, slope in pairs)
    assert found.gradient**2 == pytest.approx(steepest + 0.09, rel=1e-9)
    spectra = [np.linalg.norm(matrix, ord=2) for matrix in bowls.curvatures]
    assert found.smoothness == pytest.approx(max(spectra))
    assert found.noise == 0.3
    assert found.start_gradient == pytest.approx(np.square(slopes.mean(axis=0)).sum())
    best = start
    for _ in range(5000):
        best = best - 0.3 * bowls.gradients(bowls.client_ids, best).mean(axis=0)
    assert found.start_gap == pytest.approx(bowls.loss(start) - bowls.loss(best), rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_no_model_in_the_ball_has_a_larger_gradient(seed: int) -> None:
    bowls = random_bowls(seed, params=3)
    rng = np.random.default_rng(seed)
    start = rng.standard_normal(3)
    found = exact_constants(bowls.curvatures, bowls.centres, 0.0, start, 2.0)
    moves = rng.standard_normal((20_000, 3))
    lengths = np.linalg.norm(moves, axis=1, keepdims=True)
    models = start + 2.0 * moves / lengths * rng.random((20_000, 1)) ** (1 / 3)
    largest = max(
        np.linalg.norm(bowls.gradients([i] * len(models), models), axis=1).max()
        for i in bowls.client_ids
    )
    assert 0.97 * found.gradient < largest <= found.gradient


def test_a_negative_curvature_counts_by_its_size() -> None:
    curvatures = [np.diag([2.0, -4.0]), np.eye(2), np.diag([1.0, 3.5])]
    assert exact_constants(curvatures, np.zeros((3, 2)), 0.0, np.ones(2), 1.0).smoothness == 4.0


def test_hard_case() -> None:
    """A = diag(2, 1), b = (0, 0.6): the best u has 0.6 / 3 along b, and the rest across."""
    value = _largest_square(np.array([2.0, 1.0]), np.array([0.0, 0.6]), 1.0)
    assert value == pytest.approx(4 * (1 - 0.04) + (0.2 + 0.6) ** 2, rel=1e-14)
    assert value == pytest.approx(
        climbed(np.diag([2.0, 1.0]), np.array([0.0, 0.6]), 1.0, np.random.default_rng(0))
    )


def test_no_hard_case_where_the_ball_is_small() -> None:
    """The same with r = 0.1 < 0.6 / 3: all of the way along b."""
    value = _largest_square(np.array([2.0, 1.0]), np.array([0.0, 0.6]), 0.1)
    assert value == pytest.approx(0.7**2, rel=1e-14)


@pytest.mark.parametrize(
    ("eigenvalues", "slopes", "radius", "expected"),
    [
        ([0.0, 0.0], [3.0, 4.0], 5.0, 25.0),  # no curvature
        ([-2.0, 1.0], [0.0, 0.0], 3.0, 36.0),  # from the centre, downhill is as steep
        ([-2.0], [4.0], 3.0, 100.0),
        ([2.0, 2.0], [3.0, 4.0], 1.0, 49.0),  # twice the same eigenvalue
        ([2.0, 2.0, 0.0], [0.0, 0.0, 5.0], 1.0, 29.0),
        ([3.0, 1.0], [1.0, 1.0], 0.0, 2.0),  # one model only
    ],
)
def test_special_cases(
    eigenvalues: list[float], slopes: list[float], radius: float, expected: float
) -> None:
    found = _largest_square(np.array(eigenvalues), np.array(slopes), radius)
    assert found == pytest.approx(expected, rel=1e-14)


@given(st.integers(0, 10**9), st.floats(0, 1), st.floats(0.01, 100))
@settings(max_examples=60, deadline=None)
def test_near_the_hard_case(seed: int, closeness: float, radius: float) -> None:
    """Slopes along the steepest direction of any size down to 1e-20: nothing jumps."""
    rng = np.random.default_rng(seed)
    eigenvalues, slopes = rng.uniform(-2, 2, 3), rng.standard_normal(3)
    top = np.abs(eigenvalues).argmax()
    slopes[top] *= 10.0 ** (-20 * closeness)
    near = _largest_square(eigenvalues, slopes, radius)
    pulled = abs(eigenvalues[top] * slopes[top])
    slopes[top] = 0.0
    hard = _largest_square(eigenvalues, slopes, radius)
    assert hard * (1 - 1e-12) <= near
    assert near <= (hard + 2 * pulled * radius + pulled**2 / eigenvalues[top] ** 2) * (1 + 1e-12)


GOOD: dict[str, Any] = {
    "curvatures": np.eye(2)[None],
    "centres": np.zeros((1, 2)),
    "noise": 0.1,
    "start": np.ones(2),
    "radius": 1.0,
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"start": np.ones(3)}, r"curvatures \(1, 2, 2\), centres \(1, 2\), start \(3,\): must be"),
        ({"curvatures": np.eye(2)}, r"curvatures \(2, 2\), centres"),
        ({"centres": np.zeros((0, 2)), "curvatures": np.zeros((0, 2, 2))}, r"curvatures \(0, 2, 2"),
        ({"start": [1.0, math.nan]}, "curvatures, centres, start: must hold finite numbers"),
        ({"curvatures": [[[1.0, 0.5], [0.0, 1.0]]]}, "curvatures differ from their transposes by"),
        ({"noise": -0.5}, "noise = -0.5: must be a finite number of at least 0"),
        ({"radius": math.inf}, "radius = inf: must be a finite number of at least 0"),
        (
            {"curvatures": [np.diag([1.0, -0.25])]},
            "curvatures: their mean has the eigenvalue -0.25",
        ),
        ({"curvatures": [np.diag([1.0, 0.0])]}, "curvatures: their mean has the eigenvalue 0, so"),
    ],
)
def test_mistakes(change: dict[str, Any], message: str) -> None:
    exact_constants(**GOOD)
    with pytest.raises(InputError, match=f"^{message}") as caught:
        exact_constants(**(GOOD | change))
    assert "\n" not in str(caught.value)


def test_dissimilarity_is_the_largest_that_is_found() -> None:
    """The root of the mean over clients of |grad f_i - grad f|^2, climbed to within the ball."""
    for seed in range(6):
        rng = np.random.default_rng([18, seed])
        clients, params, radius = 4, 3, float(rng.uniform(0.2, 3))
        halves = rng.standard_normal((clients, params, params))
        a, c = halves @ halves.transpose(0, 2, 1) / 4 + np.eye(params), rng.standard_normal((4, 3))
        start = rng.standard_normal(params)
        zeta = exact_constants(a, c, 0.0, start, radius).dissimilarity
        assert zeta is not None
        apart = a - a.mean(axis=0)
        slopes = np.einsum("ijk,ik->ij", a, start - c)
        slopes -= slopes.mean(axis=0)
        wide = np.concatenate(apart) / clients**0.5  # all clients in one: |A u + b|^2
        tall = np.concatenate(slopes) / clients**0.5
        points = rng.standard_normal((200, params))
        for _ in range(2000):
            points *= radius / np.linalg.norm(points, axis=1, keepdims=True)
            points = (points @ wide.T + tall) @ wide
        points *= radius / np.linalg.norm(points, axis=1, keepdims=True)
        found = np.square(points @ wide.T + tall).sum(axis=1).max()
        assert zeta**2 == pytest.approx(found, rel=1e-9)


def test_equal_clients_are_not_dissimilar() -> None:
    same = {"curvatures": np.tile(np.eye(2), (3, 1, 1)), "centres": np.ones((3, 2))}
    assert exact_constants(**{**GOOD, **same}).dissimilarity == 0
