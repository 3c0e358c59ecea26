"""The reference learner against gradients worked out by hand, and against itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from small_task import small_task

from flexpress.errors import InputError
from flexpress.learning.architecture import Architecture, Convolution, _logistic
from flexpress.learning.batches import batches
from flexpress.learning.job import Job
from flexpress.learning.task import Task

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402  # only where torch is

from flexpress.learning.torch_learner import TorchLearner  # noqa: E402  # needs torch

Array = NDArray[np.float64]
SMALL = Architecture((2, 8, 8), (Convolution(3, 3),), (6,), 4)


def softmax_regression(images: Array, model: Array, classes: int) -> Array:
    """Probabilities: (samples, classes)."""
    weights = model[:-classes].reshape(classes, -1)
    scores = images.reshape(len(images), -1) @ weights.T + model[-classes:]
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(odds / odds.sum(axis=1, keepdims=True))


def seen(task: Task, images: NDArray[Any]) -> Array:
    data = task.dataset
    scale, shift = (each.astype(np.float64)[:, None, None] for each in (data.scale, data.shift))
    return np.asarray(images * scale + shift)


def descend(task: Task, row: int, model: Array, first_step: int, num_steps: int) -> Array:
    """Logistic regression by SGD, in NumPy."""
    data, classes = task.dataset, task.dataset.num_classes
    size = task.shards.shape[1]
    model = model.copy()
    for batch in batches(task.seed, row, first_step, num_steps, size, task.batch_size):
        samples = task.shards[row][batch]
        images = seen(task, data.train_images[samples])
        errors = softmax_regression(images, model, classes)
        errors[np.arange(len(samples)), data.train_labels[samples]] -= 1
        gradient = errors.T @ images.reshape(len(samples), -1) / len(samples)
        model -= task.learning_rate * np.append(gradient, errors.mean(axis=0))
    return model


@pytest.mark.parametrize("shape", [(3, 3), (2, 4, 3), (6,)])
def test_steps_by_hand(shape: tuple[int, ...]) -> None:
    task = small_task(*shape)
    learner = TorchLearner(task, _logistic(task.dataset.image, 4), dtype=np.float64)
    rng = np.random.default_rng(0)
    models = rng.normal(size=(3, len(learner.initial_model())))
    clients: tuple[int | str, ...] = (9, 7, "weir")
    jobs = [Job(client, model, 5, 8) for client, model in zip(clients, models, strict=True)]
    updates = learner.train(jobs)
    assert updates.dtype == np.float64
    for row, model, update in zip((2, 0, 1), models, updates, strict=True):
        assert np.allclose(update, model - descend(task, row, model, 5, 8), rtol=0, atol=1e-12)


def test_evaluation_by_hand() -> None:
    task = small_task(2, 4, 3)
    learner = TorchLearner(task, _logistic((2, 4, 3), 4), dtype=np.float64)
    model = np.random.default_rng(0).normal(size=len(learner.initial_model()))
    data = task.dataset
    probabilities = softmax_regression(seen(task, data.test_images), model, 4)
    right = probabilities.argmax(axis=1) == data.test_labels
    loss, accuracy = learner.evaluate(model)
    assert loss == pytest.approx(-np.log(probabilities[np.arange(30), data.test_labels]).mean())
    assert accuracy == right.mean()
    assert 0 < accuracy < 1


def test_evaluation_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    learner = TorchLearner(small_task(2, 8, 8), SMALL)
    whole = learner.evaluate(learner.initial_model())
    monkeypatch.setattr("flexpress.learning.torch_learner._TEST_BATCH", 7)
    assert learner.evaluate(learner.initial_model()) == pytest.approx(whole)


def with_dropout() -> nn.Module:
    return nn.Sequential(nn.Flatten(), nn.Linear(128, 20), nn.Dropout(0.5), nn.Linear(20, 4))


@pytest.mark.parametrize("make", [lambda: SMALL, with_dropout])
def test_a_job_is_a_pure_function(make: Callable[[], Any]) -> None:
    task = small_task(2, 8, 8)
    first, second = TorchLearner(task, make()), TorchLearner(task, make())
    start = first.initial_model()
    jobs = [Job(client, start, step, 3) for client in (7, "weir") for step in (0, 4)]
    together = first.train(jobs)
    torch.rand(3)
    alone = np.stack([second.train([job])[0] for job in reversed(jobs)])[::-1]
    assert np.array_equal(together, alone)
    assert together.dtype == np.float32
    assert len({update.tobytes() for update in together}) == 4


def test_steps_may_be_split() -> None:
    learner = TorchLearner(small_task(2, 8, 8), with_dropout(), dtype=np.float64)
    start = learner.initial_model()
    (whole,) = learner.train([Job(7, start, 0, 6)])
    (front,) = learner.train([Job(7, start, 0, 2)])
    (back,) = learner.train([Job(7, start - front, 2, 4)])
    assert np.allclose(whole, front + back, rtol=0, atol=1e-14)


def test_dropout_differs_from_step_to_step_and_is_not_evaluated() -> None:
    """With all samples in every batch, nothing else differs."""
    task = small_task(2, 8, 8, batch_size=12)
    layers = list(with_dropout())
    dropping = TorchLearner(task, nn.Sequential(*layers))
    start = dropping.initial_model()
    plain = TorchLearner(task, nn.Sequential(*layers[:2], layers[3]), start)
    jobs = [Job(7, start, step, 1) for step in (0, 1)]
    (first, second), (same, again) = dropping.train(jobs), plain.train(jobs)
    assert np.allclose(same, again, atol=1e-6)
    assert np.abs(first - second).max() > 1e-3
    assert dropping.evaluate(start) == plain.evaluate(start)


def test_no_jobs_and_no_steps() -> None:
    learner = TorchLearner(small_task(2, 8, 8), SMALL)
    assert learner.train([]).shape == (0, SMALL.num_params)
    assert not learner.train([Job(7, learner.initial_model(), 3, 0)]).any()


def test_float32_is_near_float64() -> None:
    task = small_task(2, 8, 8)
    single, double = (TorchLearner(task, SMALL, dtype=kind) for kind in (np.float32, np.float64))
    start = single.initial_model()
    updates = [learner.train([Job(9, start, 0, 10)]) for learner in (single, double)]
    assert 0 < np.abs(updates[0] - updates[1]).max() < 1e-5


def test_torch_is_left_as_it_was() -> None:
    module = with_dropout()
    threads, state = torch.get_num_threads(), torch.random.get_rng_state()
    fill = torch.utils.deterministic.fill_uninitialized_memory
    learner = TorchLearner(small_task(2, 8, 8), module, threads=threads + 1)
    model = learner.initial_model()
    learner.train([Job(7, model, 0, 2)])
    learner.evaluate(model)
    with pytest.raises(InputError, match="nobody"):
        learner.train([Job("nobody", model, 0, 2)])
    assert torch.get_num_threads() == threads
    assert torch.equal(torch.random.get_rng_state(), state)
    assert not torch.are_deterministic_algorithms_enabled()
    assert torch.utils.deterministic.fill_uninitialized_memory == fill
    assert torch.is_grad_enabled()


def test_given_start_and_untouched_arguments() -> None:
    start = np.random.default_rng(0).normal(size=SMALL.num_params).astype(np.float32)
    kept = start.copy()
    learner = TorchLearner(small_task(2, 8, 8), SMALL, start)
    assert np.array_equal(learner.initial_model(), start)
    learner.train([Job(7, start, 0, 3)])
    learner.evaluate(start)
    learner.initial_model()[:] = 0
    assert np.array_equal(start, kept)
    assert np.array_equal(learner.initial_model(), kept)


def normed(**options: Any) -> nn.Module:
    layers = [nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4, **options), nn.Flatten(), nn.Linear(144, 4)]
    return nn.Sequential(*layers)


class Scaled(nn.Module):  # type: ignore[misc]  # torch is Any
    """Has a buffer that never changes."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("factor", torch.tensor(2.0))
        self.layer = nn.Linear(128, 4)
        self.unused = nn.Linear(3, 3)

    def forward(self, images: Any) -> Any:
        return self.layer(images.flatten(1)) * self.factor


