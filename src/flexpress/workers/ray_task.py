"""One task on a machine of a Ray cluster, and its post: news go out, and it learns when to stop."""

from __future__ import annotations

import pickle
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from flexpress.files.versions import check_versions
from flexpress.workers.cluster import import_ray

ASK_SECONDS = 0.5
"""From one question whether to stop to the next."""


@dataclass(frozen=True)
class Order:
    """A task on its way."""

    key: Any
    attempt: int  # counted from 1
    task: bytes  # pickled: nothing of it is loaded before versions are compared
    path: tuple[str, ...]  # where the caller's own modules may be found
    versions: Mapping[str, str]


@dataclass(frozen=True)
class Letter:
    """From a task; the first one has no news, but tells that it has begun."""

    key: Any
    attempt: int
    news: Any = None


class Post:
    """An actor: tasks leave letters here until they are fetched, and learn if they shall stop.

    It may die and be made again: then letters are lost, and what it was told is told again.
    """

    def __init__(self) -> None:
        self._letters: list[Letter] = []
        self._stop = False

    def leave(self, *letters: Letter) -> bool:
        self._letters.extend(letters)
        return self._stop

    def fetch(self, stop: bool) -> list[Letter]:
        self._stop = stop
        letters, self._letters = self._letters, []
        return letters


class Caller:
    """A task's side of the post."""

    def __init__(self, post: Any, order: Order) -> None:
        self._ray = import_ray()
        self._post, self._order = post, order
        begun = Letter(order.key, order.attempt)
        self._stop: bool = self._ray.get(post.leave.remote(begun))  # it may have waited for long
        self._ask()

    def tell(self, news: Any) -> None:
        self._post.leave.remote(Letter(self._order.key, self._order.attempt, news))

    def should_stop(self) -> bool:
        """As far as the last answer told; the next question is on its way."""
        if time.monotonic() > self._asked + ASK_SECONDS:
            self._stop = self._stop or self._ray.get(self._answer)
            self._ask()
        return self._stop

    def _ask(self) -> None:
        self._answer = self._post.leave.remote()
        self._asked = time.monotonic()


def perform_task(order: Order, post: Any, *shared: Any) -> Any:
    check_versions(order.versions)
    sys.path.extend(place for place in order.path if place not in sys.path)
    caller = Caller(post, order)
    return pickle.loads(order.task)(*shared, caller.tell, caller.should_stop)
