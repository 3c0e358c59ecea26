"""A scenario -> its task, and the learner that can do it fastest."""

from __future__ import annotations

from typing import Literal, get_args

from flexpress.errors import InputError
from flexpress.learning.architecture import MODELS, make_architecture
from flexpress.learning.datasets import Tell, ignore, load_dataset
from flexpress.learning.initial import draw_initial
from flexpress.learning.job import Learner
from flexpress.learning.named import import_named
from flexpress.learning.partition import deal
from flexpress.learning.task import Task
from flexpress.scenario import Scenario

Engine = Literal["auto", "fast", "torch"]

FAST = "blocks of Conv2d, ReLU and MaxPool2d(2), then Flatten, Linear and ReLU"


def make_task(scenario: Scenario, tell: Tell = ignore) -> Task:
    """The samples, dealt to the scenario's clients."""
    settings = scenario.learning
    dataset = load_dataset(settings, tell)
    shards = deal(scenario, dataset.train_labels, dataset.num_classes)
    return Task(
        dataset=dataset,
        client_ids=scenario.client_ids,
        shards=shards,
        seed=scenario.seed,
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
    if engine not in get_args(Engine):
        raise InputError(f'engine = "{engine}": must be {", ".join(get_args(Engine))}')
    name = scenario.learning.model
    if name not in MODELS:
        return own_learner(scenario, engine, threads, tell)
    if engine == "torch":
        need_torch('engine = "torch"')
    task = make_task(scenario, tell)
    architecture = make_architecture(name, task.dataset.image, task.dataset.num_classes)
    initial = draw_initial(architecture, scenario.seed)
    if engine == "torch":
        from flexpress.learning.torch_learner import TorchLearner

        return TorchLearner(task, architecture, initial, threads=threads, name=name)
    from flexpress.learning.fast import FastLearner

    return FastLearner(task, architecture, initial, threads=threads, tell=tell)


def own_learner(scenario: Scenario, engine: Engine, threads: int | None, tell: Tell) -> Learner:
    """For a module of the user's own."""
    name = scenario.learning.model
    if ":" not in name:
        import_named("learning.model", name, MODELS)  # which tells the names that there are
    need_torch(f'learning.model = "{name}"')
    from torch.nn.utils import parameters_to_vector

    from flexpress.learning.torch_learner import TorchLearner
    from flexpress.learning.torch_module import own_module
    from flexpress.learning.torch_net import architecture_of

    module = own_module(name, scenario.seed)
    task = make_task(scenario, tell)
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


def need_torch(where: str) -> None:
    try:
        import torch  # noqa: F401  # only whether it is there
    except ImportError:
        raise InputError(f'{where}: needs torch: pip install "flexpress[torch]"') from None
