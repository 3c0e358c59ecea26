"""What a learning problem is like: the constants of the paper's assumptions, and of its start."""

from __future__ import annotations

from dataclasses import dataclass, fields

from flexpress.arguments import check_number
from flexpress.errors import InputError


@dataclass(frozen=True)
class Constants:
    """Section "Assumptions" of the paper, and where the bounds begin."""

    smoothness: float  # L: no client's gradient changes faster than this
    gradient: float  # G: the root of the mean square of mini-batch gradients is at most this
    noise: float  # sigma: that of their distances from the client's gradient
    start_gap: float  # f(x^0) - f^*
    start_gradient: float  # |grad f(x^0)|^2

    def __post_init__(self) -> None:
        for field in fields(self):
            check_number(field.name, getattr(self, field.name), least=0)
        if self.smoothness == 0:
            raise InputError("smoothness = 0: must be more than 0, as the rate is at most 1/L")

    @property
    def largest_rate(self) -> float:
        """1 / L, up to which both theorems hold."""
        return 1 / self.smoothness


@dataclass(frozen=True)
class Estimate:
    """A constant that was measured, over clients and models."""

    value: float  # the largest seen, which is what the assumptions ask for
    mean: float
    deviation: float  # standard, over clients and models
    samples: int  # of gradients, or of Hessian-vector products
