"""Cases made to bring the left-hand sides as near to the bounds as they get.

All on one axis, with steps eta G of length 1 unless noise is added.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from bound_cases import Case
from noises import Arrow
from problems import Problem
from shapes import Ramps

FAR = 1e6
"""Where the losses of clients that pull without end do end, so that there is a minimum."""


def line(
    knots: Sequence[Sequence[float]],
    levels: Sequence[Sequence[float]],
    *,
    start: float = 0.0,
    rate: float = 1.0,
    noise: float = 0.0,
    replicates: int = 2,
) -> Problem:
    """Of one parameter; a row for every client."""
    shape = len(knots), 1, -1
    return Problem(
        shapes=Ramps(np.array(knots).reshape(shape), np.array(levels).reshape(shape)),
        axes=np.eye(1),
        noise=Arrow(noise),
        start=np.array([start]),
        learning_rate=rate,
        num_replicates=replicates,
        seed=1,
        client_ids=tuple(range(1, len(knots) + 1)),
    )


def slide(delta: int, num_rounds: int, share: float, num_clients: int = 2) -> Case:
    """All pull down with full force until the server's last model is there, and not a step longer.

    `share` is eta L Delta, from the length over which the slope goes to 0.
    """
    floor, width = -float((num_rounds - 2) * delta), delta / share
    knots, levels = [floor - width, floor], [0.0, 1.0]
    problem = line([knots] * num_clients, [levels] * num_clients)
    return Case(problem, (1,) * num_clients, (delta,) * num_clients, num_rounds * delta)


def out_of_step(periods: tuple[int, ...], num_slots: int) -> Case:
    """All pull down for ever; most clients are handed a model just before others come home."""
    num = len(periods)
    problem = line([[-FAR - 2, -FAR]] * num, [[0.0, 1.0]] * num)
    return Case(problem, (1,) * num, periods, num_slots)


def one_against_all(delta: int, num_clients: int) -> Case:
    """The first client pulls up, all others down."""
    knots = [[FAR, FAR + 2]] + [[-FAR - 2, -FAR]] * (num_clients - 1)
    problem = line(knots, [[-1.0, 1.0]] * num_clients)
    return Case(problem, (num_clients,), (delta,), 4 * delta)


def swing(num_slots: int) -> Case:
    """f = x^2/2 near 0, Delta = 1, eta = 1/L: x = 1, 1, 0, -1, -1, 0, 1, .. for ever."""
    return Case(line([[-1.0, 1.0]], [[-1.0, 1.0]], start=1.0), (1,), (1,), num_slots)


def rim(delta: int, share: float) -> Case:
    """From the rim of a bowl, where the slope is G: after one slot more than the first tour.

    `share` is eta L Delta; f(x^0) - f* is G^2 / 2L, as small as that slope allows.
    """
    edge = delta / share
    problem = line([[-edge, edge]], [[-1.0, 1.0]], start=edge)
    return Case(problem, (1,), (delta,), delta + 1)


def trembling(num_clients: int, share: float, num_slots: int, replicates: int = 300) -> Case:
    """From the minimum of a bowl in which nothing but noise moves the models; Delta = 1."""
    rim = 4 * (share / 2) ** 0.5  # in units of sigma / L: four deviations of one client
    knots, levels = [[-rim, rim]] * num_clients, [[-rim, rim]] * num_clients
    problem = line(knots, levels, rate=share, noise=1.0, replicates=replicates)
    return Case(problem, (num_clients,), (1,), num_slots)


def hill(delta: int, num_clients: int, start: float) -> Case:
    """The first client goes down either side of a hill at 0; all others pull down.

    eta = 1/L, if the hill is as sharp as that allows.
    """
    knots = [[-FAR - 2, -FAR, -1.0, 1.0, FAR, FAR + 2]]
    levels = [[0.0, 1.0, 1.0, -1.0, -1.0, 1.0]]
    knots += [[-FAR - 2, -FAR, 0.0, 1.0, 2.0, 3.0]] * (num_clients - 1)
    levels += [[0.0] + [1.0] * 5] * (num_clients - 1)
    problem = line(knots, levels, start=start)
    return Case(problem, (num_clients,), (delta,), 4 * delta)
