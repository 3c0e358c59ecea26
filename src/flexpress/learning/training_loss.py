"""f of the paper, the loss on the clients' own samples, and its gradients: asked of any learner.

A job of one local step returns eta g. So a learner whose mini-batches are whole shards tells the
gradients of f_i, one with the scenario's batch size those of mini-batches, and one whose test
samples are the clients' samples tells f. None of them needs to know that it is asked for that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property

from flexpress.arguments import check_callable
from flexpress.learning.choose import Engine, check_threads, choose_net, learner_of, make_task
from flexpress.learning.datasets import Tell, ignore
from flexpress.learning.job import Job, Learner, Vector, check_clients, check_model, check_models
from flexpress.learning.task import Task
from flexpress.scenario import Scenario

LONG_STEP = 2.0**30
"""A learning rate: x - (x - eta g) is rounded as x is, unless x does not count beside eta g."""


class TrainingLoss:
    """An objective as `flexpress.theory` asks for it: f = the mean over clients of f_i.

    f_i is the mean cross-entropy on the client's samples. A module that is random in training, by
    dropout, or looks at a whole batch, by batch norm, has no such gradient: it is then that of one
    draw, or of one batch.
    """

    def __init__(self, task: Task, make: Callable[[Task], Learner]) -> None:
        """`make` gives a learner of any task; the learning rate of this one does not matter."""
        self.task = task
        self.client_ids = task.client_ids
        self._make = make
        self._sampling = make(replace(task, learning_rate=LONG_STEP))
        self._size = len(self._sampling.initial_model())

    @classmethod
    def of(
        cls,
        scenario: Scenario,
        *,
        engine: Engine = "auto",
        threads: int | None = None,
        tell: Tell = ignore,
    ) -> TrainingLoss:
        """Of the task and the net that `make_learner` takes, with the same arguments."""
        threads = check_threads(threads)
        check_callable(tell=tell)
        choose_net(scenario, engine)  # what is wrong with it is told before any data are loaded

        def make(task: Task) -> Learner:
            net = choose_net(scenario, engine)
            return learner_of(task, net, engine=engine, threads=threads, tell=tell)

        return cls(make_task(scenario, tell), make)

    def initial_model(self) -> Vector:
        """x^0 of the paper: (params,)."""
        return self._sampling.initial_model()

    def loss(self, model: Vector) -> float:
        """f(x)."""
        check_model("model", model, self._size)
        return float(self._judging.evaluate(model)[0])

    def gradients(self, clients: Sequence[int | str], models: Vector) -> Vector:
        """(clients, params): the gradient of f_i for each, at its row of models, or at the one."""
        return self._ask(self._exact, clients, models, [0] * len(clients))

    def sampled(self, clients: Sequence[int | str], models: Vector, steps: Sequence[int]) -> Vector:
        """The same of the mini-batches that the clients take in these local steps of a run."""
        return self._ask(self._sampling, clients, models, steps)

    def _ask(
        self, learner: Learner, clients: Sequence[int | str], models: Vector, steps: Sequence[int]
    ) -> Vector:
        check_clients(clients, self.client_ids, steps)
        rows = check_models(models, len(clients), self._size)
        jobs = [
            Job(client, model, int(step), 1)
            for client, model, step in zip(clients, rows, steps, strict=True)
        ]
        updates = learner.train(jobs)
        updates /= updates.dtype.type(LONG_STEP)
        return updates

    @cached_property
    def _exact(self) -> Learner:
        whole = self.task.shards.shape[1]
        return self._make(replace(self.task, learning_rate=LONG_STEP, batch_size=whole))

    @cached_property
    def _judging(self) -> Learner:
        """Its test samples are those that were dealt, as often as they were."""
        data, dealt = self.task.dataset, self.task.shards.ravel()
        images, labels = data.train_images[dealt], data.train_labels[dealt]
        return self._make(
            replace(self.task, dataset=replace(data, test_images=images, test_labels=labels))
        )
