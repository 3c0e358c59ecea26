"""Estimates of L, G and sigma against Hessians, all mini-batches there are, and closed forms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from bowls import Array, Bowls, random_bowls
from thinned import by_default

from flexpress.errors import InputError
from flexpress.learning import Dataset, Learner, Task, TrainingLoss
from flexpress.learning.architecture import Architecture
from flexpress.theory import Estimate, estimate, estimates, exact_constants

MANY = 300
"""Steps of power iteration that are enough for eigenvalues as near as those of random matrices."""


def small_task(*, num_clients: int = 3, samples: int = 9, batch_size: int = 3) -> Task:
    """Images of 2 x 3 pixels with one of three labels."""
    rng = np.random.default_rng(5)
    count = num_clients * samples
    images = rng.standard_normal((count, 1, 2, 3)).astype(np.float32)
    labels = rng.integers(0, 3, count).astype(np.int32)
    one, zero = np.ones(1, dtype=np.float32), np.zeros(1, dtype=np.float32)
    data = Dataset("small", images, labels, images, labels, 3, one, zero)
    shards = np.arange(count, dtype=np.int32).reshape(num_clients, samples)
    return Task(data, tuple("abcdef"[:num_clients]), shards, 7, 0.1, batch_size)


def module(kind: str) -> Any:
    """Logistic regression, or a net with one hidden layer."""
    torch = pytest.importorskip("torch")
    nn = torch.nn
    if kind == "logistic":
        return nn.Sequential(nn.Flatten(), nn.Linear(6, 3))
    bend = {"tanh": nn.Tanh, "relu": nn.ReLU}[kind]()
    return nn.Sequential(nn.Flatten(), nn.Linear(6, 5), bend, nn.Linear(5, 3))


def torch_loss(task: Task, kind: str) -> TrainingLoss:
    pytest.importorskip("torch")
    from flexpress.learning.torch_learner import TorchLearner

    def make(task: Task) -> Learner:
        return TorchLearner(task, module(kind), dtype=np.float64)

    return TrainingLoss(task, make)


def hessians(task: Task, kind: str, model: Any) -> Array:
    """Of every client, by differentiating twice: (clients, params, params)."""
    torch = pytest.importorskip("torch")
    net = module(kind).double()
    parameters = list(net.parameters())
    flat = torch.tensor(model, dtype=torch.float64)
    torch.nn.utils.vector_to_parameters(flat, parameters)

    def derivatives(value: Any) -> Any:
        parts = torch.autograd.grad(value, parameters, create_graph=True, materialize_grads=True)
        return torch.cat([part.reshape(-1) for part in parts])

    found = []
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # so small a net is slower with two
    for rows in task.shards:
        images = torch.tensor(task.dataset.train_images[rows], dtype=torch.float64)
        labels = torch.tensor(task.dataset.train_labels[rows], dtype=torch.int64)
        slopes = derivatives(torch.nn.functional.cross_entropy(net(images), labels))
        found.append([derivatives(slope).detach().numpy() for slope in slopes])
    torch.set_num_threads(threads)
    return np.array(found)


def sizes(matrices: Array) -> Array:
    """The largest eigenvalue of each, without its sign."""
    return np.asarray(np.abs(np.linalg.eigvalsh(matrices)).max(axis=1))


@pytest.mark.parametrize("kind", by_default(1, ["relu", "tanh", "logistic"]))
def test_smoothness_like_hessians(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Near models, and steps without end, give the Hessian's; what is taken is within 1 % here."""
    task = small_task()
    loss = torch_loss(task, kind)
    models = np.random.default_rng(2).standard_normal((3, loss.initial_model().size))
    expected = np.array([sizes(hessians(task, kind, model)) for model in models])
    plain = estimate(loss, models, clients=3, iterations=MANY).smoothness
    assert plain.value == pytest.approx(expected.max(), rel=0.01)
    monkeypatch.setattr(estimates, "_SETTLED", 1e-7)
    near = estimate(loss, models, clients=3, iterations=MANY, nearness=3e-5).smoothness
    assert near.value == pytest.approx(expected.max(), rel=1e-4)
    assert near.mean == pytest.approx(expected.mean(), rel=1e-4)
    assert near.deviation == pytest.approx(expected.std(), rel=1e-3)


