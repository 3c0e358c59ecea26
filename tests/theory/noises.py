"""What mini-batches add to a gradient: independent over clients, steps and replicates."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from shapes import Array


class Noise(Protocol):
    def draw(self, rng: np.random.Generator, num: tuple[int, int], axes: Array) -> NDArray[Any]:
        """What chance decides, for one step: (clients, replicates, ..)."""

    def gradients(self, drawn: NDArray[Any], slopes: Array, axes: Array) -> Array:
        """(clients, replicates, axes) slopes -> (clients, replicates, parameters)."""

    def spreads(self, steepest: Array, axes: Array) -> tuple[float, float]:
        """G^2 and sigma^2: suprema over x of the second moment and of the variance, one client."""


@dataclass(frozen=True)
class Arrow:
    """Of one length, into a random direction; seldom, and then longer, if `chance` is below 1."""

    length: float  # sigma
    chance: float = 1.0

    def draw(self, rng: np.random.Generator, num: tuple[int, int], axes: Array) -> NDArray[Any]:
        arrows = rng.standard_normal((*num, axes.shape[1]))
        arrows *= self.length / self.chance**0.5 / np.linalg.norm(arrows, axis=2, keepdims=True)
        if self.chance < 1:
            arrows *= rng.random((*num, 1)) < self.chance
        return arrows

    def gradients(self, drawn: NDArray[Any], slopes: Array, axes: Array) -> Array:
        total: Array = slopes @ axes + drawn
        return total

    def spreads(self, steepest: Array, axes: Array) -> tuple[float, float]:
        longest = max(float(np.sum((corner @ axes) ** 2)) for corner in corners(steepest))
        return longest + self.length**2, self.length**2


@dataclass(frozen=True)
class OneAxis:
    """The mini-batch is one of the sum's terms, drawn evenly, times their number."""

    def draw(self, rng: np.random.Generator, num: tuple[int, int], axes: Array) -> NDArray[Any]:
        return rng.integers(len(axes), size=num)

    def gradients(self, drawn: NDArray[Any], slopes: Array, axes: Array) -> Array:
        drawn_slopes = np.take_along_axis(slopes, drawn[..., np.newaxis], axis=2)
        total: Array = len(axes) * drawn_slopes * axes[drawn]
        return total

    def spreads(self, steepest: Array, axes: Array) -> tuple[float, float]:
        """The variance is a convex function of the slopes: largest where all are steepest."""
        moment = len(axes) * float(np.sum(np.sum(axes**2, axis=1) * steepest**2))
        shortest = min(float(np.sum((corner @ axes) ** 2)) for corner in corners(steepest))
        return moment, moment - shortest


def corners(steepest: Array) -> list[Array]:
    """The steepest slopes with all combinations of signs."""
    signs = itertools.product([-1.0, 1.0], repeat=len(steepest))
    return [np.array(s) * steepest for s in signs]
