"""The constants of the test problems are true everywhere, and no smaller ones are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from bound_cases import KINDS, Kind, random_problem
from noises import Arrow, Noise, OneAxis
from problems import Problem
from scipy.optimize import minimize
from shapes import Array, Ramps

from flexpress.learning import Job

SEEDS = (0, 2, 3, 5)


def problem_of(kind: Kind, seed: int) -> Problem:
    """Of 3, 3, 1, 2 axes and 3, 4, 1, 3 parameters for the seeds above."""
    return random_problem(np.random.default_rng([seed, 5]), kind, num=3, replicates=2)


def places(problem: Problem, num: int, seed: int = 1) -> Array:
    """Models around the start, near and far, and at a start's distance from 0."""
    rng = np.random.default_rng(seed)
    reach = np.linalg.norm(problem.start) * 10 ** rng.uniform(-1, 1.5, (num, 1))
    return reach * rng.standard_normal((num, len(problem.start)))


def client_gradient(problem: Problem, client: int, models: Array) -> Array:
    u = models @ problem.axes.T
    slopes = problem.shapes.slope(slice(client, client + 1), u[np.newaxis])[0]
    return np.asarray(slopes @ problem.axes)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", SEEDS)
def test_gradient_is_that_of_the_loss(kind: Kind, seed: int) -> None:
    problem = problem_of(kind, seed)
    models, step = places(problem, 200), 1e-5 * np.linalg.norm(problem.start)
    gradient = problem.gradient(models)
    for axis, unit in enumerate(np.eye(models.shape[1])):
        change = problem.loss(models + step * unit) - problem.loss(models - step * unit)
        tolerance = (
            4 * step * problem.constants.smoothness
            + 1e-9 * np.abs(problem.loss(models)).max() / step
        )
        assert np.abs(change / (2 * step) - gradient[:, axis]).max() <= tolerance


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", SEEDS)
def test_no_gradient_changes_faster_than_the_smoothness(kind: Kind, seed: int) -> None:
    problem = problem_of(kind, seed)
    models = places(problem, 4000)
    nearby = models + places(problem, 4000, seed=2) * 1e-3
    allowed = problem.constants.smoothness * np.linalg.norm(models - nearby, axis=1)
    rounding = 1e-13 * problem.constants.gradient
    for client in range(problem.num_clients):
        change = client_gradient(problem, client, models) - client_gradient(problem, client, nearby)
        assert np.all(np.linalg.norm(change, axis=1) <= allowed + rounding)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", SEEDS)
def test_the_smoothness_is_reached(kind: Kind, seed: int) -> None:
    """Where every axis is at its sharpest, along the direction in which that adds up most."""
    problem = problem_of(kind, seed)
    hessians = [problem.axes.T * row @ problem.axes for row in problem.shapes.sharpest]
    client = int(np.argmax([np.linalg.eigvalsh(hessian)[-1] for hessian in hessians]))
    direction = np.linalg.eigh(hessians[client])[1][:, -1]
    u = sharpest_place(problem, client)
    model = np.linalg.pinv(problem.axes) @ u
    step = 1e-4 * np.linalg.norm(problem.start)
    ends = np.stack([model - step * direction, model + step * direction])
    change = np.diff(client_gradient(problem, client, ends), axis=0)
    assert np.linalg.norm(change) / (2 * step) == pytest.approx(
        problem.constants.smoothness, rel=1e-3
    )


def sharpest_place(problem: Problem, client: int) -> Array:
    """By trying all places on each axis; the curvature of an axis is its own."""
    far = 40 * float(np.linalg.norm(problem.start) * np.abs(problem.axes).max() + 1)
    grid = np.linspace(-far, far, 200_001)
    u = np.repeat(grid[:, np.newaxis], len(problem.axes), axis=1)
    slopes = problem.shapes.slope(slice(client, client + 1), u[np.newaxis])[0]
    bends = np.diff(slopes, axis=0)
    if isinstance(problem.shapes, Ramps):  # along orthonormal axes signs do not matter
        bends = np.abs(bends)
    smooth = np.minimum(bends[:-1], bends[1:])  # not across a knot
    return np.asarray(grid[smooth.argmax(axis=0) + 1])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("noise", [Arrow(0.7), Arrow(2.0, 1 / 8), OneAxis()])
