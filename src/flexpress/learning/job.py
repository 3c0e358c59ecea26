"""The interface between simulation and training: jobs go in, updates come out.

A job is a pure function of its fields and the scenario: mini-batches are drawn by (seed, client,
local step), so the result does not depend on the order, the grouping, or the machine.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from flexpress.arguments import check_kind, check_number, check_whole, refusal, shown
from flexpress.errors import InputError

Vector = NDArray[np.floating[Any]]
"""A model or an update: its parameters as a flat vector, in the learner's precision."""

_MOST_STEPS = 2**62
_METHODS = ("initial_model", "train", "evaluate")
_REMEDY = "use that of make_learner(scenario), or an object with initial_model, train, evaluate"


@dataclass(frozen=True, eq=False)
class Job:
    """Local steps first_step, first_step + 1, ... of one client, from the model it was handed."""

    client: int | str  # its id in the scenario and the plan
    model: Vector  # (params,)
    first_step: int  # local steps that this client has done before
    num_steps: int


class Metrics(NamedTuple):
    """Mean cross-entropy and the share of correct answers on the test samples."""

    loss: float
    accuracy: float


class Learner(Protocol):
    """Anything that can train: a quadratic in a test, torch, or the fast engine."""

    def initial_model(self) -> Vector:
        """x^0 of the paper: (params,)."""

    def train(self, jobs: Sequence[Job]) -> Vector:
        """The cumulative local update m of each job, eta times the sum of its gradients.

        (jobs, params): the model handed over minus the model after the job's steps.
        """

    def evaluate(self, model: Vector) -> tuple[float, float]:
        """Loss and accuracy on the test samples."""


class SteppingLearner(Learner, Protocol):
    """A learner that can stop after any step and go on from there, to the bit."""

    def local_model(self, job: Job) -> Vector:
        """The client's model after the job's steps: (params,).

        The update of the job is job.model minus it, bit for bit; and so is that of several jobs,
        each of which goes on from the model after the one before.
        """


def check_learner(learner: object) -> None:
    """InputError if it lacks a method."""
    if isinstance(learner, type) or not all(callable(getattr(learner, m, None)) for m in _METHODS):
        raise refusal("learner", learner, f"a Learner; {_REMEDY}")


def check_jobs(jobs: Sequence[Job], clients: Container[int | str], size: int) -> None:
    """InputError for the first job that a learner with these clients and this size cannot do."""
    for job in jobs:
        check_kind("jobs", job, Job, "give a list of them")
        if not _among(job.client, clients):
            raise refusal("Job.client", job.client, "the id of a client of the learner's scenario")
        check_whole("Job.first_step", job.first_step, 0, _MOST_STEPS)
        check_whole("Job.num_steps", job.num_steps, 0, _MOST_STEPS)
        check_model("Job.model", job.model, size)


def check_model(name: str, model: object, size: int) -> None:
    """InputError unless it is a flat array of `size` numbers."""
    if not isinstance(model, np.ndarray) or model.dtype.kind not in "fiu":
        raise refusal(name, model, f"an array of {size:,} numbers, such as initial_model() returns")
    if model.shape != (size,):
        raise InputError(
            f"{name} has shape {model.shape}: must be ({size},), as initial_model() has it"
        )


def check_clients(
    clients: Sequence[int | str], known: Container[int | str], steps: Sequence[int]
) -> None:
    """InputError unless all clients are known and there is one step for each."""
    if isinstance(clients, str) or not isinstance(clients, Sequence):
        raise refusal("clients", clients, "a list of clients, such as client_ids")
    for client in clients:
        if not _among(client, known):
            raise refusal("client", client, "one of client_ids")
    if np.shape(steps) != (len(clients),):
        number = f"{len(clients)} clients: must be one for each"
        raise InputError(f"steps of shape {np.shape(steps)} for {number}")
    for step in steps:
        check_whole("step", step, 0, _MOST_STEPS)


def check_models(models: Vector, rows: int, size: int) -> Vector:
    """One model for each row, (rows, size); a single model is repeated."""
    if not isinstance(models, np.ndarray) or models.dtype.kind not in "fiu":
        raise refusal("models", models, f"an array of {size:,} numbers, or one row for each client")
    if models.shape not in ((size,), (rows, size)):
        raise InputError(
            f"models have shape {models.shape}: must be ({rows}, {size}), or ({size},) for one "
            "that all share"
        )
    return np.broadcast_to(models, (rows, size))


def first_model(learner: Learner) -> Vector:
    """x^0 of a learner, checked since it may be the user's own."""
    model = learner.initial_model()
    if not isinstance(model, np.ndarray) or model.dtype.kind != "f" or model.ndim != 1:
        found = f"shape {model.shape} {model.dtype}" if hasattr(model, "dtype") else shown(model)
        raise InputError(
            f"the learner's initial_model() returned {found}: must be a NumPy array of floats with "
            "one dimension"
        )
    if not model.size or not np.isfinite(model).all():
        what = "holds numbers that are not finite" if model.size else "is empty"
        raise InputError(
            f"the learner's initial_model() {what}: must be finite numbers, one or more"
        )
    return model


def measured(learner: Learner, model: Vector) -> tuple[float, float]:
    """Loss, which may not be finite, and accuracy, checked."""
    answer: Any = learner.evaluate(model)
    try:
        loss, accuracy = answer
        loss = float(loss)
    except (TypeError, ValueError):
        raise InputError(
            f"the learner's evaluate() returned {shown(answer)}: must be two numbers, "
            "(loss, accuracy)"
        ) from None
    if not np.isfinite(loss):
        return loss, 0.0
    return loss, check_number("accuracy of the learner's evaluate()", accuracy, least=0, most=1)


def _among(client: object, clients: Container[int | str]) -> bool:
    try:
        return client in clients
    except TypeError:  # it is not hashable
        return False
