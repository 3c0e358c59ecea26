"""f and its gradients, as learners compute them, against NumPy, torch, and each other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from numpy_net import gradient, log_softmax, numpy_logits, seen
from tasks import random_model, random_task
from thinned import by_default

from flexpress.errors import InputError
from flexpress.learning import Job, Learner, Task, TrainingLoss, make_learner
from flexpress.learning.architecture import Architecture, Convolution, _mlp, lenet
from flexpress.learning.fast import FastLearner
from flexpress.scenario import Scenario

SMALL = Architecture((1, 12, 12), (Convolution(6, 5, 1), Convolution(9, 3, 1)), (10,), 4)
Array = NDArray[np.float64]

OWN = """
from torch import nn
def curved():
    return nn.Sequential(nn.Flatten(), nn.Linear(784, 6), nn.Tanh(), nn.Linear(6, 10))
"""


def relative(found: NDArray[Any], expected: NDArray[Any]) -> Any:
    return np.linalg.norm(found - expected, axis=-1) / np.linalg.norm(expected, axis=-1)


def fast_loss(task: Task, architecture: Architecture) -> TrainingLoss:
    start = random_model(architecture)
    return TrainingLoss(task, lambda task: FastLearner(task, architecture, start))


def torch_loss(task: Task, architecture: Architecture) -> TrainingLoss:
    pytest.importorskip("torch")
    from flexpress.learning.torch_learner import TorchLearner

    start = random_model(architecture)

    def make(task: Task) -> Learner:
        return TorchLearner(task, architecture, start, dtype=np.float64)

    return TrainingLoss(task, make)


def numpy_gradient(task: Task, architecture: Architecture, row: int, model: Any) -> Array:
    """The gradient of the mean over all samples of a client."""
    data, rows = task.dataset, task.shards[row]
    images = seen(data, data.train_images[rows])
    return gradient(
        architecture, np.asarray(model, dtype=float), images, data.train_labels[rows], False
    )


@pytest.mark.parametrize(
    "architecture", by_default(2, [SMALL, _mlp((1, 28, 28), 10), lenet((3, 32, 32), 10)])
)
def test_gradients_of_whole_shards_like_numpy(architecture: Architecture) -> None:
    """Clients in any order, also twice, each at its own model; rounding may decide at a kink."""
    task = random_task(architecture, batch_size=7, num_clients=5, samples=43)
    loss = fast_loss(task, architecture)
    models = np.stack([random_model(architecture, seed) for seed in range(6)])
    rows = [3, 0, 4, 0, 2, 1]
    found = loss.gradients([task.client_ids[i] for i in rows], models)
    pairs = zip(rows, models, strict=True)
    expected = [numpy_gradient(task, architecture, i, model) for i, model in pairs]
    errors = relative(found, np.array(expected))
    assert np.median(errors) < 1e-6
    assert errors.max() < 1e-2


def test_fast_and_torch_agree_on_whole_shards() -> None:
    architecture = lenet((1, 28, 28), 10)
    task = random_task(architecture, batch_size=20, num_clients=8, samples=60)
    fast, reference = fast_loss(task, architecture), torch_loss(task, architecture)
    start = fast.initial_model()
    errors = relative(*(each.gradients(task.client_ids, start) for each in (fast, reference)))
    assert np.median(errors) < 1e-6


def test_a_whole_shard_is_the_mean_of_its_samples() -> None:
    """The gradients of single samples, each the whole shard of a client of its own."""
    task = random_task(SMALL, batch_size=3, num_clients=2, samples=8)
    each = replace(task, client_ids=tuple(range(16)), shards=task.shards.reshape(16, 1))
    each = replace(each, batch_size=1)
    model = random_model(SMALL, 4)
    whole = torch_loss(task, SMALL).gradients(task.client_ids, model)
    single = torch_loss(each, SMALL).gradients(each.client_ids, model)
    assert np.allclose(whole, single.reshape(2, 8, -1).mean(axis=1), rtol=0, atol=1e-14)


@pytest.mark.parametrize("make", [fast_loss, torch_loss])
def test_mini_batches_are_those_of_a_run(make: Any) -> None:
    task = random_task(SMALL, batch_size=7, num_clients=4, learning_rate=0.5)
    loss = make(task, SMALL)
    learner = loss._make(task)
    models = np.stack([random_model(SMALL, seed) for seed in range(4)])
    clients, steps = [task.client_ids[i] for i in (1, 3, 3, 0)], [0, 5, 6, 900]
    jobs = [Job(*job, 1) for job in zip(clients, models, steps, strict=True)]
    found = loss.sampled(clients, models, steps)
    assert relative(0.5 * found, learner.train(jobs)).max() < 1e-5
    assert relative(*loss.sampled(["c1"] * 2, models[0], [3, 4])) > 0.01


def test_single_precision_loses_nothing_that_matters() -> None:
    """At the scenario's rate the model before the step counts: its rounding is in the gradient."""
    architecture = lenet((1, 28, 28), 10)
    task = random_task(architecture, batch_size=20, num_clients=10)
    model = random_model(architecture)
    steps = [0] * 10
    exact = torch_loss(task, architecture).sampled(task.client_ids, model, steps)
    found = fast_loss(task, architecture).sampled(task.client_ids, model, steps)
    jobs = [Job(client, model, 0, 1) for client in task.client_ids]
    naive = FastLearner(task, architecture, model).train(jobs) / task.learning_rate
    assert np.median(relative(found, exact)) < 1e-6
    assert np.median(relative(naive, exact)) > 10 * np.median(relative(found, exact))