def test_second_moment_and_variance(kind: Kind, noise: Noise) -> None:
    """Over chance exactly, as far as chance is finite; over models by trying many."""
    problem = replace(problem_of(kind, 5), noise=noise)
    moment, variance = 0.0, 0.0
    for client in range(problem.num_clients):
        for models in (places(problem, 20_000), places(problem, 20_000, seed=8)):
            mean = np.sum(client_gradient(problem, client, models) ** 2, axis=1)
            square = mean_square_of_estimates(problem, client, models)
            moment = max(moment, float(square.max()))
            variance = max(variance, float((square - mean).max()))
    known = problem.constants
    assert moment <= known.gradient**2 * (1 + 1e-9)
    assert variance <= known.noise**2 * (1 + 1e-9)
    assert moment >= 0.9 * known.gradient**2
    assert variance >= 0.9 * known.noise**2


def mean_square_of_estimates(problem: Problem, client: int, models: Array) -> Array:
    u = models @ problem.axes.T
    slopes = problem.shapes.slope(slice(client, client + 1), u[np.newaxis])[0]
    if isinstance(problem.noise, Arrow):
        return np.asarray(np.sum((slopes @ problem.axes) ** 2, axis=1) + problem.noise.length**2)
    terms = [len(problem.axes) * slopes[:, [j]] * axis for j, axis in enumerate(problem.axes)]
    return np.asarray(np.mean([np.sum(term**2, axis=1) for term in terms], axis=0))


@pytest.mark.parametrize("noise", [Arrow(0.7), Arrow(2.0, 1 / 8), OneAxis()])
def test_estimates_have_the_gradient_as_their_mean(noise: Noise) -> None:
    problem = replace(problem_of("hills", 2), noise=noise, num_replicates=40_000)
    models = np.broadcast_to(problem.start, (1, 40_000, len(problem.start)))
    drawn = problem.estimates(np.array([1]), np.array([9]), np.array(models))[0]
    error = drawn.std(axis=0) / 200 + 1e-12
    true = client_gradient(problem, 1, problem.start[np.newaxis])[0]
    assert np.abs((drawn.mean(axis=0) - true) / error).max() < 5
    spread = np.sum((drawn - true) ** 2, axis=1).mean()
    exact = mean_square_of_estimates(problem, 1, problem.start[np.newaxis])[0] - np.sum(true**2)
    assert spread == pytest.approx(exact, rel=0.05, abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", SEEDS)
def test_the_lowest_loss_is_reached_and_never_passed(kind: Kind, seed: int) -> None:
    problem = problem_of(kind, seed)
    lowest = problem.shapes.lowest()
    assert problem.loss(places(problem, 20_000)).min() >= lowest - 1e-9 * abs(lowest)
    found = min(
        minimize(lambda x: float(problem.loss(x)), x, jac=problem.gradient, tol=1e-9).fun
        for x in places(problem, 10)
    )
    scale = problem.constants.gradient * float(np.linalg.norm(problem.start))
    assert found == pytest.approx(lowest, abs=1e-3 * scale)


def test_a_job_is_the_same_whoever_does_it_and_when() -> None:
    problem = replace(problem_of("waves", 1), noise=Arrow(1.0), num_replicates=5)
    x = problem.initial_model()
    whole = problem.train([Job(2, x, 4, 3), Job(1, x + 1, 0, 2), Job(3, x, 4, 0)])
    assert np.array_equal(whole[2], np.zeros_like(x))
    assert np.array_equal(whole[1], problem.train([Job(1, x + 1, 0, 2)])[0])
    model = x
    for step in (4, 5, 6):
        model = model - problem.train([Job(2, model, step, 1)])[0]
    assert whole[0] == pytest.approx(x - model, abs=1e-12)
    noise = problem.train([Job(1, x, 0, 1), Job(1, x, 1, 1), Job(2, x, 0, 1)])
    assert len({tuple(row) for row in noise.round(9)}) == 3


def test_replicates_are_independent() -> None:
    problem = replace(problem_of("slide", 1), noise=Arrow(1.0), num_replicates=2000)
    steps = problem.replicates(
        problem.train([Job(i, problem.initial_model(), 0, 1) for i in (1, 2)])
    )
    noise = steps - steps.mean(axis=1, keepdims=True)
    first = noise[0, :, 0]
    others = [noise[1, :, 0], np.roll(first, 1)]
    for other in others:
        assert abs(np.corrcoef(first, other)[0, 1]) < 5 / 2000**0.5
