"""The quadratic learner against its definition: derivatives of the loss, and steps one by one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from flexpress import InputError, Job, Metrics, Quadratic
from flexpress.learning import Vector
from flexpress.learning.quadratic_learner import _STREAM

IDS = ("mill", 7, "weir", 2)
SIZE = 5

RANDOM = Quadratic.random(IDS, params=SIZE, seed=3, noise=0.25, learning_rate=0.2)
PLAIN: dict[str, Any] = {
    "client_ids": ("a", "b"),
    "curvatures": np.stack([np.eye(3), 2 * np.eye(3)]),
    "centres": np.zeros((2, 3)),
    "start": np.ones(3),
}


def some_models(number: int) -> Vector:
    return np.random.default_rng(1).normal(0.0, 3.0, (number, SIZE))


def loss_of(learner: Quadratic, client: int | str, x: Vector) -> float:
    """f_i, term by term."""
    i = learner.client_ids.index(client)
    a, offset = learner.curvatures[i], x - learner.centres[i]
    pairs = [(p, q) for p in range(x.size) for q in range(x.size)]
    return sum(float(offset[p] * a[p, q] * offset[q]) for p, q in pairs) / 2


def noise_of(learner: Quadratic, client: int | str, step: int) -> Vector:
    """A separate generator for every step."""
    counter = [0, step, learner.client_ids.index(client), 0]
    philox = np.random.Philox(key=[learner.seed, _STREAM], counter=counter)
    normal = np.random.Generator(philox).standard_normal(learner.start.size)
    direction: Vector = learner.noise * normal / np.linalg.norm(normal)
    return direction


def test_the_loss_is_the_mean_over_the_clients() -> None:
    for x in some_models(5):
        expected = np.mean([loss_of(RANDOM, client, x) for client in IDS])
        assert RANDOM.loss(x) == pytest.approx(expected, rel=1e-12)
        assert RANDOM.evaluate(x) == Metrics(RANDOM.loss(x), 0.0)


def test_gradients_are_derivatives_of_the_loss() -> None:
    """Central differences of a quadratic are exact but for rounding."""
    clients: list[int | str] = ["weir", 7, 7, "mill", 2]
    models = some_models(len(clients))
    found = RANDOM.gradients(clients, models)
    for gradient, client, x in zip(found, clients, models, strict=True):
        ends = [(x + unit, x - unit) for unit in np.eye(SIZE)]
        differences = [loss_of(RANDOM, client, a) - loss_of(RANDOM, client, b) for a, b in ends]
        np.testing.assert_allclose(gradient, np.array(differences) / 2, rtol=1e-10, atol=1e-10)


def test_one_model_for_all() -> None:
    (x,) = some_models(1)
    rows = np.tile(x, (len(IDS), 1))
    assert np.array_equal(RANDOM.gradients(IDS, x), RANDOM.gradients(IDS, rows))
    steps = range(4)
    assert np.array_equal(RANDOM.sampled(IDS, x, steps), RANDOM.sampled(IDS, rows, steps))


def test_the_noise_of_every_step() -> None:
    clients: list[int | str] = ["weir", 7, 7, "mill"]
    steps = [0, 5, 10**12, 5]
    models = some_models(4)
    noise = RANDOM.sampled(clients, models, steps) - RANDOM.gradients(clients, models)
    expected = [noise_of(RANDOM, *pair) for pair in zip(clients, steps, strict=True)]
    np.testing.assert_allclose(noise, expected, rtol=0, atol=1e-14)
    again = replace(RANDOM, seed=4).sampled(clients, models, steps)
    assert np.abs(again - RANDOM.sampled(clients, models, steps)).min(axis=1).all()


@pytest.mark.parametrize("size", [1, 2, 7])
def test_the_noise_is_unbiased_and_of_one_length(size: int) -> None:
    """Its mean is 0 and its covariance sigma^2 / d, to five standard errors, for 4000 steps."""
    learner = Quadratic.random(IDS, params=size, seed=1, noise=3.0)
    number = 4000
    found = learner.sampled([7] * number, learner.centres[1], range(number))  # the gradient is 0
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 3.0, rtol=1e-14)
    error = 3.0 / np.sqrt(size * number)
    assert np.abs(found.mean(axis=0)).max() < 5 * error
    covariance = found.T @ found / number
    assert np.abs(covariance - 9.0 / size * np.eye(size)).max() < 5 * 9.0 / np.sqrt(number)


def test_without_noise_mini_batches_are_exact() -> None:
    silent = replace(RANDOM, noise=0.0)
    models = some_models(4)
    assert np.array_equal(silent.sampled(IDS, models, range(4)), RANDOM.gradients(IDS, models))


def test_jobs_step_by_step() -> None:
    """x <- x - eta (A_i (x - c_i) + noise), and none of the jobs depends on those beside it."""
    models = some_models(3)
    jobs = [Job("weir", models[0], 3, 4), Job(7, models[1], 0, 1), Job("weir", models[2], 9, 6)]
    found = RANDOM.train(jobs)
    for job, update in zip(jobs, found, strict=True):
        i, x = IDS.index(job.client), job.model
        for step in range(job.first_step, job.first_step + job.num_steps):
            gradient = RANDOM.curvatures[i] @ (x - RANDOM.centres[i])
            x = x - 0.2 * (gradient + noise_of(RANDOM, job.client, step))
        np.testing.assert_allclose(update, job.model - x, rtol=1e-12, atol=1e-13)
        assert np.array_equal(update, RANDOM.train([job])[0])
    assert np.array_equal(found[::-1], RANDOM.train(jobs[::-1]))
    assert RANDOM.train([]).shape == (0, SIZE)


def test_random_ones() -> None:
    again = Quadratic.random(IDS, params=SIZE, seed=3, noise=0.25, learning_rate=0.2)
    for name in ("curvatures", "centres", "start"):
        assert np.array_equal(getattr(again, name), getattr(RANDOM, name))
    other = Quadratic.random(IDS, params=SIZE, seed=4, eigenvalues=(-2.0, -1.0))
    assert not np.isclose(other.centres, RANDOM.centres).any()
    for learner, low, high in ((RANDOM, 0.1, 1.0), (other, -2.0, -1.0)):
        eigenvalues = np.linalg.eigvalsh(learner.curvatures)
        assert low - 1e-12 < eigenvalues.min() < eigenvalues.max() < high + 1e-12
    wide = Quadratic.random(range(100), params=20, seed=0, spread=10.0)
    assert wide.centres.std() == pytest.approx(10.0, rel=0.1)


def test_what_is_given_is_copied() -> None:
    start = np.ones(3)
    learner = Quadratic(**{**PLAIN, "start": start})
    start[0] = 9.0
    learner.initial_model()[0] = 9.0
    assert learner.start.tolist() == [1.0, 1.0, 1.0]
    with pytest.raises(ValueError, match="read-only"):
        learner.centres[0] = 1.0


def test_what_diverges_is_infinite_and_warns_nobody() -> None:
    assert RANDOM.loss(np.full(SIZE, 1e200)) == np.inf
    wild = replace(RANDOM, learning_rate=1e200)
    assert not np.isfinite(wild.train([Job(7, RANDOM.start, 0, 5)])).all()


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"centres": np.zeros((3, 3))}, "centres has shape (3, 3): must be (2, 3), for 2 clients"),
    ({"curvatures": np.eye(3)}, "curvatures has shape (3, 3): must be (2, 3, 3), for 2 clients"),
    ({"start": np.zeros((1, 3))}, "start has shape (1, 3): must be (3,), for 2 clients"),
    ({"start": []}, "start has no parameters: must have at least one"),
    ({"start": ["x"]}, "start = ['x']: must be an array of numbers"),
    (
        {"centres": [[1.0], [1.0, 2.0]]},
        "centres = [[1.0], [1.0, 2.0]]: must be an array of numbers",
    ),
    ({"start": [0.0, np.nan, 0.0]}, "start holds a number that is not finite: all must be"),
    (
        {"curvatures": [np.eye(3), np.eye(3) + np.eye(3, k=1)]},
        "curvatures differ from their transposes by 1: must be symmetric; use (A + A^T) / 2",
    ),
    ({"client_ids": ("a", "a")}, "client_ids = ('a', 'a'): must be at least one id, none twice"),
    ({"learning_rate": 0.0}, "learning_rate = 0.0: must be a finite number greater than 0"),
    ({"learning_rate": np.nan}, "learning_rate = nan: must be a finite number greater than 0"),
    ({"noise": -1.0}, "noise = -1.0: must be a finite number of at least 0"),
    ({"seed": -1}, "seed = -1: must be a whole number from 0 to 2^64 - 1"),
]


@pytest.mark.parametrize(("changes", "message"), WRONG)
def test_what_is_wrong_is_told_in_one_line(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        Quadratic(**{**PLAIN, **changes})
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_wrong_questions() -> None:
    with pytest.raises(InputError, match=r'^client = "sea": must be one of client_ids$'):
        RANDOM.gradients(["mill", "sea"], RANDOM.start)
    with pytest.raises(InputError, match=r"^models have shape \(3,\): must be \(2, 5\), or \(5,\)"):
        RANDOM.gradients(["mill", 7], np.zeros(3))
    with pytest.raises(
        InputError, match=r"^steps of shape \(1,\) for 2 clients: must be one for each$"
    ):
        RANDOM.sampled(["mill", 7], RANDOM.start, [0])
    with pytest.raises(InputError, match=r"^params = 0: must be a whole number of at least 1$"):
        Quadratic.random(IDS, params=0, seed=0)
    with pytest.raises(
        InputError, match=r"^seed = -1: must be a whole number from 0 to 2\^64 - 1$"
    ):
        Quadratic.random(("a",), params=1, seed=-1)
    with pytest.raises(InputError, match=r"^eigenvalues = \(2, 1\): must be a smaller and a larg"):
        Quadratic.random(("a",), params=1, seed=0, eigenvalues=(2, 1))
