"""The first model against torch's own way to draw one."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from flexpress import Scenario, make_learner
from flexpress.learning.architecture import Architecture, _mlp, draw_initial, lenet

torch = pytest.importorskip("torch")

Array = NDArray[np.float32]


def test_the_seed_decides() -> None:
    net = lenet((1, 28, 28), 10)
    first = draw_initial(net, 0)
    assert first.dtype == np.float32
    assert first.shape == (net.num_params,) == (61_706,)
    assert np.array_equal(first, draw_initial(net, 0))
    assert not np.array_equal(first, draw_initial(net, 1))


@pytest.mark.parametrize("net", [lenet((3, 32, 32), 10), _mlp((1, 8, 8), 5)])
def test_layer_by_layer_as_torch(net: Architecture) -> None:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        ours, at = draw_initial(net, 4), 0
        for shape in net.weights():
            if len(shape) == 4:
                layer = torch.nn.Conv2d(shape[1], shape[0], shape[2])
            else:
                layer = torch.nn.Linear(shape[1], shape[0])
            for theirs in (layer.weight, layer.bias):
                drawn = ours[at : at + theirs.numel()]
                at += theirs.numel()
                compare(drawn, theirs.detach().numpy().ravel())
    assert at == len(ours)


def compare(ours: Array, theirs: Array) -> None:
    """Uniform within the same bound: the largest of n is near it, and so are mean and deviation."""
    n, bound = len(ours), np.abs(theirs).max() * (1 + 12 / len(ours))
    assert np.abs(ours).max() <= bound
    assert np.abs(ours).max() >= bound * (1 - 24 / n)
    assert abs(ours.mean()) < 4.5 * bound / np.sqrt(3 * n)
    assert ours.std() == pytest.approx(bound / np.sqrt(3), rel=4 / np.sqrt(n) + 24 / n)


def test_it_is_of_the_seed_of_learning() -> None:
    scenario = Scenario.preset("paper").replace(learning={"model": "logistic"})
    own = make_learner(scenario.replace(learning={"seed": 7})).initial_model()
    assert np.array_equal(own, make_learner(scenario.replace(seed=7)).initial_model())
    assert not np.array_equal(own, make_learner(scenario).initial_model())