def test_one_of_these_has_negative_eigenvalues() -> None:
    """Otherwise there would be nothing to beware of."""
    task = small_task()
    model = np.random.default_rng(2).standard_normal(torch_loss(task, "tanh").initial_model().size)
    assert np.linalg.eigvalsh(hessians(task, "tanh", model))[:, 0].min() < -0.1


@pytest.mark.parametrize("kind", ["logistic", "relu"])
def test_smoothness_of_the_fast_learner(kind: str) -> None:
    """In single precision, by the same differences."""
    from flexpress.learning.fast import FastLearner

    task = small_task()
    architecture = Architecture((1, 2, 3), (), (5,) if kind == "relu" else (), 3)
    start = np.random.default_rng(2).standard_normal(architecture.num_params).astype(np.float32)
    loss = TrainingLoss(task, lambda task: FastLearner(task, architecture, start))
    found = estimate(loss, [start], iterations=MANY, clients=3).smoothness
    assert found.value == pytest.approx(sizes(hessians(task, kind, start)).max(), rel=0.01)


def test_ten_products_are_nearly_enough() -> None:
    task = small_task()
    loss = torch_loss(task, "tanh")
    model = np.random.default_rng(2).standard_normal(loss.initial_model().size)
    few, many = (estimate(loss, [model], iterations=n).smoothness for n in (10, MANY))
    assert 0.9 * many.value < few.value <= many.value
    assert few.samples <= 30 < many.samples


@pytest.mark.parametrize("seed", by_default(2, range(3)))
def test_quadratics_come_to_their_exact_constants(seed: int) -> None:
    """Models all over a disc: none has a larger gradient, and some have nearly the largest."""
    bowls = random_bowls(seed, params=2, lowest=-0.5 if seed % 2 else 0.2)
    rng = np.random.default_rng(seed)
    start, radius = rng.standard_normal(2), 1.5
    exact = exact_constants(bowls.curvatures, bowls.centres, bowls.noise, start, radius)
    angles = np.linspace(0, 2 * np.pi, 60)
    rim = start + radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    lowest = bowls.loss(start) - exact.start_gap
    found = estimate(
        bowls, [start, *rim], clients=5, batches=20, iterations=MANY, lowest=lowest
    ).constants
    assert found.smoothness == pytest.approx(exact.smoothness, rel=1e-3)
    assert found.smoothness <= exact.smoothness * (1 + 1e-9)
    assert found.noise == pytest.approx(exact.noise, rel=1e-12)
    assert found.gradient == pytest.approx(exact.gradient, rel=0.05)
    assert found.start_gap == pytest.approx(exact.start_gap, rel=1e-12)
    assert found.start_gradient == pytest.approx(exact.start_gradient, rel=1e-12)


def test_a_negative_curvature_counts_by_its_size() -> None:
    bowls = Bowls(np.array([np.diag([1.0, -4.0, 2.0]), np.eye(3)]), np.zeros((2, 3)))
    found = estimate(bowls, [np.ones(3)], iterations=MANY, lowest=-9.0).smoothness
    assert found.value == pytest.approx(4.0, rel=1e-3)
    assert found.mean == pytest.approx(2.5, rel=1e-3)
    assert found.deviation == pytest.approx(1.5, rel=1e-3)


@dataclass(frozen=True, eq=False)
class Kink(Bowls):
    """|x_0| for every client, as behind ReLU: its Hessian is 0 wherever there is one."""

    def loss(self, model: Array) -> float:
        return float(abs(model[0]))

    def gradients(self, clients: Sequence[int | str], models: Array) -> Array:
        found = np.zeros((len(clients), self.size))
        found[:, 0] = np.sign(np.broadcast_to(models, found.shape)[:, 0])
        return found


