"""f of the paper, the loss on the clients' samples, and its gradients, computed by any learner.

A job of one local step returns eta g. So a learner whose mini-batches are whole shards gives the
gradients of f_i, one with the scenario's batch size those of mini-batches, and one whose test
samples are the clients' samples gives f.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property

from flexpress.arguments import check_callable
from flexpress.callbacks import Tell, ignore_note
from flexpress.learning.engines import Engine, check_threads, choose_net, learner_of
from flexpress.learning.job import Job, Learner, Vector, check_clients, check_model, check_models
from flexpress.learning.task import Task, make_task
from flexpress.scenario import Scenario

_LARGE_RATE = 2.0**30
"""A learning rate so large that x is negligible beside eta g: else x - (x - eta g) loses bits."""


class TrainingLoss:
    """The objective that `flexpress.theory` needs: f = the mean over clients of f_i.

    f_i is the mean cross-entropy on the client's samples. With dropout the gradient is that of one
    draw, and with batch norm that of one batch.
    """

    def __init__(self, task: Task, make: Callable[[Task], Learner]) -> None:
        """`make` returns a learner of any task; the learning rate of `task` does not matter."""
        self.task = task
        self.client_ids = task.client_ids
        self._make = make
        self._sampling = make(replace(task, learning_rate=_LARGE_RATE))
        self._size = len(self._sampling.initial_model())

    @classmethod
    def of(
        cls,
        scenario: Scenario,
        *,
        engine: Engine = "auto",
        threads: int | None = None,
        tell: Tell = ignore_note,
    ) -> TrainingLoss:
        """The loss of a scenario; the arguments are those of `make_learner`."""
        threads = check_threads(threads)
        check_callable(tell=tell)
        choose_net(scenario, engine)  # report errors in it before loading any data

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
        return float(self._evaluating.evaluate(model)[0])

    def gradients(self, clients: Sequence[int | str], models: Vector) -> Vector:
        """(clients, params): the gradient of f_i, at its row of models, or at one model for all."""
        return self._gradients(self._exact, clients, models, [0] * len(clients))

    def sampled(self, clients: Sequence[int | str], models: Vector, steps: Sequence[int]) -> Vector:
        """The same, of the mini-batches that the clients draw in these local steps of a run."""
        return self._gradients(self._sampling, clients, models, steps)

    def _gradients(
        self, learner: Learner, clients: Sequence[int | str], models: Vector, steps: Sequence[int]
    ) -> Vector:
        check_clients(clients, self.client_ids, steps)
        rows = check_models(models, len(clients), self._size)
        jobs = [
            Job(client, model, int(step), 1)
            for client, model, step in zip(clients, rows, steps, strict=True)
        ]
        updates = learner.train(jobs)
        updates /= updates.dtype.type(_LARGE_RATE)
        return updates

    @cached_property
    def _exact(self) -> Learner:
        whole = self.task.shards.shape[1]
        return self._make(replace(self.task, learning_rate=_LARGE_RATE, batch_size=whole))

    @cached_property
    def _evaluating(self) -> Learner:
        """A learner whose test samples are the clients' samples, with repetitions."""
        data, rows = self.task.dataset, self.task.shards.ravel()
        images, labels = data.train_images[rows], data.train_labels[rows]
        return self._make(
            replace(self.task, dataset=replace(data, test_images=images, test_labels=labels))
        )