@pytest.mark.parametrize("make", [lambda: normed(track_running_stats=False), Scaled])
def test_modules_that_learn(make: Callable[[], nn.Module]) -> None:
    learner = TorchLearner(small_task(2, 8, 8), make())
    model = learner.initial_model()
    for step in range(0, 30, 5):
        model = model - sum(learner.train([Job(c, model, step, 5) for c in (7, "weir", 9)])) / 3
    assert learner.evaluate(model).loss != learner.evaluate(learner.initial_model()).loss


def test_frozen_parameters_stay() -> None:
    module = nn.Sequential(nn.Flatten(), nn.Linear(128, 6), nn.ReLU(), nn.Linear(6, 4))
    module[1].requires_grad_(False)
    learner = TorchLearner(small_task(2, 8, 8), module)
    (update,) = learner.train([Job(7, learner.initial_model(), 0, 3)])
    assert not update[: 129 * 6].any()
    assert update[129 * 6 :].any()


def test_features_as_rows() -> None:
    task = small_task(6)
    rows = TorchLearner(task, nn.Sequential(nn.Linear(6, 4)))
    images = TorchLearner(task, nn.Sequential(nn.Flatten(), nn.Linear(6, 4)))
    job = Job(7, rows.initial_model(), 0, 4)
    assert np.array_equal(rows.train([job]), images.train([job]))


MISTAKES: dict[str, tuple[Callable[[], nn.Module], str]] = {
    "batch norm": (normed, "buffer 1.running_mean changes in training, but only parameters"),
    "classes": (
        lambda: nn.Sequential(nn.Flatten(), nn.Linear(128, 10)),
        r"returns \(5, 10\) for images \(5, 2, 8, 8\): must be \(5, 4\)",
    ),
    "no batch": (lambda: nn.Flatten(0), "returns"),
    "size": (
        lambda: nn.Sequential(nn.Flatten(), nn.Linear(100, 4)),
        r"fails on images \(5, 2, 8, 8\): RuntimeError: mat1 and mat2",
    ),
    "frozen": (
        lambda: nn.Sequential(nn.Flatten(), nn.Linear(128, 4)).requires_grad_(False),
        "RuntimeError: element 0 of tensors does not require grad",
    ),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_mistakes(case: str) -> None:
    make, message = MISTAKES[case]
    with pytest.raises(InputError, match=message) as caught:
        TorchLearner(small_task(2, 8, 8), make(), name="nets:make")
    assert str(caught.value).startswith('learning.model = "nets:make": ')
    assert "\n" not in str(caught.value)
