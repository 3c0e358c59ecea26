"""The left-hand sides of the lemmas and theorems, as one recorded run shows them.

The statements are about expectations: average over runs with different seeds before comparing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from flexpress.arguments import refusal
from flexpress.arrays import FloatArray
from flexpress.theory.objective import Objective, check_objective

Array = NDArray[np.floating[Any]]


class Sequences(Protocol):
    """The models of a run at every slot, in the paper's equivalent view: a `Recording`."""

    @property
    def client_ids(self) -> Sequence[int | str]: ...

    @property
    def real(self) -> Array:
        """x^t: (slots + 1, params)."""

    @property
    def virtual(self) -> Array:
        """v^t: (slots + 1, params)."""

    @property
    def local(self) -> Array:
        """x_i^t: (slots, clients, params)."""


@dataclass(frozen=True, eq=False)
class Measured:
    """Squares of distances and of gradients at every slot t = 0, 1, ..., T - 1."""

    real_to_local: FloatArray  # (slots, clients): |x^t - x_i^t|^2, of Lemma 1
    virtual_to_real: FloatArray  # (slots,): |v^t - x^t|^2, of Lemma 2
    virtual_to_local: FloatArray  # (slots,): (1/N) sum_i |v^t - x_i^t|^2, of Lemma 2
    gradient: FloatArray  # (slots,): |grad f(x^t)|^2

    @property
    def mean_gradient(self) -> FloatArray:
        """(1/T) sum_{t<T} |grad f(x^t)|^2 for T = 1, 2, ...: of both theorems."""
        return np.cumsum(self.gradient) / np.arange(1, len(self.gradient) + 1)


def measure(sequences: Sequences, objective: Objective) -> Measured:
    """Distances of a recording's models, and the gradients of f at its global models."""
    check_objective(objective)
    if not all(hasattr(sequences, name) for name in ("client_ids", "real", "virtual", "local")):
        raise refusal("sequences", sequences, "a Recording; make one with record(...)")
    real = np.asarray(sequences.real[:-1], dtype=float)
    virtual = np.asarray(sequences.virtual[:-1], dtype=float)
    return Measured(
        real_to_local=to_local(real, sequences),
        virtual_to_real=squares(virtual - real),
        virtual_to_local=to_local(virtual, sequences).mean(axis=1),
        gradient=gradients_along(real, objective),
    )


def to_local(models: FloatArray, sequences: Sequences) -> FloatArray:
    """(slots, clients): squared distances; slot by slot, as all clients' models are many."""
    pairs = zip(models, sequences.local, strict=True)
    return np.array([squares(model - own) for model, own in pairs])


def gradients_along(models: FloatArray, objective: Objective) -> FloatArray:
    """|grad f|^2 at each model; those that repeat the one before cost nothing."""
    found = np.empty(len(models))
    for t, model in enumerate(models):
        if t and np.array_equal(model, models[t - 1]):
            found[t] = found[t - 1]
        else:
            own = objective.gradients(objective.client_ids, model)
            found[t] = squares(np.mean(own, axis=0, dtype=float))
    return found


def squares(vectors: Array) -> FloatArray:
    """Squared lengths along the last axis."""
    return np.asarray(np.sum(np.square(vectors, dtype=float), axis=-1), dtype=float)
