"""Quadratic losses with noisy gradients: a learner whose constants L, G, sigma and f* are known.

f_i(x) = 1/2 (x - c_i)^T A_i (x - c_i), and f is the mean over the clients, Eq. (1).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from flexpress.arguments import check_array, check_number, check_whole, refusal
from flexpress.arrays import FloatArray
from flexpress.errors import InputError
from flexpress.learning.job import (
    Job,
    Metrics,
    Vector,
    check_clients,
    check_jobs,
    check_model,
    check_models,
)

_STREAM = 0x6E6F697365  # "noise"
"""The second word of the key: other draws from the same seed use another one."""

_LARGEST_SEED = 2**64 - 1

_SYMMETRY = 1e-9
"""Relative to the largest entry; a smaller difference is rounding."""


@dataclass(frozen=True, eq=False)
class Quadratic:
    """Clients i with curvature A_i around their centre c_i; the arrays are copied.

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
        params = check_whole("params", params, 1)
        seed = check_whole("seed", seed, 0, _LARGEST_SEED)
        spread = check_number("spread", spread, least=0)
        low, high = _check_range(eigenvalues)
        client_ids = _check_ids(client_ids)
        rng = np.random.default_rng(seed)
        shape = len(client_ids), params
        rotations, _ = np.linalg.qr(rng.standard_normal((*shape, params)))
        drawn = rng.uniform(low, high, shape)
        curvatures = (rotations * drawn[:, None, :]) @ rotations.transpose(0, 2, 1)
        centres, start = rng.normal(0.0, spread, shape), rng.normal(0.0, spread, params)
        return cls(client_ids, curvatures, centres, start, learning_rate, noise, seed)

    def __post_init__(self) -> None:
        checked: dict[str, object] = {
            "client_ids": _check_ids(self.client_ids),
            "learning_rate": check_number("learning_rate", self.learning_rate, above=0),
            "noise": check_number("noise", self.noise, least=0),
            "seed": check_whole("seed", self.seed, 0, _LARGEST_SEED),
        }
        for name in ("curvatures", "centres", "start"):
            checked[name] = array = check_array(name, getattr(self, name))
            array.flags.writeable = False  # values are frozen
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        self._check_arrays()

    def initial_model(self) -> FloatArray:
        """x^0 of the paper: (params,)."""
        return self.start.copy()

    def train(self, jobs: Sequence[Job]) -> FloatArray:
        """The model handed over minus the model after the job's steps: (jobs, params).

        The jobs are trained together; none depends on the others, to the bit.
        """
        after = self._local_models(jobs)
        begin = np.array([job.model for job in jobs], dtype=np.float64)
        return begin.reshape(after.shape) - after

    def local_model(self, job: Job) -> FloatArray:
        """The model after the job's steps: (params,)."""
        model: FloatArray = self._local_models([job])[0]
        return model

    def _local_models(self, jobs: Sequence[Job]) -> FloatArray:
        """The model of each after its steps: (jobs, params)."""
        check_jobs(jobs, self._numbers, self.start.size)
        x = np.array([job.model for job in jobs], dtype=np.float64).reshape(-1, self.start.size)
        for done in range(max((job.num_steps for job in jobs), default=0)):
            running = [j for j, job in enumerate(jobs) if job.num_steps > done]
            rows = [self._numbers[jobs[j].client] for j in running]
            steps = [jobs[j].first_step + done for j in running]
            with np.errstate(over="ignore", invalid="ignore"):  # the simulator detects it
                x[running] -= self.learning_rate * self._sampled(rows, x[running], steps)
        return x

    def evaluate(self, model: Vector) -> Metrics:
        """f(x), and 0 for the accuracy, since nothing is classified."""
        return Metrics(self.loss(model), 0.0)

    def loss(self, model: Vector) -> float:
        """f(x), the mean of all f_i."""
        check_model("model", model, self.start.size)
        offsets = model - self.centres
        with np.errstate(over="ignore", invalid="ignore"):  # the simulator detects it
            return float((offsets * _product(self.curvatures, offsets)).sum(axis=1).mean() / 2)

    def gradients(self, clients: Sequence[int | str], models: Vector) -> FloatArray:
        """The true gradient of each of these clients, A_i (x - c_i): (len(clients), params).

        `models` has a row for each of them, or is one model for all.
        """
        check_clients(clients, self._numbers, [0] * len(clients))
        models = check_models(models, len(clients), self.start.size)
        return self._gradients([self._numbers[client] for client in clients], models)

    def sampled(
        self, clients: Sequence[int | str], models: Vector, steps: Sequence[int]
    ) -> FloatArray:
        """The same with noise, that of local step steps[j] of client j."""
        check_clients(clients, self._numbers, steps)
        models = check_models(models, len(clients), self.start.size)
        return self._sampled([self._numbers[client] for client in clients], models, steps)

    def _gradients(self, rows: list[int], models: Vector) -> FloatArray:
        return _product(self.curvatures[rows], models - self.centres[rows])

    def _sampled(self, rows: list[int], models: Vector, steps: Sequence[int]) -> FloatArray:
        gradients = self._gradients(rows, models)
        if self.noise:
            gradients += self.noise * self._directions(rows, steps)
        return gradients

    def _directions(self, rows: list[int], steps: Sequence[int]) -> FloatArray:
        """Normal vectors scaled to length 1, from Philox with the counter (.., step, row, 0)."""
        philox = np.random.Philox(key=[self.seed, _STREAM])
        draws, state = np.random.Generator(philox), philox.state
        directions = np.empty((len(rows), self.start.size))
        for direction, row, step in zip(directions, rows, steps, strict=True):
            state["state"]["counter"][:] = 0, step, row, 0
            philox.state = state  # five times faster than making another one
            draws.standard_normal(out=direction)
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        return directions

    @cached_property
    def _numbers(self) -> dict[int | str, int]:
        return {client: i for i, client in enumerate(self.client_ids)}

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
                raise InputError(f"{name} holds a number that is not finite: all must be")
        skew = np.abs(self.curvatures - self.curvatures.transpose(0, 2, 1)).max(initial=0.0)
        if skew > _SYMMETRY * np.abs(self.curvatures).max(initial=0.0):
            raise InputError(
                f"curvatures differ from their transposes by {skew:g}: must be symmetric; "
                "use (A + A^T) / 2"
            )


def _check_ids(client_ids: Sequence[int | str]) -> tuple[int | str, ...]:
    """InputError unless there is at least one, and none occurs twice."""
    if isinstance(client_ids, str) or not isinstance(client_ids, Iterable):
        raise refusal("client_ids", client_ids, "a list of ids")
    ids = tuple(client_ids)
    if not ids or not all(isinstance(i, Hashable) for i in ids) or len(set(ids)) < len(ids):
        raise refusal("client_ids", client_ids, "at least one id, none twice")
    return ids


def _check_range(eigenvalues: tuple[float, float]) -> tuple[float, float]:
    try:
        low, high = eigenvalues
    except (TypeError, ValueError):
        raise refusal("eigenvalues", eigenvalues, "a smaller and a larger number") from None
    low, high = check_number("eigenvalues[0]", low), check_number("eigenvalues[1]", high)
    if low > high:
        raise refusal("eigenvalues", eigenvalues, "a smaller and a larger number")
    return low, high


def _product(matrices: NDArray[Any], vectors: NDArray[Any]) -> FloatArray:
    """Matrix times vector, pair by pair: (pairs, params)."""
    products: FloatArray = (matrices @ vectors[:, :, None])[:, :, 0]
    return products
