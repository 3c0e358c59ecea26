"""How the server merges what transporters bring: simulated ones, or couriers in the field."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add

import numpy as np

from flexpress.learning import Vector


class NotFiniteError(ArithmeticError):
    """The merged model has parameters that are not finite numbers."""


def merge(model: Vector, sums: Sequence[Vector], num_clients: int) -> Vector:
    """Eqs. (13) to (15): x - (1/N) sum_k u_k, over what all transporters bring; read-only.

    Without a sum it is x itself. NotFiniteError if training has diverged.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # checked right below
        merged = model - reduce(add, sums) / num_clients if sums else model
    if not np.isfinite(merged).all():
        raise NotFiniteError("the model is no longer finite")
    return frozen(merged)


def frozen(model: Vector) -> Vector:
    """A read-only view: jobs, deliveries and callbacks share the models."""
    model = model.view()
    model.flags.writeable = False
    return model
