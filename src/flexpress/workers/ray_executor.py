"""A pool of workers on a Ray cluster: a task that is lost with its machine is sent again.

A task is sent pickled, so that it has its own copy of everything, as in a process. What is large
and the same for many tasks is sent beside it, as references: once to each machine, and read-only.
Tasks leave messages in a mailbox on this machine, and learn there when to stop.
"""

from __future__ import annotations

import os
import pickle
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from queue import SimpleQueue
from typing import Any

from flexpress.errors import FlexpressError
from flexpress.files.versions import check_versions, versions
from flexpress.workers.cluster import errors_raised_here, import_ray, on_cluster, one_line
from flexpress.workers.processes import WorkerPool, WorkerTask, drain

_MOST_LOSSES = 5
"""Machines or processes that may be lost with one task."""

_ASK_SECONDS = 0.5
"""Time between two questions of a task whether to stop."""

_RESTARTED = {"max_restarts": -1, "max_task_retries": -1}
"""If the process of an actor dies, Ray starts it again and repeats its calls."""

Packed = tuple[Callable[..., Any], tuple[Any, ...]]
"""A task as it is sent, and references to its first arguments, before the usual ones."""

_Pack = Callable[[Any, WorkerTask[Any, Any]], Packed]


class LostError(FlexpressError):
    """How many times a task was lost, and why; whoever opened the pool adds the remedy."""


@contextmanager
def ray_pool(jobs: int, *, pack: _Pack = lambda key, task: (task, ())) -> Iterator[WorkerPool]:
    """An `OpenPool` on the cluster we are connected to, with one core for each task.

    A task is packed each time it is sent, so it can take along what it reported before it was
    lost. Tasks that are still running in the end are cancelled.
    """
    with on_cluster(num_cpus=jobs) as ray:
        executor = _RayExecutor(ray, pack)
        try:
            yield WorkerPool(executor.submit, executor.news, executor.stop)
        finally:
            executor.end()


@dataclass(eq=False)
class _PendingTask:
    """A task that was submitted, and its state on the cluster."""

    key: Any
    task: WorkerTask[Any, Any]
    result: Future[Any] = field(default_factory=Future)
    reference: Any = None  # Ray's, to the result
    attempt: int = 0  # how many times it was sent
    begun: bool = False  # the last attempt
    losses: int = 0

    def cancel(self) -> None:
        """Also notify those who wait for the result."""
        if self.result.cancel():
            self.result.set_running_or_notify_cancel()


