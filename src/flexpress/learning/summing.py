"""Sums of updates: the server needs only the sum over each transporter's clients.

Ordinary learners return the updates of single jobs; they are added up here, a bounded number at a
time. A learner that trains on other machines adds them up there and sends the sums.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Protocol, runtime_checkable

import numpy as np

from flexpress.arguments import shown
from flexpress.callbacks import ShouldStop
from flexpress.errors import InputError
from flexpress.learning.job import Job, Learner, Vector

MOST_BYTES = 64 * 2**20
"""Limit of the updates that a learner returns in one call."""

Groups = Sequence[Sequence[Job]]


class StopRequestedError(Exception):
    """The user asked to stop while clients were being trained."""


@runtime_checkable
class SummingLearner(Learner, Protocol):
    """A learner that adds up the updates itself."""

    @property
    def kind(self) -> str:
        """Learners of the same kind return the same sums, bit for bit."""

    def train_sums(self, groups: Groups, should_stop: ShouldStop) -> Iterator[Vector]:
        """The sum of the updates of each group, (params,), in their order, when it is ready.

        A sum depends only on the jobs of its group. Raises StopRequestedError soon after
        `should_stop` returns True.
        """


def train_sums(learner: Learner, groups: Groups, should_stop: ShouldStop) -> Iterator[Vector]:
    """The same for any learner; no group may be empty."""
    if isinstance(learner, SummingLearner):
        for total in learner.train_sums(groups, should_stop):
            yield returned("train_sums", total, groups[0][0].model.shape)
        return
    updates = _one_by_one(learner, list(chain.from_iterable(groups)), should_stop)
    for group in groups:
        yield add_up(group[0].model, islice(updates, len(group)))


def add_up(like: Vector, updates: Iterable[Vector]) -> Vector:
    """u of the paper: the sum of these updates in their order, of the shape and kind of `like`."""
    total = np.zeros_like(like)
    for update in updates:
        total += update
    return total


def _one_by_one(learner: Learner, jobs: list[Job], should_stop: ShouldStop) -> Iterator[Vector]:
    """The update of each job; they are trained in portions of bounded size."""
    start = 0
    while start < len(jobs):
        if should_stop():
            raise StopRequestedError
        portion = jobs[start : start + max(1, MOST_BYTES // jobs[start].model.nbytes)]
        updates = learner.train(portion)
        yield from returned("train", updates, (len(portion), portion[0].model.size))
        start += len(portion)


def returned(method: str, value: object, expected: tuple[int, ...]) -> Vector:
    """The value, checked since the learner may be the user's own; NaN is detected later."""
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "fiu":
        raise InputError(
            f"the learner's {method}() returned {shown(value)}: must be a NumPy array of floats, "
            f"of shape {expected}"
        )
    if value.shape != expected:
        raise InputError(f"the learner's {method}() returned {value.shape}: must be {expected}")
    return value
