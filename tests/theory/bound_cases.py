"""Random problems and fleets on which the bounds are tried."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from aligned import aligned
from noises import Arrow, Noise, OneAxis
from problems import Problem
from shapes import Array, Ramps, Shapes, Waves
from sides import Run

from flexpress.theory import RoundTrips

Kind = Literal["waves", "bowls", "hills", "slide", "apart"]
KINDS: tuple[Kind, ...] = ("waves", "bowls", "hills", "slide", "apart")


@dataclass(frozen=True, eq=False)
class Case:
    problem: Problem
    clients: tuple[int, ...]  # R_k
    periods: tuple[int, ...]  # Delta_k
    num_slots: int  # T

    @property
    def tours(self) -> RoundTrips:
        return RoundTrips(self.clients, tuple(float(d) for d in self.periods))

    def run(self, algorithm: Literal["sync", "async"], head_start: float = 0.0) -> Run:
        ids = iter(self.problem.client_ids)
        groups = [[next(ids) for _ in range(r)] for r in self.clients]
        paths = aligned(self.problem, groups, self.periods, self.num_slots, algorithm, head_start)
        return Run(self.problem, self.tours, paths)


def random_case(rng: np.random.Generator, kind: Kind, num_replicates: int, longest: int) -> Case:
    num_clients = int(rng.integers(1, 9))
    clients = random_partition(rng, num_clients)
    periods = random_periods(rng, len(clients), longest)
    problem = random_problem(rng, kind, num_clients, num_replicates)
    problem = replace(problem, learning_rate=random_rate(rng, problem, max(periods)))
    return Case(problem, clients, periods, random_horizon(rng, max(periods)))


def random_partition(rng: np.random.Generator, num_clients: int) -> tuple[int, ...]:
    """Into any number of groups, from one to one for every client."""
    num_groups = int(rng.integers(1, num_clients + 1))
    cuts = np.sort(rng.choice(np.arange(1, num_clients), num_groups - 1, replace=False))
    return tuple(int(r) for r in np.diff([0, *cuts, num_clients]))


def random_periods(rng: np.random.Generator, num: int, longest: int) -> tuple[int, ...]:
    """Any, all the same, or one far longer than the others."""
    match rng.integers(3):
        case 0:
            periods = rng.integers(1, longest + 1, num)
        case 1:
            periods = np.full(num, rng.integers(1, longest + 1))
        case _:
            periods = rng.integers(1, 3, num)
            periods[rng.integers(num)] = longest
    return tuple(int(d) for d in periods)


def random_horizon(rng: np.random.Generator, delta: int) -> int:
    """Just above Delta, 2 Delta, just above that, or some rounds and a part of one."""
    choices = [delta + 1, 2 * delta, 2 * delta + 1, int(rng.integers(2 * delta + 1, 12 * delta))]
    return max(delta + 1, choices[rng.choice(4, p=[0.1, 0.1, 0.1, 0.7])])


def random_rate(rng: np.random.Generator, problem: Problem, delta: int) -> float:
    """1 / L in every fifth case. Above 1 / (sqrt(10) L Delta) the delay term alone exceeds G^2.

    So most rates are about there or less: this is where the theorems say something.
    """
    whole = 1 / problem.smoothness
    if rng.random() < 0.2:
        return whole
    share = 10 ** rng.uniform(-2, 0.2)
    return min(whole, share * whole / delta)


def random_problem(rng: np.random.Generator, kind: Kind, num: int, replicates: int) -> Problem:
    num_axes = int(rng.integers(1, 4))
    num_params = num_axes + int(rng.integers(0, 2))
    shapes, axes, width = random_shapes(rng, kind, num, num_axes, num_params)
    noise = random_noise(rng, float(np.linalg.norm(shapes.steepest, axis=1).max()))
    return Problem(
        shapes=shapes,
        axes=axes,
        noise=noise,
        start=rng.uniform(-width, width, num_params),
        learning_rate=1.0,
        num_replicates=replicates,
        seed=int(rng.integers(2**31)),
        client_ids=tuple(range(1, num + 1)),
    )


def random_noise(rng: np.random.Generator, steepest: float) -> Noise:
    """None, a little, as much as the gradient, nearly all of it; everywhere or along the axes."""
    kind, length = rng.integers(3), steepest * float(rng.choice([0.0, 0.3, 1.0, 10.0]))
    return OneAxis() if kind == 0 else Arrow(length, 1.0 if kind == 1 else 1 / 8)


def random_shapes(
    rng: np.random.Generator, kind: Kind, num: int, num_axes: int, num_params: int
) -> tuple[Shapes, Array, float]:
    """Shapes, axes, and how far from 0 something happens; in any unit of length and of loss."""
    length, loss = 10 ** rng.uniform(-1, 1, 2)
    size = num, num_axes
    if kind == "waves":
        axes = rng.standard_normal((num_axes, num_params)) / length
        return Waves(loss * rng.random(size), rng.uniform(0, 2 * np.pi, size)), axes, 3 * length
    orthonormal = np.linalg.qr(rng.standard_normal((num_params, num_axes)))[0].T
    knots, levels = KNOTS[kind](rng, *size)
    return Ramps(length * knots, loss * levels), orthonormal, 2 * length


def bowls(rng: np.random.Generator, num: int, num_axes: int) -> tuple[Array, Array]:
    """Huber losses. Wide ones share a box in which f is strongly convex; centres differ."""
    centre = rng.uniform(-1, 1, (num, num_axes, 1))
    width = rng.choice([0.3, 1.0, 4.0]) * rng.uniform(0.8, 1.25, (num, num_axes, 1))
    level = rng.uniform(0.5, 1.5, (num, num_axes, 1)) * np.array([-1.0, 1.0])
    return centre + width * np.array([-1.0, 1.0]), level


def hills(rng: np.random.Generator, num: int, num_axes: int) -> tuple[Array, Array]:
    """Slopes that go up and down, mostly between their extremes."""
    gaps = rng.uniform(0.1, 1, (num, num_axes, 6))
    levels = rng.choice([-1.0, 1.0, 0.5, 0.0], (num, num_axes, 6))
    levels[..., 0], levels[..., -1] = -1.0, 1.0
    return np.cumsum(gaps, axis=2) - 2, levels


def slide(rng: np.random.Generator, num: int, num_axes: int) -> tuple[Array, Array]:
    """All clients pull one way, with all their might, to somewhere below."""
    floor = np.full((num, num_axes, 1), -(10 ** rng.uniform(-0.5, 1.5)))
    levels = np.broadcast_to(np.array([0.0, 1.0]), (num, num_axes, 2))
    return floor + np.array([-0.2, 0.0]), levels.copy()


def apart(rng: np.random.Generator, num: int, num_axes: int) -> tuple[Array, Array]:
    """Every client pulls to its own far place, up or down; between these all slopes are level."""
    side = rng.choice([-1.0, 1.0], (num, num_axes, 1))
    centre = side * 10 ** rng.uniform(0, 1.5, (num, num_axes, 1))
    levels = np.broadcast_to(np.array([-1.0, 1.0]), (num, num_axes, 2))
    return centre + np.array([-0.3, 0.3]), levels.copy()


KNOTS = {"bowls": bowls, "hills": hills, "slide": slide, "apart": apart}
