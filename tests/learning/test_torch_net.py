"""Architectures as torch modules, and back: what is recognised must compute the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from flexpress.learning.architecture import Architecture, Convolution, _logistic, _mlp, lenet

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402  # only where torch is

from flexpress.learning.torch_net import architecture_of, make_module  # noqa: E402  # needs torch

IMAGE = (2, 9, 9)
NETS = [
    lenet((1, 28, 28), 10),
    lenet((3, 32, 32), 10),
    _mlp((1, 6, 6), 3),
    _logistic((2, 5, 5), 4),
    Architecture(IMAGE, (Convolution(3, 4, 2),), (7, 6), 5),
    Architecture(IMAGE, (Convolution(3, 1), Convolution(4, 2, 1)), (), 5),
]


@pytest.mark.parametrize("net", NETS)
def test_there_and_back(net: Architecture) -> None:
    module = make_module(net)
    shapes = [tuple(each.shape) for each in module.parameters()]
    assert shapes[::2] == net.weights()
    assert sum(each.numel() for each in module.parameters()) == net.num_params
    assert module(torch.zeros(2, *net.image)).shape == (2, net.num_classes)
    assert architecture_of(module, net.image, net.num_classes) == net


def sequence(*front: Any, inputs: int = 3 * 3 * 3, **conv: Any) -> nn.Sequential:
    """Conv2d with those options, then the front or what is usual, then a linear layer."""
    options = {"padding": 0, **conv}
    block = [nn.Conv2d(2, 3, options.pop("kernel", 3), **options)]
    return nn.Sequential(*block, *(front or usual()), nn.Flatten(), nn.Linear(inputs, 5))


def usual() -> list[nn.Module]:
    return [nn.ReLU(), nn.MaxPool2d(2)]


RECOGNISED: dict[str, tuple[Callable[[], nn.Module], Convolution]] = {
    "usual": (lambda: sequence(), Convolution(3, 3)),
    "pool first": (lambda: sequence(nn.MaxPool2d(2), nn.ReLU()), Convolution(3, 3)),
    "pool in pairs": (lambda: sequence(nn.ReLU(), nn.MaxPool2d((2, 2), (2, 2))), Convolution(3, 3)),
    "same": (lambda: sequence(padding="same", inputs=48), Convolution(3, 3, 1)),
    "valid": (lambda: sequence(padding="valid"), Convolution(3, 3)),
    "padding": (lambda: sequence(padding=(2, 2), inputs=75), Convolution(3, 3, 2)),
    "in place": (lambda: sequence(nn.ReLU(inplace=True), nn.MaxPool2d(2)), Convolution(3, 3)),
    "nested": (lambda: nn.Sequential(*[nn.Sequential(x) for x in sequence()]), Convolution(3, 3)),
}


@pytest.mark.parametrize("case", RECOGNISED)
def test_recognised_and_the_same(case: str) -> None:
    make, block = RECOGNISED[case]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(2)
        theirs = make()
        images = torch.randn(4, *IMAGE)
    found = architecture_of(theirs, IMAGE, 5)
    assert found == Architecture(IMAGE, (block,), (), 5)
    ours = make_module(found)
    vector = nn.utils.parameters_to_vector(theirs.parameters())
    nn.utils.vector_to_parameters(vector, ours.parameters())
    assert torch.allclose(ours(images), theirs(images), atol=1e-6)


def tied() -> nn.Module:
    layer = nn.Linear(162, 162)
    return nn.Sequential(nn.Flatten(), layer, nn.ReLU(), layer, nn.ReLU(), nn.Linear(162, 5))


def frozen() -> nn.Module:
    module = sequence()
    module[0].requires_grad_(False)
    return module


class Own(nn.Sequential):  # type: ignore[misc]  # torch is Any
    def forward(self, images: Any) -> Any:
        return -super().forward(images)


UNKNOWN: dict[str, Callable[[], nn.Module]] = {
    "stride": lambda: sequence(stride=2, inputs=12),
    "dilation": lambda: sequence(dilation=2, inputs=12),
    "no bias": lambda: sequence(bias=False),
    "not square": lambda: sequence(kernel=(3, 1), inputs=36),
    "uneven padding": lambda: sequence(padding=(1, 0), inputs=36),
    "same, even": lambda: sequence(kernel=4, padding="same", inputs=48),
    "reflected": lambda: sequence(padding=1, padding_mode="reflect", inputs=48),
    "average": lambda: sequence(nn.ReLU(), nn.AvgPool2d(2)),
    "pool 3": lambda: sequence(nn.ReLU(), nn.MaxPool2d(3), inputs=12),
    "pool overlaps": lambda: sequence(nn.ReLU(), nn.MaxPool2d(2, 1), inputs=108),
    "pool ceil": lambda: sequence(nn.ReLU(), nn.MaxPool2d(2, ceil_mode=True), inputs=48),
    "pool padded": lambda: sequence(nn.ReLU(), nn.MaxPool2d(2, padding=1), inputs=48),
    "no pool": lambda: sequence(nn.ReLU(), nn.Identity(), inputs=147),
    "leaky": lambda: sequence(nn.LeakyReLU(), nn.MaxPool2d(2)),
    "two pools": lambda: sequence(nn.MaxPool2d(2), nn.MaxPool2d(1)),
    "dropout": lambda: sequence(*usual(), nn.Dropout()),
    "ends with relu": lambda: nn.Sequential(*sequence(), nn.ReLU()),
    "no hidden relu": lambda: nn.Sequential(*sequence()[:-1], nn.Linear(27, 9), nn.Linear(9, 5)),
    "linear without bias": lambda: nn.Sequential(nn.Flatten(), nn.Linear(162, 5, bias=False)),
    "classes": lambda: nn.Sequential(nn.Flatten(), nn.Linear(162, 6)),
    "size": lambda: nn.Sequential(nn.Flatten(), nn.Linear(160, 5)),
    "no flatten": lambda: nn.Sequential(nn.Linear(9, 5)),
    "flatten all": lambda: nn.Sequential(nn.Flatten(0), nn.Linear(162, 5)),
    "tied": tied,
    "frozen": frozen,
    "own class": lambda: Own(nn.Flatten(), nn.Linear(162, 5)),
    "empty": lambda: nn.Sequential(),
}


@pytest.mark.parametrize("case", UNKNOWN)
def test_left_to_torch(case: str) -> None:
    assert architecture_of(UNKNOWN[case](), IMAGE, 5) is None


def test_rows_of_features_need_no_flatten() -> None:
    module = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 5))
    assert architecture_of(module, (1, 1, 6), 5) == Architecture((1, 1, 6), (), (8,), 5)
    assert architecture_of(module, (1, 6, 6), 5) is None
