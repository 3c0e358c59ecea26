"""A courier's program without a network: what server and clients say is written down beforehand."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from small_field import RUN, SIGNATURE, sha

from flexpress.field import courier as program
from flexpress.field.flight import Flight, TimetableFlight
from flexpress.field.hold import COURIER_ROWS
from flexpress.field.identity import issue, make_authority
from flexpress.field.kit import CourierKit
from flexpress.field.log import Log
from flexpress.field.messages import (
    Message,
    Missing,
    Orders,
    Receipt,
    SignedSnapshot,
    Snapshot,
    Stop,
    VisitAnswer,
    Wait,
    digest_of,
    encode,
)
from flexpress.field.store import Store

OVER = Wait(0.0, "the mission has ended", over=True)


def orders_of(tour: int, *clients: str) -> Orders:
    snapshot = Snapshot(RUN, tour, "courier-1", 0, 0, sha("x0"), tour + 1, (tour,), (), ())
    stops = tuple(Stop(client, "localhost", 1, 0.0) for client in clients)
    return Orders(SignedSnapshot(encode(snapshot).decode(), SIGNATURE), stops, 8, 0.0)


@dataclass
class Script:
    """What is answered to each kind of question, in turn; an error is raised."""

    depart: list[Message | Exception]
    models: list[Exception | None] = field(default_factory=list)
    visits: list[VisitAnswer | Exception] = field(default_factory=list)
    returns: list[Exception | None] = field(default_factory=list)
    entries: list[dict[str, Any]] = field(default_factory=list)

    def events(self, *kinds: str) -> list[str]:
        return [entry["event"] for entry in self.entries if entry["event"] in kinds]

    async def ask(self, session: Any, url: str, question: Any, *kinds: Any, **_: Any) -> Any:
        await asyncio.sleep(0)  # as every answer takes time: a limit of 0 seconds is over
        place = url.rpartition("/")[2]
        if place == "depart":
            return _said(self.depart)
        if place == "visit":
            return _said(self.visits)
        if place == "manifest":
            return Missing(())
        _said(self.returns)
        return Receipt(RUN, question.tour, digest_of(question))

    async def fetch(self, *_: Any, **__: Any) -> None:
        _said(self.models)


def _said(answers: list[Any]) -> Any:
    """The next of them; nothing in particular if there is none."""
    answer = answers.pop(0) if answers else None
    if isinstance(answer, Exception):
        raise answer
    return answer


def _kit(folder: Path) -> CourierKit:
    issue(make_authority(folder / "authority"), "courier-1", "courier", folder)
    return CourierKit(RUN, "courier-1", "sum", 2, "float32", 1e6, "localhost", 1, patience=60.0)


def fly(
    script: Script,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    flight: Callable[[], Flight] = lambda: TimetableFlight(1e6),
) -> Script:
    """The whole program, until the server says that the mission is over."""

    @asynccontextmanager
    async def no_session(*_: Any) -> AsyncIterator[None]:
        yield

    monkeypatch.setattr(program, "open_session", no_session)
    monkeypatch.setattr(program, "ask", script.ask)
    monkeypatch.setattr(program, "fetch", script.fetch)
    kit, log = _kit(folder), Log("courier-1", sink=script.entries.append)
    with Store.open(folder / "state", COURIER_ROWS) as store:
        asyncio.run(program._Courier(folder, kit, store, flight(), log).work())
    return script
