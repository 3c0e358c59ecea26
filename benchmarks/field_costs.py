"""Where a server's time goes: CPU and wall seconds of some of its functions, without those inside.

The functions are replaced, in the server's process, by ones that look at the clocks of their
thread. What is in none of them is the rest: asyncio, aiohttp, and Python itself.
"""

from __future__ import annotations

import functools
import hashlib
import os
import ssl
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from flexpress.field import answering, office, overview, sealing, serving, store
from flexpress.field.book import ServerBook
from flexpress.field.log import Log
from flexpress.field.mission import Mission

Costs = dict[str, tuple[int, float, float]]
"""Calls, CPU seconds and wall seconds, by the name of the work."""

WORK: dict[str, list[tuple[Any, str]]] = {
    "TLS": [(ssl.SSLObject, name) for name in ("read", "write")],
    "TLS: new connections": [(ssl.SSLObject, "do_handshake")],
    "who is asking": [(answering, "peer_of")],
    "JSON": [(answering, "decode"), (answering, "encode"), (office, "digest_of")],
    "SHA-256": [(hashlib, "sha256"), (store, "_digest")],
    "unsealing": [(sealing, "unseal")],
    "signatures": [(sealing, "verify"), (office, "sign_snapshot")],
    "SQLite": [(store.Store, "commit")],
    "fsync of files": [(os, "fsync")],
    "writing and reading files": [
        (serving, "append"),
        (store.Files, "finish"),
        (store.Files, "read"),
        (store.Files, "write"),
        (store.Files, "has"),
        (store.Files, "size"),
    ],
    "removing files": [(store.Files, "names"), (store.Files, "remove"), (ServerBook, "files")],
    "the book": [
        (ServerBook, name)
        for name in ("depart", "stops", "announce", "expects", "fresh", "accept", "open_tours")
    ],
    "what is due": [(overview.Overview, "situation"), (Mission, "due")],
    "checking numbers": [(office.Office, "_examine")],
    "adding up and merging": [(office.Office, "total_of"), (Mission, "perform")],
    "the log": [(Log, "__call__")],
}


class Meter:
    """Counts what its wrappers are told. Each thread has a stack of the work it is in."""

    def __init__(self) -> None:
        self._stacks = threading.local()
        self._lock = threading.Lock()
        self._found: dict[str, list[float]] = defaultdict(lambda: [0, 0.0, 0.0])

    def install(self) -> None:
        for name, places in WORK.items():
            for owner, attribute in places:
                if hasattr(owner, attribute):
                    setattr(owner, attribute, self._timed(name, getattr(owner, attribute)))

    def reset(self) -> None:
        with self._lock:
            self._found.clear()

    def costs(self) -> Costs:
        with self._lock:
            return {name: (int(n), cpu, wall) for name, (n, cpu, wall) in self._found.items()}

    def _timed(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def timed(*arguments: Any, **named: Any) -> Any:
            stack = self._stacks.__dict__.setdefault("inside", [])
            stack.append([0.0, 0.0])
            cpu, wall = time.thread_time(), time.perf_counter()
            try:
                return function(*arguments, **named)
            finally:
                cpu, wall = time.thread_time() - cpu, time.perf_counter() - wall
                inner_cpu, inner_wall = stack.pop()
                if stack:
                    stack[-1][0] += cpu
                    stack[-1][1] += wall
                with self._lock:
                    found = self._found[name]
                    found[0] += 1
                    found[1] += cpu - inner_cpu
                    found[2] += wall - inner_wall

        return timed
