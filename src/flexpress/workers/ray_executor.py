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

from flexpress.errors import FlexpressError
from flexpress.files.versions import versions
from flexpress.workers.cluster import on_cluster, one_line, told_here
from flexpress.workers.processes import Task, Workers, received
from flexpress.workers.ray_task import Order, Post, perform_task

MOST_LOSSES = 5
"""Machines or processes that may be lost with one task."""

AGAIN = {"max_restarts": -1, "max_task_retries": -1}
"""If its process dies, Ray makes it anew, and repeats what it was asked."""

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
    attempt: int = 0  # how often it was sent
    begun: bool = False  # the last of them
    losses: int = 0

    def give_up(self) -> None:
        """So that those who wait for its result are told, too."""
        if self.result.cancel():
            self.result.set_running_or_notify_cancel()


class Outside:
    """Tasks that are away, and the post between them and us."""

    def __init__(self, ray: Any, pack: Callable[[Any, Task[Any, Any]], Packed]) -> None:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        self._ray, self._pack = ray, pack
        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        post = ray.remote(num_cpus=0, scheduling_strategy=here, **AGAIN)(Post)
        self._post = post.remote()
        self._perform = ray.remote(num_cpus=1, max_retries=0)(perform_task)
        self._path = tuple(map(os.path.abspath, sys.path))
        self._errands: dict[Any, Errand] = {}  # by their keys
        self._lost: SimpleQueue[Errand] = SimpleQueue()
        self._told: list[tuple[Any, Any]] = []  # and not heard yet
        self._stopped = False

    def submit(self, key: Any, task: Task[Any, Any]) -> Future[Any]:
        errand = Errand(key, task)
        self._send(errand)
        self._errands[key] = errand
        return errand.result

    def news(self) -> Iterator[tuple[Any, Any]]:
        """What is lost is sent again when all that it told has been heard."""
        lost = list(received(self._lost.get_nowait))
        self._fetch()
        told, self._told = self._told, []
        yield from told
        for errand in lost:
            if self._stopped:
                errand.give_up()
            else:
                self._send(errand)

    def stop(self) -> None:
        """Those that wait for a core would learn of it too late."""
        self._stopped = True
        self._fetch()
        for errand in self._away():
            if not errand.begun:
                self._ray.cancel(errand.reference)

    def end(self) -> None:
        for errand in self._away():
            self._ray.cancel(errand.reference, force=True)
        self._ray.kill(self._post)

    def _away(self) -> list[Errand]:
        return [errand for errand in self._errands.values() if not errand.result.done()]

    def _fetch(self) -> None:
        """Letters, but for those of an attempt that was lost."""
        for letter in self._ray.get(self._post.fetch.remote(self._stopped)):
            errand = self._errands[letter.key]
            if errand.attempt == letter.attempt:
                errand.begun = True
                if letter.news is not None:
                    self._told.append((letter.key, letter.news))

    def _send(self, errand: Errand) -> None:
        task, shared = self._pack(errand.key, errand.task)
        errand.attempt += 1
        errand.begun = False
        order = Order(errand.key, errand.attempt, pickle.dumps(task), self._path, versions())
        errand.reference = self._perform.remote(order, self._post, *shared)
        errand.reference.future().add_done_callback(partial(self._receive, errand))

    def _receive(self, errand: Errand, answer: Future[Any]) -> None:
        """In a thread of Ray's: what is lost is only noted."""
        try:
            with told_here(self._ray):
                result = answer.result()
        except self._ray.exceptions.TaskCancelledError:
            errand.give_up()
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