@pytest.mark.parametrize("make", [fast_loss, torch_loss])
def test_the_loss_is_the_mean_over_all_that_was_dealt(make: Any) -> None:
    """A sample that was dealt twice counts twice; test samples do not matter."""
    task = random_task(SMALL, batch_size=7, num_clients=4, samples=30)
    shards = task.shards.copy()
    shards[0] = shards[1, 5]
    task = replace(task, shards=shards)
    model = random_model(SMALL, 3)
    data, dealt = task.dataset, shards.ravel()
    logits = numpy_logits(SMALL, model.astype(float), seen(data, data.train_images[dealt]))
    likely = log_softmax(logits)[np.arange(len(dealt)), data.train_labels[dealt]]
    assert make(task, SMALL).loss(model) == pytest.approx(-likely.mean(), rel=1e-6)


def test_the_gradients_are_those_of_the_loss() -> None:
    task = random_task(SMALL, batch_size=7, num_clients=4, samples=30)
    loss = torch_loss(task, SMALL)
    model = random_model(SMALL, 3).astype(float)
    direction = np.random.default_rng(0).standard_normal(model.size)
    rise = (loss.loss(model + 1e-6 * direction) - loss.loss(model - 1e-6 * direction)) / 2e-6
    mean = loss.gradients(task.client_ids, model).mean(axis=0)
    assert rise == pytest.approx(mean @ direction, rel=1e-6)


def test_one_model_for_all() -> None:
    task = random_task(SMALL, batch_size=7)
    loss, model = fast_loss(task, SMALL), random_model(SMALL, 2)
    rows = np.stack([model] * 3)
    ids = task.client_ids
    assert np.array_equal(loss.gradients(ids, model), loss.gradients(ids, rows))
    assert np.array_equal(loss.sampled(ids, model, [1, 2, 3]), loss.sampled(ids, rows, [1, 2, 3]))


def paper(model: str) -> Scenario:
    return Scenario.preset("paper").replace(learning={"model": model})


@pytest.mark.parametrize("engine", ["fast", "torch"])
def test_of_a_scenario(engine: Any) -> None:
    if engine == "torch":
        pytest.importorskip("torch")
    scenario = paper("logistic")
    loss = TrainingLoss.of(scenario, engine=engine)
    learner = make_learner(scenario, engine=engine)
    start = loss.initial_model()
    assert np.array_equal(start, learner.initial_model())
    assert loss.task.label_counts().sum(axis=1).tolist() == [60] * 40
    update = learner.train([Job(9, start, 4, 1)])
    assert relative(0.05 * loss.sampled([9], start, [4]), update) < 1e-4
    assert relative(loss.gradients([9], start), loss.gradients([10], start)) > 0.1


def test_a_module_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which only torch can train."""
    pytest.importorskip("torch")
    (tmp_path / "curved_nets.py").write_text(OWN)
    monkeypatch.syspath_prepend(str(tmp_path))
    scenario = paper("curved_nets:curved")
    loss = TrainingLoss.of(scenario)
    start = loss.initial_model()
    assert np.array_equal(start, make_learner(scenario).initial_model())
    gradients = loss.gradients(loss.client_ids, start)
    mean = gradients.mean(axis=0)
    steps = [loss.loss(start + sign * 0.001 * mean) for sign in (1, -1)]
    assert (steps[0] - steps[1]) / 0.002 == pytest.approx(mean @ mean, rel=1e-3)


def test_mistakes() -> None:
    task = random_task(SMALL, batch_size=7)
    loss, model = fast_loss(task, SMALL), random_model(SMALL)
    size = model.size
    with pytest.raises(InputError, match=r'^client = "c3": must be one of client_ids$'):
        loss.gradients(["c0", "c3"], model)
    message = rf"^models have shape \(2, {size}\): must be \(1, {size}\), or \({size},\) for one"
    with pytest.raises(InputError, match=message):
        loss.gradients(["c0"], np.stack([model, model]))
    with pytest.raises(InputError, match=r"^model has shape \(3,\): must be"):
        loss.loss(model[:3])
    with pytest.raises(
        InputError, match=r"^steps of shape \(1,\) for 2 clients: must be one for each$"
    ):
        loss.sampled(["c0", "c1"], model, [0])
    with pytest.raises(InputError, match='engine = "jax": must be one of auto, fast, torch'):
        TrainingLoss.of(paper("lenet"), engine="jax")  # type: ignore[arg-type]  # the mistake
