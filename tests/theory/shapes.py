"""Losses whose bounds are known everywhere: sums of functions of one variable along fixed axes.

    f_i(x) = sum_j phi_ij(axis_j . x),  axes linearly independent

Every u = (axis_1 . x, axis_2 . x, ..) is reached by some x. So whatever the functions of the axes
do one by one they do at once somewhere, and the suprema and the minimum below are exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Clients = NDArray[np.intp] | slice


class Shapes(Protocol):
    """phi_ij of all clients and axes; `u` is (clients, .., axes)."""

    @property
    def steepest(self) -> Array:
        """sup |phi_ij'|: (clients, axes)."""

    @property
    def sharpest(self) -> Array:
        """sup |phi_ij''|: (clients, axes)."""

    def value(self, clients: Clients, u: Array) -> Array:
        """phi_ij(u_j)."""

    def slope(self, clients: Clients, u: Array) -> Array:
        """phi_ij'(u_j)."""

    def lowest(self) -> float:
        """The minimum over all u of the mean over the clients, summed over the axes."""

    def widest(self) -> Array:
        """The supremum over u_j of the mean squared distance of phi_ij' from its mean: (axes,)."""


def over(parameters: Array, u: Array) -> Array:
    """(clients, axes, ..) -> the same with the axes of `u` that lie between."""
    between = (1,) * (u.ndim - 2)
    return parameters.reshape(parameters.shape[0], *between, *parameters.shape[1:])


@dataclass(frozen=True, eq=False)
class Waves:
    """a (1 - cos(u + c)): neither convex nor concave, minima and maxima for ever."""

    height: Array  # a > 0: (clients, axes)
    phase: Array  # c

    @property
    def steepest(self) -> Array:
        return self.height

    @property
    def sharpest(self) -> Array:
        return self.height

    def value(self, clients: Clients, u: Array) -> Array:
        height, phase = over(self.height[clients], u), over(self.phase[clients], u)
        values: Array = height * (1 - np.cos(u + phase))
        return values

    def slope(self, clients: Clients, u: Array) -> Array:
        height, phase = over(self.height[clients], u), over(self.phase[clients], u)
        slopes: Array = height * np.sin(u + phase)
        return slopes

    def lowest(self) -> float:
        """A sum of cosines of one frequency is a cosine: of the height of the sum of phasors."""
        phasors = np.mean(self.height * np.exp(1j * self.phase), axis=0)
        return float(np.sum(np.mean(self.height, axis=0) - np.abs(phasors)))

    def widest(self) -> Array:
        """Of sin^2 = (1 - cos 2u) / 2, whose phasors are the squares."""
        phasors = self.height * np.exp(1j * self.phase)
        apart = phasors - phasors.mean(axis=0)
        sides = np.mean(np.abs(apart) ** 2, axis=0), np.abs(np.mean(apart**2, axis=0))
        largest: Array = (sides[0] + sides[1]) / 2
        return largest


@dataclass(frozen=True, eq=False)
class Ramps:
    """Slopes that go in straight lines from level to level, and stay level beyond the last knots.

    Levels that rise make it convex (two of them: a Huber loss); others make hills and hollows.
    The axes must be orthonormal if the exact suprema are wanted.
    """

    knots: Array  # increasing: (clients, axes, knots)
    levels: Array  # the slope there

    @property
    def steepest(self) -> Array:
        top: Array = np.abs(self.levels).max(axis=2)
        return top

    @property
    def sharpest(self) -> Array:
        top: Array = np.abs(self.bends()).max(axis=2)
        return top

    def bends(self) -> Array:
        return np.diff(self.levels, axis=2) / np.diff(self.knots, axis=2)

    def slope(self, clients: Clients, u: Array) -> Array:
        within, _, bends = self.segments(clients, u)
        left = over(self.levels[clients][..., 0], u)
        total: Array = left + np.sum(bends * within, axis=-1)
        return total

    def value(self, clients: Clients, u: Array) -> Array:
        """The integral of the slope from 0 if it were level to the left of the first knot."""
        within, beyond, bends = self.segments(clients, u)
        left = over(self.levels[clients][..., 0], u)
        widths = over(np.diff(self.knots[clients], axis=2), u)
        total: Array = left * u + np.sum(bends * (within**2 / 2 + widths * beyond), axis=-1)
        return total

    def segments(self, clients: Clients, u: Array) -> tuple[Array, Array, Array]:
        """How far u is into each segment, how far beyond it, and how the segment bends."""
        knots = over(self.knots[clients], u)
        low, high, here = knots[..., :-1], knots[..., 1:], u[..., np.newaxis]
        bends = over(self.bends()[clients], u)
        return np.clip(here, low, high) - low, np.maximum(here - high, 0.0), bends

    def lowest(self) -> float:
        """Between knots the mean slope is straight: minima are at knots, or where it crosses 0."""
        total = 0.0
        for j in range(self.knots.shape[1]):
            places = np.unique(self.knots[:, j])
            slopes = self.mean(self.slope, places, j)
            assert slopes[0] <= 1e-12, "no lower bound to the left"
            assert slopes[-1] >= -1e-12, "no lower bound to the right"
            rise = np.diff(slopes)
            turns = rise != 0
            shares = -slopes[:-1][turns] / rise[turns]
            crossings = places[:-1][turns] + shares * np.diff(places)[turns]
            inside = crossings[(shares >= 0) & (shares <= 1)]
            total += self.mean(self.value, np.concatenate([places, inside]), j).min()
        return total

    def widest(self) -> Array:
        """Slopes are straight between knots, so their mean square is convex: largest at knots."""
        widest = []
        for j in range(self.knots.shape[1]):
            places = np.unique(self.knots[:, j])
            mean = self.mean(self.slope, places, j)
            squares = self.mean(lambda who, u: self.slope(who, u) ** 2, places, j)
            widest.append(max(0.0, float(np.max(squares - mean**2))))
        return np.array(widest)

    def mean(self, function: Any, places: Array, j: int) -> Array:
        """Of a function over the clients, on axis j: (places,)."""
        clients, axes = self.knots.shape[:2]
        u = np.broadcast_to(places[:, np.newaxis], (clients, len(places), axes))
        result: Array = function(slice(None), u)[..., j].mean(axis=0)
        return result
