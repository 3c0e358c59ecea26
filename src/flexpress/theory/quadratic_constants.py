"""The constants of quadratic losses f_i(x) = 1/2 (x - c_i)^T A_i (x - c_i), in closed form.

Their gradients are not bounded, as Assumption 3 demands, but they are within a ball around x^0.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from flexpress.arguments import check_array, check_number
from flexpress.arrays import FloatArray
from flexpress.errors import InputError
from flexpress.theory.bounds import Constants

_SYMMETRY = 1e-9
"""Tolerance for rounding errors, relative to the largest entry."""


def exact_constants(
    curvatures: ArrayLike,  # (clients, params, params): A_i
    centres: ArrayLike,  # (clients, params): c_i
    noise: float,  # sigma
    start: ArrayLike,  # (params,): x^0
    radius: float,
) -> Constants:
    """The constants for models within `radius` of x^0; L and f^* are those of all models.

    A mini-batch gradient is the client's plus noise with a mean square of sigma^2. A client's loss
    need not be convex, but their mean must have a minimum.
    """
    a, c = check_array("curvatures", curvatures), check_array("centres", centres)
    x = check_array("start", start)
    noise, radius = (
        check_number("noise", noise, least=0),
        check_number("radius", radius, least=0),
    )
    _check(a, c, x)
    slopes = (a @ (x - c)[:, :, None])[:, :, 0]
    eigenvalues, vectors = np.linalg.eigh(a)
    turned = (vectors.transpose(0, 2, 1) @ slopes[:, :, None])[:, :, 0]
    steepest = max(
        _largest_square(*client, radius) for client in zip(eigenvalues, turned, strict=True)
    )
    mean, slope = a.mean(axis=0), slopes.mean(axis=0)
    return Constants(
        smoothness=float(np.abs(eigenvalues).max()),
        gradient=math.sqrt(steepest + noise**2),
        noise=noise,
        start_gap=_gap(mean, slope),
        start_gradient=float(slope @ slope),
        dissimilarity=math.sqrt(_widest(a - mean, slopes - slope, radius)),
    )


def _largest_square(eigenvalues: FloatArray, slopes: FloatArray, radius: float) -> float:
    """The supremum of |A u + b|^2 over |u| <= r, in the basis of A's eigenvectors."""
    return _largest(eigenvalues**2, eigenvalues * slopes, float(slopes @ slopes), radius)


def _widest(a: FloatArray, b: FloatArray, radius: float) -> float:
    """The supremum of the mean over clients of |A_i u + b_i|^2 over |u| <= r."""
    values, vectors = np.linalg.eigh((a @ a).mean(axis=0))
    slopes = vectors.T @ np.einsum("ijk,ij->k", a, b) / len(a)
    return _largest(np.maximum(values, 0.0), slopes, float(np.sum(b**2)) / len(a), radius)


def _largest(squares: FloatArray, slopes: FloatArray, rest: float, radius: float) -> float:
    """The supremum of sum_j s_j u_j^2 + 2 sum_j b_j u_j + rest over |u| <= r, all s_j >= 0.

    It is taken on the sphere, as the function is convex: at u_j = b_j / (m - s_j), where m is at
    least every s_j and makes |u| = r. In the hard case, where b has no part along the steepest
    directions, |u| may be less than r for the smallest m already: then u goes the rest of the way
    along one of those. The value is rest + b^T u + m r^2 either way.
    """
    if radius == 0:
        return rest
    pulls = slopes**2
    largest = float(np.max(squares))
    gaps = (largest - squares)[pulls > 0]
    pulls = pulls[pulls > 0]
    excess = _multiplier(gaps, pulls, radius)
    along = float(np.sum(pulls / (gaps + excess))) if len(pulls) else 0.0
    return rest + along + (largest + excess) * radius**2


def _multiplier(gaps: FloatArray, pulls: FloatArray, radius: float) -> float:
    """The secular equation, sum_j pulls_j / (gaps_j + e)^2 = r^2, for e >= 0: by bisection.

    The sum falls with e. If it is too small even for e = 0, that is the answer.
    """
    if np.all(gaps > 0) and np.sum(pulls / gaps**2) <= radius**2:
        return 0.0
    low, high = 0.0, math.sqrt(pulls.sum()) / radius
    while low < (middle := (low + high) / 2) < high:
        if np.sum(pulls / (gaps + middle) ** 2) > radius**2:
            low = middle
        else:
            high = middle
    return high


def _gap(mean: FloatArray, slope: FloatArray) -> float:
    """f(x^0) - f^*, for the mean of all A_i and the gradient of f at x^0: g^T A^-1 g / 2."""
    lowest, largest = np.linalg.eigvalsh(mean)[[0, -1]]
    if lowest <= len(mean) * np.finfo(float).eps * largest:
        raise InputError(
            f"curvatures: their mean has the eigenvalue {lowest:g}, so that f has no minimum; "
            "must be more than 0"
        )
    return float(slope @ np.linalg.solve(mean, slope)) / 2


def _check(a: FloatArray, c: FloatArray, x: FloatArray) -> None:
    shapes = (*c.shape, *c.shape[1:]), c.shape[1:]
    if c.ndim != 2 or c.size == 0 or (a.shape, x.shape) != shapes:
        raise InputError(
            f"curvatures {a.shape}, centres {c.shape}, start {x.shape}: must be "
            "(clients, params, params), (clients, params), (params,)"
        )
    if not all(np.isfinite(each).all() for each in (a, c, x)):
        raise InputError("curvatures, centres, start: must hold finite numbers only")
    skew = np.abs(a - a.transpose(0, 2, 1)).max()
    if skew > _SYMMETRY * np.abs(a).max():
        raise InputError(
            f"curvatures differ from their transposes by {skew:g}: must be symmetric; "
            "use (A + A^T) / 2"
        )