class _RayExecutor:
    """The pending tasks, and the mailbox for their messages."""

    def __init__(self, ray: Any, pack: _Pack) -> None:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        self._ray, self._pack = ray, pack
        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        mailbox = ray.remote(num_cpus=0, scheduling_strategy=here, **_RESTARTED)(_Mailbox)
        self._mailbox = mailbox.remote()
        self._perform = ray.remote(num_cpus=1, max_retries=0)(_perform_task)
        self._path = tuple(map(os.path.abspath, sys.path))
        self._tasks: dict[Any, _PendingTask] = {}  # by their keys
        self._lost: SimpleQueue[_PendingTask] = SimpleQueue()
        self._unread: list[tuple[Any, Any]] = []  # key, news
        self._stopped = False

    def submit(self, key: Any, task: WorkerTask[Any, Any]) -> Future[Any]:
        pending = _PendingTask(key, task)
        self._send(pending)
        self._tasks[key] = pending
        return pending.result

    def news(self) -> Iterator[tuple[Any, Any]]:
        """A lost task is sent again after all its news were read."""
        lost = list(drain(self._lost.get_nowait))
        self._fetch()
        news, self._unread = self._unread, []
        yield from news
        for pending in lost:
            if self._stopped:
                pending.cancel()
            else:
                self._send(pending)

    def stop(self) -> None:
        """Tasks that wait for a core are cancelled: they would learn of it too late."""
        self._stopped = True
        self._fetch()
        for pending in self._unfinished():
            if not pending.begun:
                self._ray.cancel(pending.reference)

    def end(self) -> None:
        for pending in self._unfinished():
            self._ray.cancel(pending.reference, force=True)
        self._ray.kill(self._mailbox)

    def _unfinished(self) -> list[_PendingTask]:
        return [pending for pending in self._tasks.values() if not pending.result.done()]

    def _fetch(self) -> None:
        """Read the mailbox; messages of a lost attempt are dropped."""
        for message in self._ray.get(self._mailbox.fetch.remote(self._stopped)):
            pending = self._tasks[message.key]
            if pending.attempt == message.attempt:
                pending.begun = True
                if message.news is not None:
                    self._unread.append((message.key, message.news))

    def _send(self, pending: _PendingTask) -> None:
        task, shared = self._pack(pending.key, pending.task)
        pending.attempt += 1
        pending.begun = False
        message = _TaskMessage(
            pending.key, pending.attempt, pickle.dumps(task), self._path, versions()
        )
        pending.reference = self._perform.remote(message, self._mailbox, *shared)
        pending.reference.future().add_done_callback(partial(self._receive, pending))

    def _receive(self, pending: _PendingTask, answer: Future[Any]) -> None:
        """Called in a thread of Ray's: a lost task is only put into a queue."""
        try:
            with errors_raised_here(self._ray):
                result = answer.result()
        except self._ray.exceptions.TaskCancelledError:
            pending.cancel()
        except self._ray.exceptions.RayError as error:
            pending.losses += 1
            if pending.losses < _MOST_LOSSES:
                self._lost.put(pending)
                return
            why = f"lost {_MOST_LOSSES} times, perhaps for lack of memory: {one_line(error)}"
            pending.result.set_exception(LostError(why))
        except BaseException as error:
            pending.result.set_exception(error)
        else:
            pending.result.set_result(result)


@dataclass(frozen=True)
class _TaskMessage:
    """A task as it is sent to a machine of the cluster."""

    key: Any
    attempt: int  # counted from 1
    task: bytes  # pickled: nothing of it is loaded before versions are compared
    path: tuple[str, ...]  # where the caller's own modules may be found
    versions: Mapping[str, str]


@dataclass(frozen=True)
class _Message:
    """From a task; the first message has no news, and says that the task has begun."""

    key: Any
    attempt: int
    news: Any = None


class _Mailbox:
    """An actor: keeps messages of tasks until they are fetched, and answers whether to stop.

    If it dies it is restarted: messages are lost then, and the next `fetch` says again whether to
    stop.
    """

    def __init__(self) -> None:
        self._messages: list[_Message] = []
        self._stop = False

    def leave(self, *messages: _Message) -> bool:
        self._messages.extend(messages)
        return self._stop

    def fetch(self, stop: bool) -> list[_Message]:
        self._stop = stop
        messages, self._messages = self._messages, []
        return messages


class _MailboxClient:
    """A task's access to the mailbox."""

    def __init__(self, mailbox: Any, message: _TaskMessage) -> None:
        self._ray, self._mailbox = import_ray(), mailbox
        self._key, self._attempt = message.key, message.attempt
        begun = _Message(self._key, self._attempt)
        self._stop: bool = self._ray.get(mailbox.leave.remote(begun))  # it may have waited long
        self._ask()

    def report(self, news: Any) -> None:
        self._mailbox.leave.remote(_Message(self._key, self._attempt, news))

    def should_stop(self) -> bool:
        """As of the last answer; the next question is under way."""
        if time.monotonic() > self._asked + _ASK_SECONDS:
            self._stop = self._stop or self._ray.get(self._answer)
            self._ask()
        return self._stop

    def _ask(self) -> None:
        self._answer = self._mailbox.leave.remote()
        self._asked = time.monotonic()


def _perform_task(message: _TaskMessage, mailbox: Any, *shared: Any) -> Any:
    """Runs on a machine of the cluster."""
    check_versions(message.versions)
    sys.path.extend(place for place in message.path if place not in sys.path)
    client = _MailboxClient(mailbox, message)
    return pickle.loads(message.task)(*shared, client.report, client.should_stop)
