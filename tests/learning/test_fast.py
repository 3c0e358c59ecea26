"""The fast learner against plain NumPy in float64, and what must not matter to it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from numpy_net import layers, numpy_logits, numpy_metrics, numpy_update
from tasks import NUM_TEST, black_and_white, coarse_model, random_model, random_task
from thinned import by_default

from flexpress.learning.architecture import Architecture, Convolution, Shape, _logistic, _mlp, lenet
from flexpress.learning.fast import FastLearner, workspace
from flexpress.learning.job import Job
from flexpress.learning.task import Task

FMNIST: Shape = (1, 28, 28)
SVHN: Shape = (3, 32, 32)
SMALL = Architecture((1, 12, 12), (Convolution(6, 5, 1), Convolution(9, 3, 1)), (10,), 4)


def relative(found: NDArray[Any], expected: NDArray[Any]) -> float:
    return float(np.linalg.norm(found - expected) / np.linalg.norm(expected))


def check(task: Task, architecture: Architecture) -> None:
    """Updates and metrics like NumPy's.

    Where rounding decides whether ReLU lets a value through, or which of two pixels wins in the
    pool, float32 and float64 may differ: a client may then be off by more than rounding, few are.
    """
    model = random_model(architecture)
    learner = FastLearner(task, architecture, model)
    updates = learner.train([Job(client, model, 5, 3) for client in task.client_ids])
    assert updates.dtype == np.float32
    expected = [numpy_update(task, architecture, i, model, 5, 3) for i in range(len(updates))]
    errors = [relative(*pair) for pair in zip(updates, expected, strict=True)]
    assert np.median(errors) < 1e-5
    assert max(errors) < 1e-2
    loss, accuracy = learner.evaluate(model)
    expected_loss, expected_accuracy = numpy_metrics(task, architecture, model)
    assert loss == pytest.approx(expected_loss, rel=1e-6)
    assert accuracy == pytest.approx(expected_accuracy, abs=1.01 / NUM_TEST)


@pytest.mark.parametrize("batch_size", by_default(2, [7, 20, 1, 10, 32]))
@pytest.mark.parametrize("image", [FMNIST, SVHN])
def test_lenet(image: Shape, batch_size: int) -> None:
    architecture = lenet(image, 10)
    check(random_task(architecture, batch_size=batch_size), architecture)


@pytest.mark.parametrize("make", [_mlp, _logistic])
@pytest.mark.parametrize("image", [FMNIST, SVHN, (2, 5, 3)])
def test_without_convolutions(make: Callable[[Shape, int], Architecture], image: Shape) -> None:
    architecture = make(image, 10)
    check(random_task(architecture, batch_size=9), architecture)


@st.composite
def architectures(draw: Any) -> Architecture:
    """Up to three blocks, with odd sizes, and up to two hidden layers."""
    image = draw(st.integers(1, 4)), draw(st.integers(1, 20)), draw(st.integers(1, 20))
    blocks: list[Convolution] = []
    shape = image
    for _ in range(draw(st.integers(0, 3))):
        kernel, padding = draw(st.integers(1, 7)), draw(st.integers(0, 3))
        block = Convolution(draw(st.integers(1, 35)), kernel, padding)
        if min(block.output(shape)) >= 1 and min(shape[1:]) + 2 * padding >= kernel:
            blocks.append(block)
            shape = block.output(shape)
    hidden = draw(st.lists(st.integers(1, 130), max_size=2))
    return Architecture(image, tuple(blocks), tuple(hidden), draw(st.integers(2, 19)))


def exact_case(architecture: Architecture, batch_size: int) -> tuple[Task, NDArray[np.float32]]:
    """Forward nothing is rounded, so that the same pixels win; logits of about 1."""
    task = black_and_white(random_task(architecture, batch_size=batch_size))
    model = coarse_model(architecture)
    images = task.dataset.train_images[:50].astype(float)
    largest = np.abs(numpy_logits(architecture, model.astype(float), images)).max()
    weights, _ = layers(architecture, model)[-1]
    weights *= np.float32(2.0 ** -np.ceil(np.log2(max(largest, 1.0))))
    return task, model


@settings(max_examples=60, deadline=None, derandomize=True)
@given(architecture=architectures(), batch_size=st.integers(1, 13))
def test_any_net_and_ties(architecture: Architecture, batch_size: int) -> None:
    task, model = exact_case(architecture, batch_size)
    update = FastLearner(task, architecture, model).train([Job("c1", model, 0, 1)])[0]
    expected = numpy_update(task, architecture, 1, model, 0, 1)
    assert np.abs(update - expected).max() <= 1e-5 * np.abs(expected).max() + 1e-7


def test_ties_are_common_in_that() -> None:
    """Or the test above would show nothing: the last of equals would make a difference."""
    task, model = exact_case(SMALL, 7)
    update = FastLearner(task, SMALL, model).train([Job("c1", model, 0, 1)])[0]
    expected = numpy_update(task, SMALL, 1, model, 0, 1, last_of_equals=True)
    assert np.abs(update - expected).max() > 1e-2 * np.abs(expected).max()


def test_neither_threads_nor_neighbours_matter() -> None:
    architecture = lenet(FMNIST, 10)
    task = random_task(architecture, batch_size=7, num_clients=5)
    models = [random_model(architecture, seed) for seed in range(3)]
    jobs = [Job(f"c{i % 5}", models[i % 3], i % 4, i % 6) for i in range(23)]
    one, two, five = (
        FastLearner(task, architecture, models[0], threads=threads) for threads in (1, 2, 5)
    )
    alone = np.concatenate([one.train([job]) for job in jobs])
    assert len(np.unique(alone, axis=0)) > 15
    for learner in (one, two, five):
        assert np.array_equal(learner.train(jobs), alone)
        assert np.array_equal(learner.train(jobs[::-1])[::-1], alone)
        assert learner.evaluate(models[1]) == one.evaluate(models[1])


def test_a_diverged_job_shows_and_leaves_no_trace() -> None:
    model = random_model(SMALL)
    task = random_task(SMALL, batch_size=5)
    learner = FastLearner(task, SMALL, model, threads=1)
    before = learner.train([Job("c0", model, 0, 4)])
    wild = FastLearner(replace(task, learning_rate=1e15), SMALL, model, threads=1)
    wild._spare = learner._spare = {**learner._spare, **wild._spare}
    wild._layout, wild._test_layout = learner._layout, learner._test_layout
    for steps in (3, 6):
        (update,) = wild.train([Job("c0", model, 0, steps)])
        assert not np.isfinite(update).all()
        assert np.isnan(wild.evaluate(model - update).loss)
    assert np.array_equal(learner.train([Job("c0", model, 0, 4)]), before)


@pytest.mark.parametrize("broken", [np.nan, np.inf, -np.inf])
def test_a_broken_weight_of_any_layer_shows(broken: float) -> None:
    task = random_task(SMALL, batch_size=5)
    learner = FastLearner(task, SMALL, random_model(SMALL))
    for layer in range(4):
        model = random_model(SMALL)
        weights, _ = layers(SMALL, model)[layer]
        weights.flat[0] = broken
        assert not np.isfinite(learner.train([Job("c0", model, 0, 2)])).all()
        assert not np.isfinite(learner.train([Job("c0", model, 0, 0)])).all()


def test_no_steps_and_no_jobs() -> None:
    model = random_model(SMALL)
    learner = FastLearner(random_task(SMALL, batch_size=5), SMALL, model, threads=2)
    jobs = [Job(client, model, 3, 0) for client in ("c0", "c2")]
    assert np.array_equal(learner.train(jobs), np.zeros((2, SMALL.num_params)))
    assert learner.train([]).shape == (0, SMALL.num_params)


def test_floats_are_seen_like_bytes() -> None:
    model = random_model(SMALL)
    task = random_task(SMALL, batch_size=5)
    data = task.dataset
    floats = replace(
        data,
        train_images=data.train_images.astype(np.float32),
        test_images=data.test_images.astype(np.float32),
    )
    jobs = [Job("c1", model, 0, 3)]
    bytes_learner = FastLearner(task, SMALL, model)
    float_learner = FastLearner(replace(task, dataset=floats), SMALL, model)
    assert np.array_equal(bytes_learner.train(jobs), float_learner.train(jobs))
    assert bytes_learner.evaluate(model) == float_learner.evaluate(model)


def test_models_of_other_precision_and_the_initial_model() -> None:
    model = random_model(SMALL)
    learner = FastLearner(random_task(SMALL, batch_size=5), SMALL, model)
    update = learner.train([Job("c1", model, 0, 3)])
    assert np.array_equal(learner.train([Job("c1", model.astype(np.float64), 0, 3)]), update)
    learner.initial_model()[:] = 0
    assert np.array_equal(learner.initial_model(), model)


GUARD = 4096


@pytest.mark.parametrize(
    "architecture",
    [
        SMALL,
        lenet(FMNIST, 10),
        Architecture((3, 7, 2), (Convolution(33, 1),), (), 2),
        Architecture((3, 12, 13), (Convolution(9, 7, 3), Convolution(5, 6, 3)), (5, 1), 3),
        Architecture((2, 3, 3), (Convolution(6, 5, 2),), (41,), 3),
        Architecture((1, 1, 1), (), (), 2),
    ],
)
@pytest.mark.parametrize("batch_size", [1, 6])
def test_nothing_beyond_the_workspace_matters(
    architecture: Architecture, batch_size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All arrays between guards that are NaN: they stay so, and nothing else becomes NaN."""
    task, model = random_task(architecture, batch_size=batch_size), random_model(architecture)
    jobs = [Job("c0", model, 0, 2)]
    expected = FastLearner(task, architecture, model, threads=1).train(jobs)
    guarded: list[NDArray[Any]] = []

    def aligned(count: int, kind: Any) -> NDArray[Any]:
        room = np.full(count + 2 * GUARD, 0x7FC00000, dtype=np.int32).view(kind)
        guarded.append(room)
        array: NDArray[Any] = room[GUARD : GUARD + count]
        array[:] = 0
        return array

    monkeypatch.setattr(workspace, "_aligned", aligned)
    learner = FastLearner(task, architecture, model, threads=1)
    assert np.array_equal(learner.train(jobs), expected)
    learner.evaluate(model)
    assert len(guarded) > 10
    for room in guarded:
        edges = np.concatenate([room[:GUARD], room[-GUARD:]]).view(np.int32)
        assert (edges == 0x7FC00000).all()


COLD = """
from tasks import random_model, random_task
from flexpress.learning.architecture import _logistic
from flexpress.learning.fast import FastLearner
net = _logistic((1, 4, 4), 3)
FastLearner(random_task(net, batch_size=5), net, random_model(net), tell=print)
"""


@pytest.mark.slow
def test_compiling_is_told_and_done_once(tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    outputs = [
        subprocess.run(
            [sys.executable, "-c", COLD],
            cwd=Path(__file__).parent,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for _ in range(2)
    ]
    assert outputs == ["compiling the learning engine, once (about 10 s)\n", ""]
