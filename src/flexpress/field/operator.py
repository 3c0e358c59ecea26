"""The operator: what is going on, and the few things that only a person may decide.

Commands travel over the same port as couriers, with a certificate of their own role.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, TypeVar

from aiohttp import web
from msgspec.structs import replace

from flexpress.arguments import check_path
from flexpress.errors import InputError
from flexpress.field.answering import answer, guard, read_message
from flexpress.field.book import ServerBook
from flexpress.field.book_rows import LAST, MEMBERS, REFUSED, RELEASED, SEEN, MemberRow
from flexpress.field.calling import LinkDown, RefusedByPeer, ask, open_session
from flexpress.field.kit import Entry, OperatorKit, ServerKit, load_kit
from flexpress.field.log import Log
from flexpress.field.messages import Count, Message, Name, Positive, Round, RunId, encode
from flexpress.field.room import Room
from flexpress.field.store import Store
from flexpress.field.tables import Decision, Refused
from flexpress.field.tls import caller_context

_A = TypeVar("_A")
_M = TypeVar("_M", bound=Message)


class Question(Message, frozen=True):
    """For `status` and `stop`."""

    run: RunId


class Void(Question, frozen=True):
    """Of a tour by its number, or of the round of a courier, departed or not."""

    what: Name


class Revoke(Question, frozen=True):
    """The certificate of a member."""

    name: Name


class Enrol(Question, frozen=True):
    """A new member."""

    entry: Entry


class Move(Question, frozen=True):
    """Another courier is to visit this client."""

    name: Name
    courier: Name


class Done(Message, frozen=True):
    """What was done, in one line."""

    text: str


class CourierStatus(Message, frozen=True):
    """Where a courier is."""

    name: Name
    state: Literal["waiting", "released", "out", "home", "revoked"]
    round: Round = -1
    tour: Positive | None = None
    version: Count | None = None


class ClientStatus(Message, frozen=True):
    """What has come of a client."""

    name: Name
    courier: Name | None
    revoked: bool
    updates: Count
    tour: Positive | None = None  # that brought its last update
    seen: float | None = None  # when that was


class Status(Message, frozen=True):
    """The mission at a glance."""

    run: RunId
    clock: str
    payload: str
    slot: Count
    horizon: Count
    version: Round
    accuracy: float | None
    over: bool
    refused: Count
    couriers: tuple[CourierStatus, ...]
    clients: tuple[ClientStatus, ...]


class OperatorDesk:
    """The operator's part of the server's port."""

    def __init__(
        self,
        kit: ServerKit,
        store: Store,
        book: ServerBook,
        log: Log,
        on_change: Callable[[], None],
        how_far: Callable[[], tuple[int, int, float | None]],
        stop: Callable[[], None],
    ) -> None:
        """`how_far` says slot, horizon and the last accuracy."""
        self._kit, self._store, self._book = kit, store, book
        self._log, self._on_change, self._how_far, self._stop = log, on_change, how_far, stop

    def app(self) -> web.Application:
        app = web.Application(
            middlewares=[guard("operator", lambda name: False, Room(self._log).tell)]
        )
        app.add_routes(
            [
                web.post("/status", self._status),
                web.post("/void", self._void),
                web.post("/revoke", self._revoke),
                web.post("/enrol", self._enrol),
                web.post("/move", self._move),
                web.post("/stop", self._end),
            ]
        )
        return app

    async def _read(self, request: web.Request, kind: type[_Q]) -> _Q:
        question = await read_message(request, kind)
        if question.run != self._kit.run:
            raise Refused(403, f"run {question.run} is another mission")
        return question

    async def _status(self, request: web.Request) -> web.Response:
        await self._read(request, Question)
        return answer(self.status())

    def status(self) -> Status:
        slot, horizon, accuracy = self._how_far()
        members = MEMBERS.rows(self._store.tables)
        couriers = (self._courier(n, row) for n, row in members.items() if row.role == "courier")
        return Status(
            self._kit.run,
            self._kit.clock,
            self._kit.payload,
            slot,
            horizon,
            self._book.counter.version,
            accuracy,
            self._book.progress.over,
            len(REFUSED.rows(self._store.tables)),
            tuple(couriers),
            tuple(self._clients()),
        )

    def _courier(self, name: str, row: MemberRow) -> CourierStatus:
        released = RELEASED.rows(self._store.tables).get(name)
        if released is None:
            return CourierStatus(name, "revoked" if row.revoked else "waiting")
        state: Any = "released"
        if released.tour is not None:
            state = "out" if self._book.tour(released.tour).state == "open" else "home"
        if row.revoked:
            state = "revoked"
        return CourierStatus(name, state, released.round, released.tour, released.version)

    def _clients(self) -> list[ClientStatus]:
        updates: dict[str, int] = {}
        for seen in SEEN.rows(self._store.tables).values():
            updates[seen.client] = updates.get(seen.client, 0) + seen.upto + len(seen.beyond)
        last = LAST.rows(self._store.tables)
        return [
            ClientStatus(
                name,
                row.courier,
                row.revoked,
                updates.get(name, 0),
                last[name].tour if name in last else None,
                last[name].time if name in last else None,
            )
            for name, row in MEMBERS.rows(self._store.tables).items()
            if row.role == "client"
        ]

    async def _void(self, request: web.Request) -> web.Response:
        what = (await self._read(request, Void)).what
        if what.isdecimal():
            self._commit(self._book.void(int(what)))
        else:
            self._commit(self._book.void_round(what))
        self._log("voided", what=what)
        return answer(Done(f"{what} is void: what it carries comes with later tours"))

    async def _revoke(self, request: web.Request) -> web.Response:
        name = (await self._read(request, Revoke)).name
        self._commit(self._book.revoke(name))
        self._log("revoked", member=name)
        return answer(Done(f"{name} is revoked; clients hear of it with the next courier"))

    async def _enrol(self, request: web.Request) -> web.Response:
        entry = (await self._read(request, Enrol)).entry
        self._check_clock("joins")
        if entry.role == "client":
            self._book.member(entry.courier or "", "courier")
        else:
            entry = replace(entry, number=self._number(entry.name))
        self._commit(self._book.enrol(entry.name, member_row(entry)))
        self._log("enrolled", member=entry.name)
        return answer(Done(f"{entry.name} belongs to the mission from the next departure on"))

    async def _move(self, request: web.Request) -> web.Response:
        move = await self._read(request, Move)
        self._check_clock("moves")
        self._commit(self._book.move(move.name, move.courier))
        self._log("moved", client=move.name, courier=move.courier)
        return answer(Done(f"{move.courier} visits {move.name} from its next departure on"))

    def _check_clock(self, does: str) -> None:
        if self._kit.clock == "plan":
            raise Refused(409, f"by the plan's clock nobody {does}; use the wall clock for that")

    def _number(self, courier: str) -> int:
        """Its own, or the next: couriers are told apart by their numbers."""
        members = MEMBERS.rows(self._store.tables)
        couriers = {name: row.number for name, row in members.items() if row.role == "courier"}
        return couriers.get(courier, 1 + max(couriers.values(), default=0))

    async def _end(self, request: web.Request) -> web.Response:
        await self._read(request, Question)
        asyncio.get_running_loop().call_later(0.1, self._stop)
        return answer(Done("the server stops; start it again to continue"))

    def _commit(self, decision: Decision[_A]) -> _A:
        self._store.commit(decision.changes)
        if decision.changes:
            self._on_change()
        return decision.answer


_Q = TypeVar("_Q", bound=Question)


def member_row(entry: Entry) -> MemberRow:
    return MemberRow(
        entry.role,
        courier=entry.courier,
        host=entry.host,
        port=entry.port,
        seconds=entry.seconds,
        order=entry.order,
        public_key=entry.public_key,
        number=entry.number,
        client=entry.client,
    )


def operate(
    folder: str | Path, action: str, what: str = "", *, courier: str | None = None
) -> Status | Done:
    """Ask the server: `status`, `void` a tour or a courier's round, `revoke` a member, `stop`.

    `move` gives a client to another `courier`.
    """
    folder = check_path("folder", folder)
    kit = load_kit(folder, OperatorKit)
    if action in ("void", "revoke", "move") and not what:
        raise InputError(f"{action}: name what to {action}; `status` shows what there is")
    if action == "move" and not courier:
        raise InputError(f"move {what}: say which courier is to visit it, with --courier")
    questions: dict[str, Callable[[], Question]] = {
        "status": lambda: Question(kit.run),
        "stop": lambda: Question(kit.run),
        "void": lambda: Void(kit.run, what),
        "revoke": lambda: Revoke(kit.run, what),
        "move": lambda: Move(kit.run, what, courier or ""),
    }
    if action not in questions:
        raise InputError(f"{action}: must be one of {', '.join(questions)}")
    return call_server(folder, kit, action, questions[action]())


def status_to_json(answer: Status | Done) -> str:
    return encode(answer).decode()


def call_server(folder: Path, kit: OperatorKit, action: str, question: Question) -> Status | Done:
    """One question, one answer; InputError if the server is not there or refuses."""
    try:
        return asyncio.run(_call(folder, kit, action, question))
    except LinkDown as error:
        raise InputError(f"the server cannot be reached: {error}; is it running?") from None
    except RefusedByPeer as error:
        raise InputError(f"the server refuses: {error.reason}") from None


async def _call(folder: Path, kit: OperatorKit, action: str, question: Question) -> Status | Done:
    async with open_session(caller_context(folder), {"server": kit.server_host}) as session:
        url = f"https://server:{kit.server_port}/operator/{action}"
        kind: type[Status | Done] = Status if action == "status" else Done
        return await ask(session, url, question, kind)
