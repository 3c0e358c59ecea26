"""A client alone, with its own samples only, trains as it does among all, and step by step."""

from __future__ import annotations

from itertools import islice
from typing import cast

import numpy as np
import pytest
from small_task import small_task

from flexpress.learning import Engine, Job, Learner, Quadratic, Task, Vector, make_task
from flexpress.learning.engines import Net, choose_net, learner_of
from flexpress.learning.job import SteppingLearner
from flexpress.scenario import Partition, Scenario

FEW = {"samples_per_client": 30, "batch_size": 8}
FMNIST = Scenario.preset("four").replace(learning=FEW)
BLOCKS = Scenario.preset("paper").replace(learning=FEW)


def jobs(task: Task, net: Net, engine: Engine) -> tuple[list[Job], list[Job]]:
    """Two jobs for each client, with another model and other steps."""
    model = learner_of(task, net, engine=engine).initial_model()
    first = [Job(client, model, 0, 3) for client in task.client_ids]
    second = [Job(client, 0.9 * model, 5 + i, 2) for i, client in enumerate(task.client_ids)]
    return first, second


def check(task: Task, net: Net, engine: Engine) -> None:
    whole = learner_of(task, net, engine=engine)
    for group in jobs(task, net, engine):
        expected = whole.train(group)
        for job, update in islice(zip(group, expected, strict=True), 1, None, len(group) // 3):
            own = learner_of(task.only(job.client), net, engine=engine)
            (found,) = own.train([job])
            for each in (found, job.model - stepwise(own, job)):
                assert each.dtype == update.dtype
                assert each.tobytes() == update.tobytes()


def stepwise(learner: Learner, job: Job) -> Vector:
    """The model after the job's steps, which are done one by one."""
    model = job.model
    for step in range(job.first_step, job.first_step + job.num_steps):
        model = cast(SteppingLearner, learner).local_model(Job(job.client, model, step, 1))
    return model


@pytest.mark.parametrize("engine", ["fast", "torch"])
@pytest.mark.parametrize("partition", ["iid", "dirichlet", "location"])
def test_a_client_alone_computes_the_same_bits(partition: Partition, engine: Engine) -> None:
    if engine == "torch":
        pytest.importorskip("torch")
    scenario = (BLOCKS if partition == "location" else FMNIST).replace(
        learning={"partition": partition, "model": "logistic"}
    )
    check(make_task(scenario), choose_net(scenario, engine), engine)


@pytest.mark.parametrize("engine", ["fast", "torch"])
def test_so_does_one_with_lenet(engine: Engine) -> None:
    if engine == "torch":
        pytest.importorskip("torch")
    check(make_task(FMNIST), choose_net(FMNIST, engine), engine)


def test_dropout_is_that_of_the_number_not_of_the_row() -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(3)
    layers = torch.nn.Flatten(), torch.nn.Dropout(0.5), torch.nn.Linear(36, 4)
    check(small_task(1, 6, 6), Net("own", torch.nn.Sequential(*layers)), "torch")


def test_only_its_own_samples_are_in_it() -> None:
    task = small_task(1, 6, 6)
    own = task.only("weir")
    assert own.client_ids == ("weir",)
    assert own.draw_numbers() == (1,)
    np.testing.assert_array_equal(
        own.dataset.train_labels, task.dataset.train_labels[task.shards[1]]
    )
    assert own.dataset.train_images.shape == (12, 1, 6, 6)
    assert (own.dataset.scale, own.dataset.shift) == (task.dataset.scale, task.dataset.shift)
    assert own.only("weir").draw_numbers() == (1,)


def test_a_quadratic_can_go_on_after_any_step() -> None:
    learner = Quadratic.random((1, 2, 3), params=4, seed=5)
    job = Job(2, learner.initial_model(), 3, 7)
    (update,) = learner.train([job])
    assert (job.model - stepwise(learner, job)).tobytes() == update.tobytes()
