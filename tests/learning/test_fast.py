"""The fast learner against plain NumPy in float64, and what must not matter to it."""

from __future__ import annotations

import numpy as np
import pytest
from numpy_net import numpy_metrics, numpy_update
from tasks import random_model, random_task

from flexpress.learning.architecture import Architecture, Convolution, Shape, lenet, logistic, mlp
from flexpress.learning.fast import FastLearner
from flexpress.learning.job import Job
from flexpress.learning.task import Task

MNIST: Shape = (1, 28, 28)
SVHN: Shape = (3, 32, 32)

ODD = [
    Architecture((2, 9, 11), (Convolution(5, 2, 1), Convolution(9, 3, 2)), (7,), 3),
    Architecture((1, 7, 6), (Convolution(17, 1),), (), 2),
    Architecture(
        (3, 21, 20), (Convolution(3, 7, 3), Convolution(24, 4, 0), Convolution(2, 3, 1)), (5, 1), 4
    ),
    Architecture((4, 3, 5), (), (9, 33), 11),
    Architecture((1, 12, 9), (Convolution(40, 6, 2),), (100,), 13),
    Architecture((2, 40, 6), (Convolution(8, 3, 0), Convolution(16, 2, 3)), (), 1),
]


def check(
    task: Task, architecture: Architecture, num_steps: int = 3, tolerance: float = 2e-5
) -> None:
    """Updates and metrics like NumPy's, within the error of float32."""
    model = random_model(architecture)
    learner = FastLearner(task, architecture, model)
    jobs = [Job(client, model, 5, num_steps) for client in task.client_ids]
    updates = learner.train(jobs)
    assert updates.dtype == np.float32
    for i in range(len(jobs)):
        expected = numpy_update(task, architecture, i, model, 5, num_steps)
        assert np.abs(expected).max() > 0
        assert np.abs(updates[i] - expected).max() <= tolerance * np.abs(expected).max() + 1e-7
    loss, accuracy = learner.evaluate(model)
    expected_loss, expected_accuracy = numpy_metrics(task, architecture, model)
    assert loss == pytest.approx(expected_loss, rel=1e-5)
    assert accuracy == pytest.approx(expected_accuracy, abs=1 / 75)


@pytest.mark.parametrize("batch_size", [1, 7, 10, 20, 32])
@pytest.mark.parametrize("image", [MNIST, SVHN])
def test_lenet(image: Shape, batch_size: int) -> None:
    check(random_task(image, batch_size=batch_size), lenet(image, 10))


@pytest.mark.parametrize("make", [mlp, logistic])
@pytest.mark.parametrize("image", [MNIST, SVHN, (2, 5, 3)])
def test_without_convolutions(make: type, image: Shape) -> None:
    check(random_task(image, batch_size=9), make(image, 10))


@pytest.mark.parametrize("architecture", ODD)
@pytest.mark.parametrize("batch_size", [1, 4, 11])
def test_odd_nets(architecture: Architecture, batch_size: int) -> None:
    task = random_task(
        architecture.image, batch_size=batch_size, num_classes=architecture.num_classes
    )
    if architecture.num_classes == 1:
        return
    check(task, architecture)
