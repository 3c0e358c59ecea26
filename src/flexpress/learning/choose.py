"""A scenario -> its task, and the learner that can do it fastest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from flexpress.arguments import check_callable, check_choice, check_whole
from flexpress.errors import InputError
from flexpress.learning.architecture import MODELS, make_architecture
from flexpress.learning.datasets import Tell, ignore, load_dataset
from flexpress.learning.initial import draw_initial
from flexpress.learning.job import Learner
from flexpress.learning.named import import_named, own_code
from flexpress.learning.partition import deal
from flexpress.learning.task import Dataset, Task
from flexpress.scenario import Scenario, check_scenario

if TYPE_CHECKING:
    from torch import nn

Engine = Literal["auto", "fast", "torch"]

MOST_THREADS = 1024

FAST = "blocks of Conv2d, ReLU and MaxPool2d(2), then Flatten, Linear and ReLU"


def make_task(scenario: Scenario, tell: Tell = ignore) -> Task:
    """The samples, dealt to the scenario's clients."""
    return task_of(scenario, load_dataset(scenario.learning, tell))


def task_of(scenario: Scenario, dataset: Dataset) -> Task:
    """The same with samples that are at hand already."""
    settings = scenario.learning
    shards = deal(scenario, dataset.train_labels, dataset.num_classes)
    return Task(
        dataset=dataset,
        client_ids=scenario.client_ids,
        shards=shards,
        seed=scenario.learning_seed,
        learning_rate=settings.learning_rate,
        batch_size=settings.batch_size,
    )


def make_learner(
    scenario: Scenario,
    *,
    engine: Engine = "auto",
    threads: int | None = None,
    tell: Tell = ignore,
) -> Learner:
    """The learner of this scenario; `auto` is the fast engine where it can, else torch.

    `tell` hears of downloads and of compiling. Without `threads` the fast engine uses all cores,
    and torch one, since there the number could change the result.
    """
    net = choose_net(scenario, engine)  # before the data: they may have to be downloaded
    threads = check_threads(threads)
    check_callable(tell=tell)
    task = make_task(scenario, tell)
    return learner_of(task, net, engine=engine, threads=threads, tell=tell)


@dataclass(frozen=True, eq=False)
class Net:
    """The net that a scenario names; a module of the user's own is there once, for one learner."""

    name: str
    module: nn.Module | None = None


def choose_net(scenario: Scenario, engine: Engine) -> Net:
    """InputError if there is no such net, or this engine cannot be had."""
    check_scenario(scenario)
    check_choice("engine", engine, get_args(Engine))
    name = scenario.learning.model
    if name in MODELS:
        if engine == "torch":
            need_torch('engine = "torch"')
        return Net(name)
    if ":" not in name:
        import_named("learning.model", name, MODELS)  # which tells the names that there are
    need_torch(f'learning.model = "{name}"')
    from flexpress.learning.torch_module import own_module

    return Net(name, own_module(name, scenario.learning_seed))


def learner_of(
    task: Task,
    net: Net,
    *,
    engine: Engine = "auto",
    threads: int | None = None,
    tell: Tell = ignore,
) -> Learner:
    """Of a task that is given: the scenario's, or one made of it."""
    if net.module is not None:
        return own_learner(task, net.name, net.module, engine, threads, tell)
    architecture = make_architecture(net.name, task.dataset.image, task.dataset.num_classes)
    initial = draw_initial(architecture, task.seed)
    if engine == "torch":
        from flexpress.learning.torch_learner import TorchLearner

        return TorchLearner(task, architecture, initial, threads=threads, name=net.name)
    from flexpress.learning.fast import FastLearner

    return FastLearner(task, architecture, initial, threads=threads, tell=tell)


def own_learner(
    task: Task, name: str, module: nn.Module, engine: Engine, threads: int | None, tell: Tell
) -> Learner:
    """For a module of the user's own."""
    from torch.nn.utils import parameters_to_vector

    from flexpress.learning.torch_learner import TorchLearner
    from flexpress.learning.torch_net import architecture_of

    with own_code(f'learning.model = "{name}": raised'):
        architecture = architecture_of(module, task.dataset.image, task.dataset.num_classes)
    if engine == "torch" or (engine == "auto" and architecture is None):
        return TorchLearner(task, module, threads=threads, name=name)
    if architecture is None:
        raise InputError(
            f'learning.model = "{name}": the fast engine can do {FAST}, as a Sequential that fits '
            "the data; take engine auto or torch"
        )
    from flexpress.learning.fast import FastLearner

    initial = parameters_to_vector(module.parameters()).detach().numpy().astype("float32")
    return FastLearner(task, architecture, initial, threads=threads, tell=tell)


def check_threads(threads: int | None) -> int | None:
    return None if threads is None else check_whole("threads", threads, 1, MOST_THREADS)


def need_torch(where: str) -> None:
    try:
        import torch  # noqa: F401  # only whether it is there
    except ImportError:
        raise InputError(f'{where}: needs torch: pip install "flexpress[torch]"') from None
