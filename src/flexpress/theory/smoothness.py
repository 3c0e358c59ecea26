"""L of Assumption 1, from below: how fast a client's gradient changes, in the steepest direction.

Power iteration: the Hessian times a direction is a direction in which the gradient changes faster.
The product is a difference of two gradients, which any learner can be asked for. Each quotient

    |grad f_i(x + h v) - grad f_i(x - h v)| / |2 h v|

is by itself a lower bound of L. For |v| = 1 and small h it is |Hessian v|, which over the steps
does not fall, whatever the signs of the eigenvalues, and comes to the largest of their sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexpress.errors import InputError
from flexpress.theory.measured import squares
from flexpress.theory.objective import Array, Objective

Lengths = NDArray[np.float64]

NEARNESS = 0.003
"""h, relative to the length of the model.

Behind ReLU and max-pool the gradient jumps: strictly, there is no L. Models that are very near to
each other show no jump, as the Hessian does, or one that outweighs everything else, by up to 260
times. Measured with LeNet, quotients depend least on h from 0.001 to 0.01, and there they are the
Hessian's within about a fifth, except in the first slots, where it is small and they are two to
three times that: as they are for models that one local step lies between.
"""

SETTLED = 0.005
"""Relative change of a quotient from one step to the next with which it has converged."""


@dataclass(frozen=True, eq=False)
class Quotients:
    """The largest of every client at a model, and how many products they took."""

    largest: Lengths  # (clients,)
    products: int


def steepest(
    objective: Objective,
    clients: Sequence[int | str],
    model: Array,
    *,
    iterations: int,
    nearness: float,
    rng: np.random.Generator,
) -> Quotients:
    """By power iteration from random directions, for all clients side by side."""
    step = nearness * (float(np.sqrt(squares(model))) or 1.0)
    directions = rng.standard_normal((len(clients), model.size)).astype(model.dtype)
    last, largest = np.zeros(len(clients)), np.zeros(len(clients))
    running, products = np.arange(len(clients)), 0
    while iterations > 0 and len(running) > 0:
        named = [clients[int(i)] for i in running]
        found, directions = turned(objective, named, model, directions, step)
        unsettled = (np.abs(found - last[running]) > SETTLED * found) & (found > 0)
        last[running] = found
        largest = np.maximum(largest, last)
        products += len(running)
        running, directions = running[unsettled], directions[unsettled]
        iterations -= 1
    return Quotients(largest, products)


def turned(
    objective: Objective,
    clients: Sequence[int | str],
    model: Array,
    directions: Array,
    step: float,
) -> tuple[Lengths, Array]:
    """The quotient in each client's direction, and the directions that follow.

    In low precision x + h v is rounded: what counts is how far apart the two models really are.
    """
    moves = directions * (step / np.sqrt(squares(directions)))[:, None].astype(model.dtype)
    ahead, behind = model + moves, model - moves
    changes = finite(objective.gradients(clients, ahead)) - finite(
        objective.gradients(clients, behind)
    )
    apart = np.sqrt(squares(ahead - behind))
    return np.sqrt(squares(changes)) / apart, changes


def finite(gradients: Array) -> Array:
    if not np.isfinite(gradients).all():
        raise InputError(
            "gradients that are not finite: no constant bounds them; "
            "take models from before the loss blew up"
        )
    return gradients
