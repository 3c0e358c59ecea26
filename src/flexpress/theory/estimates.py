"""L, G, sigma and zeta of a learning problem, measured at some models.

The assumptions are about all models; the largest values at some models are lower bounds. Take
models from where the training goes: for nets L is small at x^0, and soon much larger.

L is found by power iteration: the Hessian times a direction is a direction in which the gradient
changes faster. The product is a difference of two gradients, which any learner can compute. Each
quotient

    |grad f_i(x + h v) - grad f_i(x - h v)| / |2 h v|

is a lower bound of L by itself. For |v| = 1 and small h it is |Hessian v|, which does not decrease
over the steps, whatever the signs of the eigenvalues, and converges to the largest of their sizes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from flexpress.arguments import check_all, check_callable, check_number, check_whole
from flexpress.arrays import FloatArray
from flexpress.errors import InputError
from flexpress.theory.bounds import Constants
from flexpress.theory.measured import Array, LossFunction, check_loss, squares

_FEW = 10
"""Default number of clients."""

_AT_ONCE = 2**22
"""Limit for the parameters of all models in one call for gradients."""

_NEARNESS = 0.003
"""h, relative to the length of the model.

With ReLU and max-pool the gradient jumps, so that strictly there is no L. Between models that are
very close there is no jump, as for the Hessian, or one that outweighs everything else by up to 260
times. Measured with LeNet, quotients depend least on h from 0.001 to 0.01. There they agree with
the Hessian within about a fifth, except in the first slots, where it is small and they are two to
three times as large: as they are for models one local step apart.
"""

_SETTLED = 0.005
"""A quotient has converged when it changes by less than this, relatively, in one step."""


@dataclass(frozen=True)
class Estimate:
    """A constant that was measured, over clients and models."""

    value: float  # the largest: the assumptions are about the maximum
    mean: float
    deviation: float  # standard deviation over clients and models
    samples: int  # number of gradients, or of Hessian-vector products


@dataclass(frozen=True)
class Estimates:
    """The constants of the bounds, with statistics of their measurement."""

    smoothness: Estimate  # L
    gradient: Estimate  # G
    noise: Estimate  # sigma
    start_gap: float  # f(x^0) - f^*
    start_gradient: float  # |grad f(x^0)|^2
    dissimilarity: Estimate | None = None  # zeta, over models; not known from one of many clients

    @property
    def constants(self) -> Constants:
        return Constants(
            smoothness=self.smoothness.value,
            gradient=self.gradient.value,
            noise=self.noise.value,
            start_gap=self.start_gap,
            start_gradient=self.start_gradient,
            dissimilarity=None if self.dissimilarity is None else self.dissimilarity.value,
        )


def estimate(
    loss: LossFunction,
    models: Sequence[Array] | Array,
    *,
    clients: int | None = None,
    batches: int = 8,
    iterations: int = 10,
    nearness: float = _NEARNESS,
    seed: int = 0,
    lowest: float = 0.0,
    on_progress: Callable[[float], None] = lambda fraction: None,
) -> Estimates:
    """Measure at every model, of which the first is x^0, and for `clients` clients, by default 10.

    Clients are drawn again for each model. `batches` mini-batches of each give G and sigma; at most
    `iterations` products with its Hessian give L, from gradients at models whose distance from this
    one is its length times `nearness`. `lowest` is f^*, or a lower bound of f: cross-entropy is
    never negative. `on_progress` receives the fraction done, 0 to 1.
    """
    check_loss(loss)
    check_callable(on_progress=on_progress)
    seed = check_whole("seed", seed, 0)
    lowest = check_number("lowest", lowest)
    _check(loss, models, clients, nearness, batches=batches, iterations=iterations)
    rng = np.random.default_rng(seed)
    work = [
        (number, model, group)
        for number, model in enumerate(models)
        for group in _groups(_choose(loss.client_ids, clients, rng), model.size)
    ]
    quotients, powers, variances, products = [], [], [], 0
    spreads = [_Spread(len(loss.client_ids), model.size) for model in models]
    for done, (number, model, group) in enumerate(work):
        on_progress(done / len(work))
        found = _steepest(loss, group, model, iterations=iterations, nearness=nearness, rng=rng)
        quotients.append(found.largest)
        products += found.products
        exact = _finite(loss.gradients(group, model))
        spreads[number].add(exact)
        power, variance = _mean_squares(loss, group, model, exact, batches)
        powers.append(power)
        variances.append(variance)
    gap, slope = _at_start(loss, models[0], lowest)
    on_progress(1.0)
    samples = batches * sum(len(group) for _, _, group in work)
    return Estimates(
        smoothness=_summary(np.concatenate(quotients), products),
        gradient=_summary(np.sqrt(np.concatenate(powers)), samples),
        noise=_summary(np.sqrt(np.concatenate(variances)), samples),
        start_gap=gap,
        start_gradient=slope,
        dissimilarity=_dissimilarity(spreads),
    )


class _Spread:
    """Adds up clients' gradients at one model, for their mean squared distance from the mean."""

    def __init__(self, num_clients: int, params: int) -> None:
        self._all = num_clients
        self.seen = 0
        self._squares = 0.0
        self._total = np.zeros(params)

    def add(self, gradients: Array) -> None:  # (clients, params)
        self.seen += len(gradients)
        self._squares += float(squares(gradients).sum())
        self._total += np.sum(gradients, axis=0, dtype=float)

    def zeta(self) -> float | None:
        """Of all clients, from those that were drawn: without bias, squared."""
        if self.seen == 1:
            return 0.0 if self._all == 1 else None
        rest = self._squares - float(squares(self._total)) / self.seen
        return math.sqrt(max(0.0, rest) / (self.seen - 1) * (1 - 1 / self._all))


