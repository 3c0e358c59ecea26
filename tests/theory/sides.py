"""Left-hand sides of the paper's statements, of every replicate; right-hand sides as printed."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from aligned import Aligned
from problems import Problem
from shapes import Array

from flexpress.theory import Constants, RoundTrips

Sides = dict[str, tuple[Array, Array]]
"""Statement -> left (.., replicates) and right (..), for all slots or horizons it is about."""


@dataclass(frozen=True, eq=False)
class Run:
    problem: Problem
    tours: RoundTrips
    paths: Aligned

    @property
    def real(self) -> Array:
        return self.problem.replicates(self.paths.real)

    @property
    def virtual(self) -> Array:
        return self.problem.replicates(self.paths.virtual)

    @property
    def local(self) -> Array:
        """(slots + 1, clients, replicates, parameters)."""
        return self.problem.replicates(self.paths.local)

    @property
    def averaged(self) -> Array:
        """x^t of the proof of Theorem 1: every slot a step, Delta slots late."""
        delta = int(self.tours.longest)
        return np.concatenate([np.repeat(self.virtual[:1], delta, axis=0), self.virtual[:-delta]])


def sync_sides(run: Run) -> Sides:
    """Lemma 1 and Theorem 1, of the server's models and of those that the proof is about."""
    delta = int(run.tours.longest)
    slots = len(run.real)
    after = slice(delta + 1, None)
    horizons = np.arange(delta + 1.0, slots)
    sides: Sides = {}
    for name, models in {"real": run.real, "averaged": run.averaged}.items():
        apart = square(models[:, np.newaxis] - run.local)[after]
        sides[f"lemma 1, {name}"] = apart, np.full(apart.shape[:-1], lemma1(run))
        means = running_means(run.problem, models)[delta:]
        sides[f"theorem 1, {name}"] = means, theorem1(run, horizons)
        sides[f"theorem 1 simplified, {name}"] = means, simplified(run, horizons)
    return sides


def async_sides(run: Run) -> Sides:
    """Lemma 2 and Theorem 2, and what its proof says of the virtual models: for all t and T."""
    virtual, real = run.virtual, run.real
    every = np.arange(1.0, len(real))
    local = square(virtual[:, np.newaxis] - run.local).mean(axis=1)
    factors = {"lemma 2, global": 4, "lemma 2, local": 18}
    lefts = {"lemma 2, global": square(virtual - real), "lemma 2, local": local}
    sides = {
        name: (left, np.full(len(left), factors[name] * drift(run) * mean_square(run)))
        for name, left in lefts.items()
    }
    sides["theorem 2"] = running_means(run.problem, real), theorem2(run, every)
    sides["theorem 2, virtual"] = running_means(run.problem, virtual), virtual_bound(run, every)
    return sides


def square(vectors: Array) -> Array:
    total: Array = np.sum(vectors**2, axis=-1)
    return total


def running_means(problem: Problem, models: Array) -> Array:
    """(1/T) sum_{t<T} |grad f(x^t)|^2 for T = 1, 2, ..: (horizons, replicates)."""
    norms = square(problem.gradient(models[:-1]))
    means: Array = np.cumsum(norms, axis=0) / np.arange(1, len(norms) + 1)[:, np.newaxis]
    return means


def drift(run: Run) -> float:
    return (run.problem.learning_rate * run.problem.constants.gradient) ** 2


def mean_square(run: Run) -> float:
    tours = run.tours
    return sum(r * d * d for r, d in zip(tours.clients, tours.slots, strict=True)) / sum(
        tours.clients
    )


def lemma1(run: Run) -> float:
    return 4 * drift(run) * run.tours.longest**2


def terms(run: Run) -> tuple[Constants, float, float]:
    """The constants, eta, and L eta sigma^2 / N."""
    c, eta = run.problem.constants, run.problem.learning_rate
    return c, eta, c.smoothness * eta * c.noise**2 / run.problem.num_clients


def theorem1(run: Run, horizon: Array) -> Array:
    (c, eta, noise), delta = terms(run), run.tours.longest
    delay = 10 * eta**2 * c.gradient**2 * c.smoothness**2 * delta**2
    flown = (horizon - delta) / horizon
    start = 2 / (eta * horizon) * c.start_gap
    return start + delta / horizon * c.start_gradient + flown * delay + flown * noise


def simplified(run: Run, horizon: Array) -> Array:
    (c, eta, noise), delta = terms(run), run.tours.longest
    delay = 10 * eta**2 * c.gradient**2 * c.smoothness**2 * delta**2
    return 2 / (eta * horizon) * c.start_gap + delay + noise


def theorem2(run: Run, horizon: Array) -> Array:
    c, eta, noise = terms(run)
    delay = 44 * drift(run) * c.smoothness**2 * mean_square(run)
    return 4 / (eta * horizon) * c.start_gap + delay + 2 * noise


def virtual_bound(run: Run, horizon: Array) -> Array:
    c, eta, noise = terms(run)
    delay = 18 * drift(run) * c.smoothness**2 * mean_square(run)
    return 2 / (eta * horizon) * c.start_gap + delay + noise


ROUNDING = 1e-9
"""Of the bound: sums in another order."""


@dataclass(frozen=True)
class Verdict:
    """Of one statement in one run."""

    ratio: float  # the largest mean over its bound
    excess: float  # the largest lower confidence limit over its bound


def verdict(left: Array, right: Array, deviations: float) -> Verdict:
    """The mean over the replicates, and that less so many standard errors, against the bound."""
    mean = left.mean(axis=-1)
    error = left.std(axis=-1, ddof=1) / left.shape[-1] ** 0.5
    return Verdict(share(mean, right), share(mean - deviations * error, right))


def share(part: Array, whole: Array) -> float:
    tiny = np.finfo(float).tiny
    return float(np.max(part / np.maximum(whole, tiny), initial=-np.inf))


def deviations(num_comparisons: int, risk: float = 1e-6) -> float:
    """Standard errors by which none of so many true statements fails, but for the risk."""
    return NormalDist().inv_cdf(1 - risk / num_comparisons)
