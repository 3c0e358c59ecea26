"""Workers on a Ray cluster, for `perform_all`: a task that is lost with its machine is sent again.

A task goes out pickled, so that it has its own copy of all, as in a process. What is large and the
same for many tasks goes beside it, as references: to each machine once, and only to be read.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from queue import SimpleQueue
from typing import Any

from flexpress.cluster import on_cluster, one_line, told_here
from flexpress.errors import FlexpressError
from flexpress.processes import Task, Workers, received
from flexpress.ray_task import Order, Post, perform_task
from flexpress.versions import versions

MOST_LOSSES = 5
"""Machines or processes that may be lost with one task."""

Packed = tuple[Callable[..., Any], tuple[Any, ...]]
"""A task as it is sent, and references to what it is called with, before the usual arguments."""


class LostError(FlexpressError):
    """How often a task was lost, and why: who hired the workers knows what to do about it."""


def as_it_is(key: Any, task: Task[Any, Any]) -> Packed:
    return task, ()


@contextmanager
def ray_workers(
    jobs: int, *, pack: Callable[[Any, Task[Any, Any]], Packed] = as_it_is
) -> Iterator[Workers]:
    """A `Hire`, on the cluster we are connected to, a core for each task.

    A task is packed each time it is sent: it can take along what it told before it was lost. What
    is still away in the end works in vain, and is ended.
    """
    with on_cluster(num_cpus=jobs) as ray:
        outside = Outside(ray, pack)
        try:
            yield Workers(outside.submit, outside.news, outside.stop)
        finally:
            outside.end()


@dataclass(eq=False)
class Errand:
    """A task that is away."""

    key: Any
    task: Task[Any, Any]
    result: Future[Any] = field(default_factory=Future)
    reference: Any = None  # Ray's, to the result
    losses: int = 0


class Outside:
    """Tasks that are away, and the post between them and us."""

    def __init__(self, ray: Any, pack: Callable[[Any, Task[Any, Any]], Packed]) -> None:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        self._ray, self._pack = ray, pack
        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        self._post = ray.remote(num_cpus=0, scheduling_strategy=here)(Post).remote()
        self._perform = ray.remote(num_cpus=1, max_retries=0)(perform_task)
        self._path = tuple(map(os.path.abspath, sys.path))
        self._away: set[Errand] = set()
        self._lost: SimpleQueue[Errand] = SimpleQueue()

    def submit(self, key: Any, task: Task[Any, Any]) -> Future[Any]:
        errand = Errand(key, task)
        self._away.add(errand)
        self._send(errand)
        return errand.result

    def news(self) -> Iterator[tuple[Any, Any]]:
        """What is lost is sent again when all that it told has been heard."""
        lost = list(received(self._lost.get_nowait))
        yield from self._ray.get(self._post.fetch.remote())
        for errand in lost:
            self._send(errand)

    def stop(self) -> None:
        self._post.stop.remote()

    def end(self) -> None:
        for errand in list(self._away):
            self._ray.cancel(errand.reference, force=True)
        self._ray.kill(self._post)

    def _send(self, errand: Errand) -> None:
        task, shared = self._pack(errand.key, errand.task)
        order = Order(errand.key, pickle.dumps(task), self._path, versions())
        errand.reference = self._perform.remote(order, self._post, *shared)
        errand.reference.future().add_done_callback(partial(self._receive, errand))

    def _receive(self, errand: Errand, answer: Future[Any]) -> None:
        """In a thread of Ray's: what is lost is only noted."""
        try:
            with told_here(self._ray):
                result = answer.result()
        except self._ray.exceptions.RayError as error:
            errand.losses += 1
            if errand.losses < MOST_LOSSES:
                self._lost.put(errand)
                return
            why = f"lost {MOST_LOSSES} times, perhaps for want of memory: {one_line(error)}"
            errand.result.set_exception(LostError(why))
        except BaseException as error:
            errand.result.set_exception(error)
        else:
            errand.result.set_result(result)
        self._away.discard(errand)