def test_a_jump_of_the_gradient_is_seen() -> None:
    """By 2, over twice 0.003 of a model of length 5, if the kink is that near; else not at all."""
    kink = Kink(np.zeros((1, 2, 2)), np.zeros((1, 2)))
    near = estimate(kink, [np.array([1e-4, 5.0])]).smoothness
    assert near.value == pytest.approx(2 / (2 * estimates._NEARNESS * 5), rel=1e-3)
    assert estimate(kink, [np.array([0.5, 5.0])]).smoothness.value == 0.0


@pytest.mark.slow
def test_noise_over_all_mini_batches() -> None:
    """A shard of 6 samples has 20 mini-batches of 3: all of them, against many that are drawn."""
    task = small_task(num_clients=2, samples=6)
    loss = torch_loss(task, "logistic")
    model = np.random.default_rng(3).standard_normal(21)
    powers, variances = [], []
    for row in task.shards:
        pairs = list(combinations(row, 3))
        shards = np.array(pairs, dtype=np.int32)
        whole = replace(task, client_ids=tuple(range(20)), shards=shards)
        gradients = torch_loss(whole, "logistic").gradients(whole.client_ids, model)
        powers.append(np.square(gradients).sum(axis=1).mean())
        variances.append(gradients.var(axis=0).sum())
    found = estimate(loss, [model], batches=2000)
    assert found.gradient.value == pytest.approx(np.sqrt(max(powers)), rel=0.02)
    assert found.noise.value == pytest.approx(np.sqrt(max(variances)), rel=0.03)
    assert found.gradient.mean == pytest.approx(np.sqrt(powers).mean(), rel=0.02)
    assert found.noise.mean == pytest.approx(np.sqrt(variances).mean(), rel=0.03)
    assert found.gradient.samples == found.noise.samples == 4000


def test_noise_is_not_too_small_with_few_mini_batches() -> None:
    """Off the client's own gradient, not off the mean of the mini-batches: two are enough."""
    bowls = random_bowls(0, clients=3, noise=0.7)
    found = estimate(bowls, np.ones((5, 4)), batches=2).noise
    assert found.mean == pytest.approx(0.7, rel=1e-12)
    assert found.deviation < 1e-12


def test_whole_shards_have_no_noise() -> None:
    task = small_task(batch_size=9)
    loss = torch_loss(task, "logistic")
    found = estimate(loss, [loss.initial_model()])
    assert found.noise.value < 1e-12
    lengths = np.linalg.norm(loss.gradients(task.client_ids, loss.initial_model()), axis=1)
    assert found.gradient.value == pytest.approx(lengths.max(), rel=1e-12)


def test_the_start_is_that_of_all_clients() -> None:
    """However few are asked for the rest."""
    bowls = random_bowls(1, clients=20)
    start = np.ones(4)
    found = estimate(bowls, [start, 2 * start], clients=1, lowest=-3.0)
    assert found.start_gap == pytest.approx(bowls.loss(start) + 3.0, rel=1e-12)
    slope = bowls.gradients(bowls.client_ids, start).mean(axis=0)
    assert found.start_gradient == pytest.approx(slope @ slope, rel=1e-12)


def test_dissimilarity_of_all_clients() -> None:
    """The root of the mean of |grad f_i - grad f|^2, at the model where it is largest."""
    bowls = random_bowls(3, clients=7)
    models = np.random.default_rng(3).standard_normal((3, 4))
    found = estimate(bowls, models, clients=7)
    expected = [bowls.gradients(range(7), model).var(axis=0).sum() ** 0.5 for model in models]
    assert found.dissimilarity is not None
    assert found.dissimilarity.value == pytest.approx(max(expected))
    assert found.dissimilarity.samples == 21
    assert found.constants.dissimilarity == found.dissimilarity.value


