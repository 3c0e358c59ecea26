"""The courier: load the model, visit clients, seal the hold, bring it home; again and again.

All that it must not forget is in its store, so it continues after a kill -9 wherever it was.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TypeVar

import aiohttp

from flexpress.arguments import check_path
from flexpress.errors import InputError
from flexpress.field.calling import (
    LinkDown,
    Patience,
    RefusedByPeer,
    SomebodyElse,
    ask,
    insist,
    open_session,
)
from flexpress.field.cargo import Cargo
from flexpress.field.flight import Flight, FlightError, TimetableFlight
from flexpress.field.flight_file import load_flight_file
from flexpress.field.hold import COURIER_ROWS, CourierHold
from flexpress.field.kit import FLIGHT, STATE, CourierKit, load_kit
from flexpress.field.log import Log
from flexpress.field.messages import (
    Departing,
    Manifest,
    Missing,
    Orders,
    Parcel,
    Receipt,
    Stop,
    VisitAnswer,
    Wait,
)
from flexpress.field.program import run_program
from flexpress.field.room import Room
from flexpress.field.sealing import SEAL_OVERHEAD
from flexpress.field.store import Files, Store
from flexpress.field.tables import Decision, Refused
from flexpress.field.tls import caller_context
from flexpress.field.transfer import fetch, push
from flexpress.files.disk import DiskFullError

_A = TypeVar("_A")

_AT_HOME = Patience(total=1e9, longest_wait=2.0, outlasts_others=True)
"""The server is waited for as long as it takes, even if somebody else has its address."""
_MERGING = 600.0
"""Seconds without a word while the server checks what was brought."""
_NEAR = 30.0
"""Seconds without a word from a client that is near."""

_UNTIL_VOID = 30.0
"""Seconds until a return that was refused is tried again: the operator may void its tour."""

_NOT_US = 403
"""What the server says if this courier does not belong, or not any more."""
_DAMAGED = 422
"""What the server says, among other things, of a content that is not what was announced."""
_CLOSED = (409, 410)
"""What the server says of a tour that is closed: the hold may be forgotten."""


def run_courier(
    folder: str | Path,
    *,
    log: Log | None = None,
    autopilot: str | None = None,
) -> None:
    """Fly until the mission is over.

    It is near a client at the times of the plan, or when the autopilot at this address says so.
    """
    folder = check_path("folder", folder)
    kit = load_kit(folder, CourierKit)
    flight = TimetableFlight(kit.speedup) if autopilot is None else _follow(folder, autopilot)
    with Store.open(folder / STATE, COURIER_ROWS) as store:
        run_program(_Courier(folder, kit, store, flight, log or Log(kit.name)).work)


def _follow(folder: Path, address: str) -> Flight:
    """The flight of the autopilot, with the mission of this kit."""
    from flexpress.field.autopilot import AutopilotFlight  # needs the extra `mavlink`

    return AutopilotFlight(load_flight_file(folder / FLIGHT), address)


class _Courier:
    def __init__(
        self, folder: Path, kit: CourierKit, store: Store, flight: Flight, log: Log
    ) -> None:
        self._kit, self._store, self._flight, self._log = kit, store, flight, log
        self._room = Room(log)
        self._context = caller_context(folder)
        self._files = Files(folder / STATE)
        size = kit.model_size + (SEAL_OVERHEAD if kit.payload == "parcel" else 0)
        self._hold = CourierHold(store.tables, kit.run, kit.name, size)
        self._cargo = Cargo(kit, self._hold, self._files, self._room, log, self._commit)
        self._home = f"https://server:{kit.server_port}/courier"

    async def work(self) -> None:
        self._log("started")
        self._files.remove_unless(self._hold.files())
        try:
            await self._fly_tours()
        except asyncio.CancelledError:
            self._log("stopped")
            raise
        self._log("mission-over")

    async def _fly_tours(self) -> None:
        """Until the mission is over."""
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self._flight.close)
            session = open_session(self._context, {"server": self._kit.server_host})
            await stack.enter_async_context(session)
            while self._hold.orders is not None or await self._take_orders(session):
                if self._hold.manifest is None:
                    if not await self._load_model(session):
                        continue
                    await self._fly()
                await self._return(session)

    # At the server

    async def _take_orders(self, session: aiohttp.ClientSession) -> bool:
        """False if the mission is over."""
        while isinstance(answer := await self._ask_to_depart(session), Wait):
            if answer.over:
                return False
            await asyncio.sleep(answer.seconds)
        await self._commit(self._hold.load(answer))
        return True

    async def _ask_to_depart(self, session: aiohttp.ClientSession) -> Orders | Wait:
        question = Departing(self._kit.run)

        async def attempt() -> Orders | Wait:
            return await ask(session, f"{self._home}/depart", question, Orders, Wait)

        return await self._insist(attempt)

    async def _insist(self, attempt: Callable[[], Awaitable[_A]]) -> _A:
        """The server is waited for without an end: so each new reason is told, once."""
        told = ""

        async def once_more() -> _A:
            nonlocal told
            try:
                return await attempt()
            except (LinkDown, SomebodyElse) as error:
                if str(error) != told:
                    told = str(error)
                    self._log("server-not-reached", reason=told)
                raise

        return await insist(once_more, _AT_HOME)

    async def _load_model(self, session: aiohttp.ClientSession) -> bool:
        """False if the tour has been closed before it began: there is another one to fly."""
        snapshot = self._hold.snapshot
        url, size = f"{self._home}/models/{snapshot.model}", self._kit.model_size
        try:
            await self._fetch(session, url, snapshot.model, size, _AT_HOME)
        except RefusedByPeer as error:
            if error.status not in _CLOSED:
                raise
            await self._forget(error.reason)
            return False
        self._log(
            "departed",
            tour=snapshot.tour,
            round=snapshot.round,
            version=snapshot.version,
            stops=len(self._hold.orders.stops) if self._hold.orders else 0,
        )
        return True

    async def _forget(self, reason: str) -> None:
        """The server says that the tour is closed; what is on board is with the clients too."""
        self._log("tour-closed", tour=self._hold.snapshot.tour, reason=reason)
        await self._commit(self._hold.close(None))
        self._files.remove_unless(self._hold.files())

    async def _return(self, session: aiohttp.ClientSession) -> None:
        """Until the server has taken it, or says that the tour is closed."""
        while True:
            manifest = self._hold.manifest or await self._cargo.seal()
            try:
                receipt = await self._deliver(session, manifest)
                break
            except InputError:  # a file on board cannot be read
                if not await self._cargo.drop_damaged():
                    raise
            except RefusedByPeer as error:
                if error.status in _CLOSED:
                    await self._forget(error.reason)
                    return
                if error.status == _NOT_US:
                    raise
                if error.status == _DAMAGED and await self._cargo.drop_damaged():
                    continue
                self._log("return-refused", tour=manifest.tour, reason=error.reason)
                await asyncio.sleep(_UNTIL_VOID / self._kit.speedup)
        await self._commit(self._hold.close(receipt))
        self._files.remove_unless(self._hold.files())
        self._log("returned", tour=manifest.tour, parcels=len(manifest.parcels))

    async def _deliver(self, session: aiohttp.ClientSession, manifest: Manifest) -> Receipt:
        url = f"{self._home}/tours/{manifest.tour}"

        async def announce() -> Missing:
            return await ask(session, f"{url}/manifest", manifest, Missing)

        async def finish() -> Receipt:
            return await ask(session, f"{url}/return", manifest, Receipt, silence=_MERGING)

        missing = await self._insist(announce)
        for content, offset in missing.contents:
            place, path = f"{url}/contents/{content}", self._files.path(content)
            await push(session, place, path, offset=offset, patience=_AT_HOME)
        return await self._insist(finish)

    # In the air

    async def _fly(self) -> None:
        """Visit what is not visited yet, in the order in which the drone gets there."""
        orders = self._hold.orders
        assert orders is not None
        behind = [orders.stops[stop].client for stop in self._hold.stops_behind()]
        await self._flight.take_off(orders, behind)
        while (near := await self._next_stop(orders)) is not None:
            stop, time_left = near
            await self._visit(orders.stops.index(stop), stop, min(self._kit.patience, time_left))
            try:
                await self._flight.release(stop)
            except FlightError as error:  # the drone leaves by itself; what is on board counts
                self._log("flight-lost", reason=str(error))

    async def _next_stop(self, orders: Orders) -> tuple[Stop, float] | None:
        """With the seconds that the drone stays there, by the flight.

        If it cannot be followed any more, one client after another is tried: who knows how long.
        """
        try:
            stop = await self._flight.next_stop()
            return None if stop is None else (stop, self._flight.time_left)
        except FlightError as error:
            self._log("flight-lost", reason=str(error))
            number = self._hold.next_stop()
            return None if number is None else (orders.stops[number], math.inf)

    async def _visit(self, number: int, stop: Stop, limit: float) -> None:
        """Within so many seconds."""
        self._log("arrived", client=stop.client, tour=self._hold.snapshot.tour)
        begun, taken = time.monotonic(), list[Parcel]()
        try:
            async with open_session(self._context, {stop.client: stop.host}) as session:
                async with asyncio.timeout(limit):
                    await self._exchange(session, number, stop, limit, taken)
        except (LinkDown, Refused, RefusedByPeer, TimeoutError) as error:
            self._leave(number, taken)
            reason = str(error) or f"no answer within {limit:g} s"
            left = {"parcels": len(taken)} if taken else {}
            self._log("missed", client=stop.client, reason=reason, **left)
        else:
            self._log("visited", client=stop.client, seconds=round(time.monotonic() - begun, 3))

    async def _exchange(
        self,
        session: aiohttp.ClientSession,
        number: int,
        stop: Stop,
        limit: float,
        taken: list[Parcel],
    ) -> None:
        """Show the snapshot, bring the model, take the parcels: `taken` are those on board."""
        orders = self._hold.orders
        assert orders is not None
        patience = Patience(limit, silence=min(limit, _NEAR), first_wait=0.05, longest_wait=2.0)
        url, model = f"https://{stop.client}:{stop.port}", self._hold.snapshot.model
        snapshot = orders.snapshot

        async def show() -> VisitAnswer:
            return await ask(session, f"{url}/visit", snapshot, VisitAnswer, silence=_NEAR)

        while (answer := await insist(show, patience)).status != "ready":
            if answer.status == "send-model":
                path = self._files.path(model)
                await push(session, f"{url}/models/{model}", path, patience=patience)
            else:
                await asyncio.sleep(answer.wait)
        decided = self._hold.collect(number, answer.parcels)  # refused before a byte is fetched
        for parcel in answer.parcels:
            place = f"{url}/parcels/{parcel.content}"
            await self._fetch(session, place, parcel.content, parcel.size, patience)
            taken.append(parcel)
        await self._commit(decided)

    async def _fetch(
        self, session: aiohttp.ClientSession, url: str, sha: str, size: int, patience: Patience
    ) -> None:
        """Once there is room for it; what has arrived is kept meanwhile."""
        await self._room.insist(
            lambda: fetch(session, url, sha, size, self._files, patience=patience)
        )

    def _leave(self, stop: int, taken: list[Parcel]) -> None:
        """Before the end of a visit. Parcels that are on board come along.

        Not worth waiting for room, in the air: without the note, a restart only tries again.
        """
        left = self._hold.collect(stop, taken) if taken else self._hold.missed(stop)
        try:
            self._store.commit(left.changes)
        except DiskFullError as error:
            self._room.tell(error)

    async def _commit(self, decision: Decision[_A]) -> _A:
        """Once there is room for it. Nobody else changes the tables meanwhile."""

        async def attempt() -> _A:
            self._store.commit(decision.changes)
            return decision.answer

        return await self._room.insist(attempt)