def _dissimilarity(spreads: Sequence[_Spread]) -> Estimate | None:
    found = [spread.zeta() for spread in spreads]
    known = np.array([zeta for zeta in found if zeta is not None])
    return _summary(known, sum(each.seen for each in spreads)) if len(known) else None


def _mean_squares(
    loss: LossFunction, clients: Sequence[int | str], model: Array, exact: Array, batches: int
) -> tuple[FloatArray, FloatArray]:
    """Mean squares of mini-batch gradients, and of their distances from the client's: (clients,).

    The client's gradient is exact: the mean of the mini-batches would make the distance too small.
    """
    powers, variances = np.zeros(len(clients)), np.zeros(len(clients))
    for step in range(batches):
        sampled = _finite(loss.sampled(clients, model, [step] * len(clients)))
        powers += squares(sampled)
        variances += squares(sampled - exact)
    return powers / batches, variances / batches


def _at_start(loss: LossFunction, model: Array, lowest: float) -> tuple[float, float]:
    """f(x^0) - f^* and |grad f(x^0)|^2, over all clients."""
    start = loss.loss(model)
    if not start >= lowest:
        raise InputError(f"lowest = {lowest:g}: must be at most f(x^0), which is {start:g}")
    total = np.zeros(model.size)
    for group in _groups(loss.client_ids, model.size):
        total += np.sum(_finite(loss.gradients(group, model)), axis=0, dtype=float)
    return start - lowest, float(squares(total / len(loss.client_ids)))


def _summary(values: FloatArray, samples: int) -> Estimate:
    return Estimate(float(values.max()), float(values.mean()), float(values.std()), samples)


def _choose(
    clients: Sequence[int | str], number: int | None, rng: np.random.Generator
) -> list[int | str]:
    """Drawn at random, in their order."""
    number = min(_FEW, len(clients)) if number is None else number
    rows = rng.choice(len(clients), number, replace=False)
    return [clients[i] for i in np.sort(rows)]


def _groups(clients: Sequence[int | str], params: int) -> Iterator[Sequence[int | str]]:
    """Groups that are small enough for their models to fit into memory."""
    size = max(1, _AT_ONCE // params)
    for first in range(0, len(clients), size):
        yield clients[first : first + size]


def _check(
    loss: LossFunction,
    models: Sequence[Array] | Array,
    clients: int | None,
    nearness: float,
    **counts: int,
) -> None:
    check_all("models", models, np.ndarray, "give x^0 first, then others of the same size")
    if {(model.ndim, model.size, model.dtype.kind) for model in models} != {
        (1, models[0].size, "f")
    }:
        found = ", ".join(f"{model.shape} {model.dtype}" for model in models[:3])
        raise InputError(f"models of {found}: must be vectors of floats, all of one size")
    if clients is not None:
        check_whole("clients", clients, 1, len(loss.client_ids))
    check_number("nearness", nearness, above=0, most=1)
    for name, number in counts.items():
        check_whole(name, number, 1)


@dataclass(frozen=True, eq=False)
class _Quotients:
    """The largest quotient of every client at a model, and the number of products."""

    largest: FloatArray  # (clients,)
    products: int


def _steepest(
    loss: LossFunction,
    clients: Sequence[int | str],
    model: Array,
    *,
    iterations: int,
    nearness: float,
    rng: np.random.Generator,
) -> _Quotients:
    """Power iteration from random directions, for all clients at once."""
    step = nearness * (float(np.sqrt(squares(model))) or 1.0)
    directions = rng.standard_normal((len(clients), model.size)).astype(model.dtype)
    last, largest = np.zeros(len(clients)), np.zeros(len(clients))
    running, products = np.arange(len(clients)), 0
    while iterations > 0 and len(running) > 0:
        named = [clients[int(i)] for i in running]
        found, directions = _turned(loss, named, model, directions, step)
        unsettled = (np.abs(found - last[running]) > _SETTLED * found) & (found > 0)
        last[running] = found
        largest = np.maximum(largest, last)
        products += len(running)
        running, directions = running[unsettled], directions[unsettled]
        iterations -= 1
    return _Quotients(largest, products)


def _turned(
    loss: LossFunction,
    clients: Sequence[int | str],
    model: Array,
    directions: Array,
    step: float,
) -> tuple[FloatArray, Array]:
    """The quotient in each client's direction, and the next directions.

    In low precision x + h v is rounded, so the true distance of the two models is used.
    """
    moves = directions * (step / np.sqrt(squares(directions)))[:, None].astype(model.dtype)
    ahead, behind = model + moves, model - moves
    changes = _finite(loss.gradients(clients, ahead)) - _finite(loss.gradients(clients, behind))
    apart = np.sqrt(squares(ahead - behind))
    return np.sqrt(squares(changes)) / apart, changes


def _finite(gradients: Array) -> Array:
    if not np.isfinite(gradients).all():
        raise InputError(
            "gradients are not finite, so that no constant bounds them; "
            "use models from before the loss diverged"
        )
    return gradients
