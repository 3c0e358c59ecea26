"""Choose the net and the engine of a scenario, and make its learner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from flexpress.arguments import check_callable, check_choice, check_whole
from flexpress.callbacks import Tell, ignore_note
from flexpress.errors import InputError
from flexpress.learning.architecture import MODELS, draw_initial, make_architecture
from flexpress.learning.job import Learner
from flexpress.learning.task import Task, make_task
from flexpress.learning.user_code import import_function, user_code
from flexpress.scenario import Scenario, check_scenario

if TYPE_CHECKING:
    from torch import nn

Engine = Literal["auto", "fast", "torch"]

_MOST_THREADS = 1024

_FAST_LAYERS = "blocks of Conv2d, ReLU and MaxPool2d(2), then Flatten, Linear and ReLU"


def make_learner(
    scenario: Scenario,
    *,
    engine: Engine = "auto",
    threads: int | None = None,
    tell: Tell = ignore_note,
) -> Learner:
    """The learner of this scenario; `auto` is the fast engine if it supports the net, else torch.

    `tell` receives notes about downloads and compilation. By default the fast engine uses all
    cores, and torch one, since with torch the number of threads could change the result.
    """
    net = choose_net(scenario, engine)  # first, since loading the data may mean a download
    threads = check_threads(threads)
    check_callable(tell=tell)
    task = make_task(scenario, tell)
    return learner_of(task, net, engine=engine, threads=threads, tell=tell)


@dataclass(frozen=True, eq=False)
class Net:
    """The net that a scenario names; the user's own module is made once, for one learner."""

    name: str
    module: nn.Module | None = None


def choose_net(scenario: Scenario, engine: Engine) -> Net:
    """InputError if there is no such net, or the engine needs torch and it is not installed."""
    check_scenario(scenario)
    check_choice("engine", engine, get_args(Engine))
    return net_of(scenario.learning.model, scenario.learning_seed, engine)


def net_of(name: str, seed: int, engine: Engine) -> Net:
    """The same for the net of this name, whose parameters are drawn from this seed."""
    if name in MODELS:
        if engine == "torch":
            _need_torch('engine = "torch"')
        return Net(name)
    if ":" not in name:
        import_function("learning.model", name, MODELS)  # raises, with the names that exist
    _need_torch(f'learning.model = "{name}"')
    from flexpress.learning.torch_module import own_module

    return Net(name, own_module(name, seed))


def learner_of(
    task: Task,
    net: Net,
    *,
    engine: Engine = "auto",
    threads: int | None = None,
    tell: Tell = ignore_note,
) -> Learner:
    """A learner of this task, which may differ from the scenario's own."""
    if net.module is not None:
        return _own_learner(task, net.name, net.module, engine, threads, tell)
    architecture = make_architecture(net.name, task.dataset.image, task.dataset.num_classes)
    initial = draw_initial(architecture, task.seed)
    if engine == "torch":
        from flexpress.learning.torch_learner import TorchLearner

        return TorchLearner(task, architecture, initial, threads=threads, name=net.name)
    from flexpress.learning.fast import FastLearner

    return FastLearner(task, architecture, initial, threads=threads, tell=tell)


def _own_learner(
    task: Task, name: str, module: nn.Module, engine: Engine, threads: int | None, tell: Tell
) -> Learner:
    """A learner of the user's own module."""
    from torch.nn.utils import parameters_to_vector

    from flexpress.learning.torch_learner import TorchLearner
    from flexpress.learning.torch_net import architecture_of

    with user_code(f'learning.model = "{name}": raised'):
        architecture = architecture_of(module, task.dataset.image, task.dataset.num_classes)
    if engine == "torch" or (engine == "auto" and architecture is None):
        return TorchLearner(task, module, threads=threads, name=name)
    if architecture is None:
        raise InputError(
            f'learning.model = "{name}": the fast engine supports {_FAST_LAYERS}, as a Sequential '
            "that fits the data; use engine auto or torch"
        )
    from flexpress.learning.fast import FastLearner

    initial = parameters_to_vector(module.parameters()).detach().numpy().astype("float32")
    return FastLearner(task, architecture, initial, threads=threads, tell=tell)


def check_threads(threads: int | None) -> int | None:
    return None if threads is None else check_whole("threads", threads, 1, _MOST_THREADS)


def _need_torch(where: str) -> None:
    try:
        import torch  # noqa: F401  # only to see whether it is installed
    except ImportError:
        raise InputError(f'{where}: needs torch: pip install "flexpress[torch]"') from None
