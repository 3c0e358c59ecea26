"""Workers of a Ray cluster that make calls: whoever has time, again if one dies, results in order.

Ray starts a worker anew that has died, here or on another machine, for as long as there is a
place for it. Until it is back its calls are made by the others: every call is a pure function.
"""

from __future__ import annotations

import heapq
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from flexpress.errors import FlexpressError
from flexpress.files.versions import check_versions
from flexpress.learning.summing import ShouldStop, StopRequestedError
from flexpress.workers.cluster import errors_raised_here, one_line

AT_ONCE = 2
"""Calls that a worker has been given: the next one is there when it has made the first."""

LEAD = 8
"""For each worker, calls that may be made before the oldest is done: their results are kept."""

POLL_SECONDS = 0.1
"""From one look at whether we shall stop to the next."""

PATIENCE_SECONDS = 120.0
"""To wait for a worker when there is none at all."""

MOST_LOSSES = 5
"""Workers that may die over one call, until it is thought to be the call that kills them."""


@dataclass(frozen=True)
class Call:
    """A method of a worker, and its arguments; references are replaced by what they refer to."""

    method: str
    arguments: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Member:
    """A worker, whether it is there or not."""

    handle: Any


@dataclass(eq=False)
class Round:
    """Calls under way; numbers are places in `calls`."""

    calls: Sequence[Call]
    waiting: list[int] = field(default_factory=list)  # a heap
    at_work: dict[Any, tuple[int, Member]] = field(default_factory=dict)  # by the reference
    done: dict[int, Any] = field(default_factory=dict)
    losses: Counter[int] = field(default_factory=Counter)
    loads: Counter[Member] = field(default_factory=Counter)  # calls that each has been given

    def __post_init__(self) -> None:
        self.waiting = list(range(len(self.calls)))


class Crew:
    """So many workers of one kind."""

    def __init__(self, ray: Any, make: Callable[[], Any], size: int) -> None:
        self._ray = ray
        self._members = [Member(make()) for _ in range(size)]
        self._present: list[Member] = []
        self._coming: dict[Any, Member] = {}  # by the reference to their first word
        self._seen = time.monotonic()  # when one was there
        self._last_words = ""
        for member in self._members:
            self._expect(member)

    @property
    def size(self) -> int:
        return len(self._members)

    def results(self, calls: Sequence[Call], should_stop: ShouldStop) -> Iterator[Any]:
        """Of the calls, in their order, each when it and those before it are made."""
        under_way = Round(calls)
        self._seen = time.monotonic()
        for number in range(len(calls)):
            while number not in under_way.done:
                if should_stop():
                    raise StopRequestedError
                self._hand_out(under_way, number)
                self._look(under_way)
            yield under_way.done.pop(number)

    def await_one(self) -> None:
        """The first worker, or FlexpressError if none comes."""
        nothing = Round([])
        while not self._present:
            self._look(nothing)

    def dismiss(self) -> None:
        if self._ray.is_initialized():  # else they have ended with the cluster
            for member in self._members:
                self._ray.kill(member.handle)

    def _expect(self, member: Member) -> None:
        """It comes, or comes back, when it answers."""
        word = member.handle.ready.options(max_task_retries=-1).remote()
        self._coming[word] = member

    def _hand_out(self, under_way: Round, oldest: int) -> None:
        """To those with the fewest calls first; none that is too far ahead of the oldest."""
        furthest = oldest + LEAD * self.size
        for load in range(AT_ONCE):
            for member in self._present:
                if not under_way.waiting or under_way.waiting[0] >= furthest:
                    return
                if under_way.loads[member] == load:
                    number = heapq.heappop(under_way.waiting)
                    call = under_way.calls[number]
                    reference = getattr(member.handle, call.method).remote(*call.arguments)
                    under_way.at_work[reference] = number, member
                    under_way.loads[member] += 1

    def _look(self, under_way: Round) -> None:
        """Wait a moment for results, and for workers to come."""
        for reference in self._ready([*under_way.at_work, *self._coming]):
            if reference in self._coming:
                self._welcome(self._coming.pop(reference), reference)
            else:
                self._receive(under_way, reference)
        if self._present or under_way.at_work:
            self._seen = time.monotonic()
        elif not self._coming or time.monotonic() - self._seen > PATIENCE_SECONDS:
            raise FlexpressError(
                f"none of {self.size} Ray workers is there: the cluster has no free core "
                f"for them (see `ray status`), or all died{self._last_words}"
            )

    def _ready(self, expected: list[Any]) -> list[Any]:
        """Once there is one, all that are: to ask for each by itself would take longer."""
        if not expected or not self._ray.wait(expected, timeout=POLL_SECONDS)[0]:
            return []
        ready, _ = self._ray.wait(expected, num_returns=len(expected), timeout=0)
        return list(ready)

    def _welcome(self, member: Member, word: Any) -> None:
        try:
            with errors_raised_here(self._ray):
                theirs = self._ray.get(word)
        except self._ray.exceptions.RayError as error:  # it is dead for good
            self._last_words = f": {one_line(error)}"
            return
        check_versions(theirs)
        self._present.append(member)

    def _receive(self, under_way: Round, reference: Any) -> None:
        number, member = under_way.at_work.pop(reference)
        under_way.loads[member] -= 1
        try:
            with errors_raised_here(self._ray):
                under_way.done[number] = self._ray.get(reference)
        except self._ray.exceptions.RayError as error:
            self._call_the_roll()
            heapq.heappush(under_way.waiting, number)
            under_way.losses[number] += 1
            if under_way.losses[number] == MOST_LOSSES:
                raise FlexpressError(
                    f"{MOST_LOSSES} Ray workers died over the same clients, perhaps for want of "
                    f"memory: {one_line(error)}"
                ) from None

    def _call_the_roll(self) -> None:
        """Where one has died others may have: all must answer before they are given more.

        Those at work answer when they have made the calls that they were given.
        """
        while self._present:
            self._expect(self._present.pop())
