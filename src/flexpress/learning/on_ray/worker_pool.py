"""A pool of Ray workers: each call goes to a free one, and is repeated if that one dies.

Ray restarts a worker that has died, here or on another machine, as long as there is a core for it.
Until then the other workers make its calls: every call is a pure function. Results come in order.
"""

from __future__ import annotations

import heapq
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from flexpress.callbacks import ShouldStop
from flexpress.errors import FlexpressError
from flexpress.files.versions import check_versions
from flexpress.learning.summing import StopRequestedError
from flexpress.workers.cluster import errors_raised_here, one_line

_QUEUED_CALLS = 2
"""Calls that a worker has at a time: it begins the second as soon as the first is done."""

_CALLS_AHEAD = 8
"""For each worker, calls that may start before the oldest is done: their results are kept."""

_POLL_SECONDS = 0.1
"""Between two calls of `should_stop`."""

_PATIENCE_SECONDS = 120.0
"""How long to wait for a worker when there is none at all."""

_MOST_LOSSES = 5
"""Workers that may die during one call before the call is blamed."""


@dataclass(frozen=True)
class Call:
    """A method of a worker and its arguments; Ray resolves references among them."""

    method: str
    arguments: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class _Member:
    """A worker, ready or not."""

    handle: Any


@dataclass(eq=False)
class _Round:
    """Calls being made; numbers are positions in `calls`."""

    calls: Sequence[Call]
    waiting: list[int] = field(default_factory=list)  # a heap
    running: dict[Any, tuple[int, _Member]] = field(default_factory=dict)  # by the reference
    done: dict[int, Any] = field(default_factory=dict)
    losses: Counter[int] = field(default_factory=Counter)
    loads: Counter[_Member] = field(default_factory=Counter)  # calls that each worker has

    def __post_init__(self) -> None:
        self.waiting = list(range(len(self.calls)))


class RayWorkers:
    """`size` workers of one kind."""

    def __init__(self, ray: Any, make: Callable[[], Any], size: int) -> None:
        self._ray = ray
        self._members = [_Member(make()) for _ in range(size)]
        self._ready: list[_Member] = []
        self._starting: dict[Any, _Member] = {}  # by the reference to `ready`
        self._seen = time.monotonic()  # when a worker was last ready
        self._last_error = ""
        for member in self._members:
            self._await_ready(member)

    @property
    def size(self) -> int:
        return len(self._members)

    def results(self, calls: Sequence[Call], should_stop: ShouldStop) -> Iterator[Any]:
        """The results of the calls, in their order."""
        current = _Round(calls)
        self._seen = time.monotonic()
        for number in range(len(calls)):
            while number not in current.done:
                if should_stop():
                    raise StopRequestedError
                self._submit(current, number)
                self._poll(current)
            yield current.done.pop(number)

    def await_one(self) -> None:
        """Wait for the first worker; FlexpressError if none becomes ready."""
        nothing = _Round([])
        while not self._ready:
            self._poll(nothing)

    def close(self) -> None:
        if self._ray.is_initialized():  # else they ended with the cluster
            for member in self._members:
                self._ray.kill(member.handle)

    def _await_ready(self, member: _Member) -> None:
        """Ask it to answer when it is ready, or ready again."""
        reference = member.handle.ready.options(max_task_retries=-1).remote()
        self._starting[reference] = member

    def _submit(self, current: _Round, oldest: int) -> None:
        """Give calls to the workers with the fewest first; none too far ahead of the oldest."""
        furthest = oldest + _CALLS_AHEAD * self.size
        for load in range(_QUEUED_CALLS):
            for member in self._ready:
                if not current.waiting or current.waiting[0] >= furthest:
                    return
                if current.loads[member] == load:
                    number = heapq.heappop(current.waiting)
                    call = current.calls[number]
                    reference = getattr(member.handle, call.method).remote(*call.arguments)
                    current.running[reference] = number, member
                    current.loads[member] += 1

    def _poll(self, current: _Round) -> None:
        """Wait a moment for results, and for workers to become ready."""
        for reference in self._finished([*current.running, *self._starting]):
            if reference in self._starting:
                self._add(self._starting.pop(reference), reference)
            else:
                self._receive(current, reference)
        if self._ready or current.running:
            self._seen = time.monotonic()
        elif not self._starting or time.monotonic() - self._seen > _PATIENCE_SECONDS:
            raise FlexpressError(
                f"none of {self.size} Ray workers is ready: the cluster has no free core "
                f"for them (see `ray status`), or all died{self._last_error}"
            )

    def _finished(self, expected: list[Any]) -> list[Any]:
        """All references that are ready, once one is: fewer questions than one by one."""
        if not expected or not self._ray.wait(expected, timeout=_POLL_SECONDS)[0]:
            return []
        ready, _ = self._ray.wait(expected, num_returns=len(expected), timeout=0)
        return list(ready)

    def _add(self, member: _Member, reference: Any) -> None:
        try:
            with errors_raised_here(self._ray):
                theirs = self._ray.get(reference)
        except self._ray.exceptions.RayError as error:  # Ray has given up on it
            self._last_error = f": {one_line(error)}"
            return
        check_versions(theirs)
        self._ready.append(member)

    def _receive(self, current: _Round, reference: Any) -> None:
        number, member = current.running.pop(reference)
        current.loads[member] -= 1
        try:
            with errors_raised_here(self._ray):
                current.done[number] = self._ray.get(reference)
        except self._ray.exceptions.RayError as error:
            self._check_all()
            heapq.heappush(current.waiting, number)
            current.losses[number] += 1
            if current.losses[number] == _MOST_LOSSES:
                raise FlexpressError(
                    f"{_MOST_LOSSES} Ray workers died while training the same clients, perhaps for "
                    f"lack of memory: {one_line(error)}"
                ) from None

    def _check_all(self) -> None:
        """Where one died others may have: all must answer before they get another call.

        Busy workers answer after the calls that they have.
        """
        while self._ready:
            self._await_ready(self._ready.pop())
