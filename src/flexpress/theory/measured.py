"""The left-hand sides of the lemmas and theorems, measured in one recorded run.

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

Array = NDArray[np.floating[Any]]


class LossFunction(Protocol):
    """f = (1/N) sum_i f_i over the clients, with its gradients."""

    @property
    def client_ids(self) -> Sequence[int | str]: ...

    def loss(self, model: Array) -> float:
        """f(x)."""

    def gradients(self, clients: Sequence[int | str], models: Array) -> Array:
        """(clients, params): grad f_i, each at its row of models, or all at the one model."""

    def sampled(self, clients: Sequence[int | str], models: Array, steps: Sequence[int]) -> Array:
        """The same for the mini-batch that each client draws in its local step."""


def check_loss(loss: object) -> None:
    """InputError if it lacks a member of `LossFunction`."""
    needed = ("client_ids", "loss", "gradients", "sampled")
    if isinstance(loss, type) or not all(hasattr(loss, name) for name in needed):
        raise refusal("loss", loss, "a LossFunction; use a TrainingLoss or a Quadratic")


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

    @property
    def head_start(self) -> float:
        """gamma."""


@dataclass(frozen=True, eq=False)
class Measured:
    """Squares of distances and of gradients at every slot t = 0, 1, ..., T - 1."""

    real_to_local: FloatArray  # (slots, clients): |x^t - x_i^t|^2, of Lemma 1
    virtual_to_real: FloatArray  # (slots,): |v^t - x^t|^2, of Lemma 2
    virtual_to_local: FloatArray  # (slots,): (1/N) sum_i |v^t - x_i^t|^2, of Lemma 2
    gradient: FloatArray  # (slots,): |grad f(x^t)|^2
    head_start: float = 0.0  # gamma: Theorem 1 and the factor of Lemma 2 are for 0

    @property
    def mean_gradient(self) -> FloatArray:
        """(1/T) sum_{t<T} |grad f(x^t)|^2 for T = 1, 2, ..., of both theorems."""
        return np.cumsum(self.gradient) / np.arange(1, len(self.gradient) + 1)


def measure(sequences: Sequences, loss: LossFunction) -> Measured:
    """Measure distances between the models of a recording, and gradients at its global models."""
    check_loss(loss)
    needed = ("client_ids", "real", "virtual", "local", "head_start")
    if not all(hasattr(sequences, name) for name in needed):
        raise refusal("sequences", sequences, "a Recording; make one with record(...)")
    real = np.asarray(sequences.real[:-1], dtype=float)
    virtual = np.asarray(sequences.virtual[:-1], dtype=float)
    return Measured(
        real_to_local=_to_local(real, sequences),
        virtual_to_real=squares(virtual - real),
        virtual_to_local=_to_local(virtual, sequences).mean(axis=1),
        gradient=_gradients_along(real, loss),
        head_start=sequences.head_start,
    )


def _to_local(models: FloatArray, sequences: Sequences) -> FloatArray:
    """(slots, clients): squared distances, slot by slot to save memory."""
    pairs = zip(models, sequences.local, strict=True)
    return np.array([squares(model - own) for model, own in pairs])


def _gradients_along(models: FloatArray, loss: LossFunction) -> FloatArray:
    """|grad f|^2 at each model. A model that equals the one before is not computed again."""
    found = np.empty(len(models))
    for t, model in enumerate(models):
        if t and np.array_equal(model, models[t - 1]):
            found[t] = found[t - 1]
        else:
            own = loss.gradients(loss.client_ids, model)
            found[t] = squares(np.mean(own, axis=0, dtype=float))
    return found


def squares(vectors: Array) -> FloatArray:
    """Squared lengths along the last axis."""
    return np.asarray(np.sum(np.square(vectors, dtype=float), axis=-1), dtype=float)