def test_dissimilarity_from_some_of_the_clients() -> None:
    """Its square is right in the mean over the draws."""
    bowls, model = random_bowls(4, clients=9), np.ones(4)
    exact = bowls.gradients(range(9), model).var(axis=0).sum()
    drawn = [estimate(bowls, [model], clients=3, iterations=1, seed=s) for s in range(300)]
    squares = [each.dissimilarity.value**2 for each in drawn if each.dissimilarity]
    assert np.mean(squares) == pytest.approx(exact, rel=4 * np.std(squares) / exact / 300**0.5)
    assert estimate(bowls, [model], clients=1).dissimilarity is None
    alone = estimate(random_bowls(5, clients=1), [model]).dissimilarity
    assert alone is not None
    assert alone.value == 0


def test_the_same_seed_gives_the_same() -> None:
    bowls = random_bowls(1, clients=40)
    models = np.random.default_rng(0).standard_normal((2, 4))
    first, again, other = (estimate(bowls, models, seed=seed) for seed in (3, 3, 4))
    assert first == again
    assert first.gradient != other.gradient
    assert first.gradient.samples == 2 * 10 * 8


def test_groups_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    bowls = random_bowls(1, clients=12)
    models = np.random.default_rng(0).standard_normal((2, 4))
    together = estimate(bowls, models, clients=12)
    monkeypatch.setattr(estimates, "_AT_ONCE", 5 * 4)
    apart = estimate(bowls, models, clients=12)
    for name in ("smoothness", "gradient", "noise"):
        ours, theirs = (getattr(each, name) for each in (apart, together))
        assert isinstance(ours, Estimate)
        assert ours.samples == theirs.samples
        assert ours.value == pytest.approx(theirs.value, rel=1e-12)
        assert ours.mean == pytest.approx(theirs.mean, rel=1e-12)
    assert apart.start_gradient == pytest.approx(together.start_gradient, rel=1e-12)


def test_clients_that_have_settled_are_not_asked_again() -> None:
    """Two equal eigenvalues settle at the second product."""
    bowls = Bowls(np.stack([2 * np.eye(2), 3 * np.eye(2)]), np.zeros((2, 2)))
    found = estimate(bowls, [np.ones(2)], iterations=50).smoothness
    assert found.samples == 4
    assert (found.value, found.mean) == pytest.approx((3.0, 2.5))


def test_where_the_gradient_does_not_change_it_ends() -> None:
    """Here it changes along the second axis only, and so that the next direction is the first."""
    bowls = Bowls(np.array([[[0.0, 1.0], [0.0, 0.0]]]), np.zeros((1, 2)))
    found = estimate(bowls, [np.ones(2)]).smoothness
    assert found.samples == 2
    assert 0 < found.value < 1


def test_a_model_of_zeros() -> None:
    """Has no length that distances could be relative to."""
    found = estimate(random_bowls(0), [np.zeros(4)], iterations=MANY)
    assert found.smoothness.value > 0.2


def test_progress() -> None:
    heard: list[float] = []
    estimate(random_bowls(0), np.ones((4, 4)), on_progress=heard.append)
    assert heard == [0.0, 0.25, 0.5, 0.75, 1.0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"models": []}, r"models = \[\]: must be at least one ndarray; give x\^0 first"),
        ({"models": np.ones(4)}, r"models\[0\] = 1.0: must be an ndarray"),
        ({"clients": 6}, "clients = 6: must be a whole number from 1 to 5"),
        ({"clients": 0}, "clients = 0: must be a whole number from 1 to 5"),
        ({"nearness": 0.0}, "nearness = 0.0: must be a number greater than 0 and at most 1"),
        ({"batches": 0}, "batches = 0: must be a whole number of at least 1"),
        ({"iterations": 0}, "iterations = 0: must be a whole number of at least 1"),
        ({"lowest": 1e9}, r"lowest = 1e\+09: must be at most f\(x\^0\), which is "),
        (
            {"models": np.full((1, 4), np.inf)},
            "gradients are not finite, so that no constant bounds",
        ),
    ],
)
def test_mistakes(options: dict[str, Any], message: str) -> None:
    with (
        pytest.raises(InputError, match=f"^{message}") as caught,
        np.errstate(invalid="ignore", over="ignore"),
    ):
        estimate(random_bowls(0), **({"models": np.ones((1, 4))} | options))
    assert "\n" not in str(caught.value)
