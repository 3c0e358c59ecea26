"""The fast learner against torch: the same updates, and no less exact."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from tasks import random_model, random_task

from flexpress.learning.architecture import Architecture, Shape, lenet
from flexpress.learning.fast import FastLearner
from flexpress.learning.job import Job
from flexpress.learning.task import Task

torch = pytest.importorskip("torch")

IMAGES = [(1, 28, 28), (3, 32, 32)]


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """More than one makes torch slower on nets as small as these."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def compare(task: Task, architecture: Architecture, num_steps: int) -> tuple[float, float]:
    """Our error against torch in float64, relative to torch's own; the largest difference.

    The error is that of the median client: rounding may decide whether ReLU lets a value through or
    which pixel wins in the pool, which can happen to either.
    """
    from torch_loop import TorchLoop

    model = random_model(architecture)
    jobs = [Job(client, model, 0, num_steps) for client in task.client_ids]
    fast = FastLearner(task, architecture, model).train(jobs)
    single = TorchLoop(task, architecture).train(jobs)
    double = TorchLoop(task, architecture, torch.float64).train(jobs)
    ours, theirs = (np.linalg.norm(updates - double, axis=1) for updates in (fast, single))
    return float(np.median(ours / theirs)), float(np.abs(fast - single).max())


@pytest.mark.parametrize("batch_size", [1, 7, 10, 20, 32])
@pytest.mark.parametrize("image", IMAGES)
def test_ten_steps_of_lenet(image: Shape, batch_size: int) -> None:
    """The error of either is that of parameters in float32, which is equal but for chance."""
    architecture = lenet(image, 10)
    task = random_task(architecture, batch_size=batch_size, num_clients=4)
    error, difference = compare(task, architecture, 10)
    assert difference < 1e-4
    assert error < 1.02


@pytest.mark.parametrize("batch_size", [1, 20])
@pytest.mark.parametrize("image", IMAGES)
def test_the_gradient_itself(image: Shape, batch_size: int) -> None:
    """A step so large that the model before it does not count: only the sums' own errors do."""
    architecture = lenet(image, 10)
    task = random_task(architecture, batch_size=batch_size, num_clients=40)
    error, _ = compare(replace(task, learning_rate=2.0**30), architecture, 1)
    assert error < 1
