"""L, G and sigma of a learning problem, measured at some models.

The assumptions are about all models there are; the largest values seen at some are lower bounds.
Take models from where the training goes: for nets L is small at x^0, and soon much larger.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from flexpress.arguments import (
    check_all,
    check_callable,
    check_number,
    check_whole,
)
from flexpress.arrays import FloatArray
from flexpress.errors import InputError
from flexpress.theory.constants import Constants, Estimate
from flexpress.theory.measured import squares
from flexpress.theory.objective import Array, Objective, check_objective
from flexpress.theory.smoothness import NEARNESS, finite, steepest

OnProgress = Callable[[float], None]

FEW = 10
"""Clients that are asked unless told otherwise."""

AT_ONCE = 2**22
"""Parameters of all models that gradients are asked at together."""


@dataclass(frozen=True)
class Estimates:
    """What the bounds need to know, each with how it was found."""

    smoothness: Estimate  # L
    gradient: Estimate  # G
    noise: Estimate  # sigma
    start_gap: float  # f(x^0) - f^*
    start_gradient: float  # |grad f(x^0)|^2

    @property
    def constants(self) -> Constants:
        return Constants(
            smoothness=self.smoothness.value,
            gradient=self.gradient.value,
            noise=self.noise.value,
            start_gap=self.start_gap,
            start_gradient=self.start_gradient,
        )


def ignore(fraction: float) -> None:
    """For callers who do not listen."""


def estimate(
    objective: Objective,
    models: Sequence[Array] | Array,
    *,
    clients: int | None = None,
    batches: int = 8,
    iterations: int = 10,
    nearness: float = NEARNESS,
    seed: int = 0,
    lowest: float = 0.0,
    on_progress: OnProgress = ignore,
) -> Estimates:
    """At every model, the first of which is x^0, for so many clients: 10 unless told otherwise.

    They are drawn anew for each model. `batches` mini-batches of each give G and sigma, at most
    `iterations` products with its Hessian give L: gradients at models whose distance from this one
    is its length times `nearness`. `lowest` is f^*, or what f cannot fall below: cross-entropy is
    never negative. `on_progress` hears which part is done, 0 to 1.
    """
    check_objective(objective)
    check_callable(on_progress=on_progress)
    seed = check_whole("seed", seed, 0)
    lowest = check_number("lowest", lowest)
    check(objective, models, clients, nearness, batches=batches, iterations=iterations)
    rng = np.random.default_rng(seed)
    work = [
        (model, group)
        for model in models
        for group in groups(choose(objective.client_ids, clients, rng), model.size)
    ]
    quotients, powers, variances, products = [], [], [], 0
    for done, (model, group) in enumerate(work):
        on_progress(done / len(work))
        found = steepest(objective, group, model, iterations=iterations, nearness=nearness, rng=rng)
        quotients.append(found.largest)
        products += found.products
        power, variance = mean_squares(objective, group, model, batches)
        powers.append(power)
        variances.append(variance)
    gap, slope = at_start(objective, models[0], lowest)
    on_progress(1.0)
    samples = batches * sum(len(group) for _, group in work)
    return Estimates(
        smoothness=summary(np.concatenate(quotients), products),
        gradient=summary(np.sqrt(np.concatenate(powers)), samples),
        noise=summary(np.sqrt(np.concatenate(variances)), samples),
        start_gap=gap,
        start_gradient=slope,
    )


def mean_squares(
    objective: Objective, clients: Sequence[int | str], model: Array, batches: int
) -> tuple[FloatArray, FloatArray]:
    """Of mini-batch gradients, and of their distances from the client's: (clients,) each.

    The client's own is known: a mean of the mini-batches in its place would make this too small.
    """
    exact = finite(objective.gradients(clients, model))
    powers, variances = np.zeros(len(clients)), np.zeros(len(clients))
    for step in range(batches):
        sampled = finite(objective.sampled(clients, model, [step] * len(clients)))
        powers += squares(sampled)
        variances += squares(sampled - exact)
    return powers / batches, variances / batches


def at_start(objective: Objective, model: Array, lowest: float) -> tuple[float, float]:
    """f(x^0) - f^* and |grad f(x^0)|^2, of all clients."""
    loss = objective.loss(model)
    if not loss >= lowest:
        raise InputError(f"lowest = {lowest:g}: must be at most f(x^0), which is {loss:g}")
    total = np.zeros(model.size)
    for group in groups(objective.client_ids, model.size):
        total += np.sum(finite(objective.gradients(group, model)), axis=0, dtype=float)
    return loss - lowest, float(squares(total / len(objective.client_ids)))


def summary(values: FloatArray, samples: int) -> Estimate:
    return Estimate(float(values.max()), float(values.mean()), float(values.std()), samples)


def choose(
    clients: Sequence[int | str], number: int | None, rng: np.random.Generator
) -> list[int | str]:
    """At random, in their order."""
    number = min(FEW, len(clients)) if number is None else number
    rows = rng.choice(len(clients), number, replace=False)
    return [clients[i] for i in np.sort(rows)]


def groups(clients: Sequence[int | str], params: int) -> Iterator[Sequence[int | str]]:
    """So few at a time that their models fit into the memory."""
    size = max(1, AT_ONCE // params)
    for first in range(0, len(clients), size):
        yield clients[first : first + size]


def check(
    objective: Objective,
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
        check_whole("clients", clients, 1, len(objective.client_ids))
    check_number("nearness", nearness, above=0, most=1)
    for name, number in counts.items():
        check_whole(name, number, 1)
