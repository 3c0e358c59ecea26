"""Quadratic losses with noisy gradients: a learner whose constants L, G, sigma and f* are known.

f_i(x) = 1/2 (x - c_i)^T A_i (x - c_i), and f is the mean over the clients, Eq. (1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexpress.errors import InputError
from flexpress.learning.job import Job, Metrics, Vector

FloatArray = NDArray[np.float64]

STREAM = 0x6E6F697365  # "noise"
"""The second word of the key: other draws from the same seed take another one."""

SYMMETRY = 1e-9
"""Relative to the largest entry: what is below is rounding."""


@dataclass(frozen=True, eq=False)
class Quadratic:
    """Clients i with curvature A_i around their centre c_i; what is given is copied.

    A mini-batch gradient is the true one plus a vector of the length `noise`, in a direction that
    is uniform on the sphere and a function of (seed, client, local step) alone: unbiased, and of
    variance sigma^2 = noise^2 everywhere. A curvature may have negative eigenvalues.
    """

    client_ids: tuple[int | str, ...]
    curvatures: FloatArray  # (clients, params, params), symmetric
    centres: FloatArray  # (clients, params)
    start: FloatArray  # (params,): x^0
    learning_rate: float = 0.1  # eta
    noise: float = 0.0  # sigma
    seed: int = 0

    @classmethod
    def random(
        cls,
        client_ids: Sequence[int | str],
        *,
        params: int,
        seed: int,
        eigenvalues: tuple[float, float] = (0.1, 1.0),
        spread: float = 1.0,
        learning_rate: float = 0.1,
        noise: float = 0.1,
    ) -> Self:
        """Curvatures with eigenvalues uniform in this range; centres and start are normal.

        The clients disagree by `spread`, the standard deviation of every coordinate. A range that
        begins below 0 makes losses that are not convex.
        """
        if params < 1:
            raise InputError(f"params = {params}: must be at least 1")
        if not 0 <= seed < 2**64:
            raise InputError(f"seed = {seed}: must lie within 0 and 2^64 - 1")
        low, high = eigenvalues
        if not -np.inf < low <= high < np.inf:
            raise InputError(f"eigenvalues = {eigenvalues}: must be a smaller and a larger number")
        rng = np.random.default_rng(seed)
        shape = len(client_ids), params
        rotations, _ = np.linalg.qr(rng.standard_normal((*shape, params)))
        drawn = rng.uniform(*eigenvalues, shape)
        curvatures = (rotations * drawn[:, None, :]) @ rotations.transpose(0, 2, 1)
        centres, start = rng.normal(0.0, spread, shape), rng.normal(0.0, spread, params)
        return cls(tuple(client_ids), curvatures, centres, start, learning_rate, noise, seed)

    def __post_init__(self) -> None:
        object.__setattr__(self, "client_ids", tuple(self.client_ids))
        for name in ("curvatures", "centres", "start"):
            object.__setattr__(self, name, own_copy(name, getattr(self, name)))
        self._check_arrays()
        self._check_numbers()

    def initial_model(self) -> FloatArray:
        """x^0 of the paper: (params,)."""
        return self.start.copy()

    def train(self, jobs: Sequence[Job]) -> FloatArray:
        """The model handed over minus the model after the job's steps: (jobs, params).

        All jobs go side by side; none depends on those beside it, to the bit.
        """
        begin = np.array([job.model for job in jobs], dtype=np.float64).reshape(-1, self.start.size)
        x = begin.copy()
        for done in range(max((job.num_steps for job in jobs), default=0)):
            running = [j for j, job in enumerate(jobs) if job.num_steps > done]
            clients = [jobs[j].client for j in running]
            steps = [jobs[j].first_step + done for j in running]
            with np.errstate(over="ignore", invalid="ignore"):  # the simulator finds it
                x[running] -= self.learning_rate * self.sampled(clients, x[running], steps)
        return begin - x

    def evaluate(self, model: Vector) -> Metrics:
        """f(x); there is nothing to classify, so the accuracy is 0."""
        return Metrics(self.loss(model), 0.0)

    def loss(self, model: Vector) -> float:
        """f(x), the mean of all f_i."""
        offsets = self._models(model, len(self.client_ids)) - self.centres
        with np.errstate(over="ignore", invalid="ignore"):  # the simulator finds it
            return float((offsets * product(self.curvatures, offsets)).sum(axis=1).mean() / 2)

    def gradients(self, clients: Sequence[int | str], models: Vector) -> FloatArray:
        """The true gradient of each of these clients, A_i (x - c_i): (len(clients), params).

        `models` has a row for each of them, or is one model for all.
        """
        rows = self._rows(clients)
        offsets = self._models(models, len(rows)) - self.centres[rows]
        return product(self.curvatures[rows], offsets)

    def sampled(
        self, clients: Sequence[int | str], models: Vector, steps: Sequence[int]
    ) -> FloatArray:
        """The same as in local step steps[j] of client j, with its noise."""
        if len(steps) != len(clients):
            raise InputError(f"{len(steps)} steps for {len(clients)} clients: must be as many")
        gradients = self.gradients(clients, models)
        if self.noise:
            gradients += self.noise * self._directions(self._rows(clients), steps)
        return gradients

    def _directions(self, rows: list[int], steps: Sequence[int]) -> FloatArray:
        """Of length 1: a normal vector made that long. Philox of the counter (.., step, row, 0)."""
        philox = np.random.Philox(key=[self.seed, STREAM])
        draws, state = np.random.Generator(philox), philox.state
        directions = np.empty((len(rows), self.start.size))
        for direction, row, step in zip(directions, rows, steps, strict=True):
            state["state"]["counter"][:] = 0, step, row, 0
            philox.state = state  # five times as fast as to make another one
            draws.standard_normal(out=direction)
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        return directions

    @cached_property
    def _numbers(self) -> dict[int | str, int]:
        return {client: i for i, client in enumerate(self.client_ids)}

    def _rows(self, clients: Sequence[int | str]) -> list[int]:
        try:
            return [self._numbers[client] for client in clients]
        except KeyError as unknown:
            number = len(self.client_ids)
            text = f"client {unknown}: must be one of the {number} of this Quadratic"
            raise InputError(text) from None

    def _models(self, models: Vector, number: int) -> Vector:
        """A row for each of so many clients."""
        expected = number, self.start.size
        if np.shape(models) not in (expected, expected[1:]):
            raise InputError(
                f"models have shape {np.shape(models)}: must be {expected}, or {expected[1:]} "
                "for one that all share"
            )
        return np.broadcast_to(models, expected)

    def _check_arrays(self) -> None:
        number, size = len(self.client_ids), self.start.size
        if not size:
            raise InputError("start has no parameters: must have at least one")
        shapes = {"start": (size,), "centres": (number, size), "curvatures": (number, size, size)}
        for name, shape in shapes.items():
            found = getattr(self, name)
            if found.shape != shape:
                raise InputError(
                    f"{name} has shape {found.shape}: must be {shape}, for {number} "
                    f"clients and a start of {size} parameters"
                )
            if not np.isfinite(found).all():
                raise InputError(f"{name} holds a number that is not finite: must all be")
        skew = np.abs(self.curvatures - self.curvatures.transpose(0, 2, 1)).max(initial=0.0)
        if skew > SYMMETRY * np.abs(self.curvatures).max(initial=0.0):
            raise InputError(
                f"curvatures differ from their transposes by {skew:g}: must be symmetric; "
                "take (A + A^T) / 2"
            )

    def _check_numbers(self) -> None:
        if not self.client_ids or len(set(self.client_ids)) < len(self.client_ids):
            raise InputError(f"client_ids = {self.client_ids}: must be at least one, none twice")
        if not 0 < self.learning_rate < np.inf:
            raise InputError(f"learning_rate = {self.learning_rate}: must be greater than 0")
        if not 0 <= self.noise < np.inf:
            raise InputError(f"noise = {self.noise}: must be at least 0")
        if not 0 <= self.seed < 2**64:
            raise InputError(f"seed = {self.seed}: must lie within 0 and 2^64 - 1")


def own_copy(name: str, given: ArrayLike) -> FloatArray:
    """In float64; nobody may change it."""
    try:
        copy = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name}: must be an array of numbers") from None
    copy.flags.writeable = False
    return copy


def product(matrices: NDArray[Any], vectors: NDArray[Any]) -> FloatArray:
    """Matrix times vector, pair by pair: (pairs, params)."""
    products: FloatArray = (matrices @ vectors[:, :, None])[:, :, 0]
    return products
