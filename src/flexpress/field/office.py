"""The server's port: couriers depart and return, the operator asks and decides."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, TypeVar

import numpy as np
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from flexpress.field.answering import answer, guard, peer_in, read_message
from flexpress.field.book import ServerBook
from flexpress.field.book_rows import ANNOUNCED, LAST, MEMBERS, LastRow
from flexpress.field.identity import UntrustedError
from flexpress.field.kit import ServerKit
from flexpress.field.log import Log
from flexpress.field.messages import (
    Departing,
    Manifest,
    Orders,
    Parcel,
    Receipt,
    UpdateName,
    Wait,
    digest_of,
)
from flexpress.field.room import Room
from flexpress.field.sealing import open_content, public_key, sign_snapshot, verify_parcel
from flexpress.field.serving import Uploads, send_file
from flexpress.field.store import Files, Store, digest_of_content
from flexpress.field.tables import Decision, Refused
from flexpress.field.tidying import Tidying
from flexpress.field.vectors import bytes_of, is_finite
from flexpress.learning import Vector

_A = TypeVar("_A")

_LARGEST_MANIFEST = 2**26
_AT_ONCE = 2
"""Tours that are examined together: each takes the memory of a few models."""
_NOT_FINITE = "has numbers that are not finite"


class _Examined(NamedTuple):
    """What is in a hold."""

    refused: dict[UpdateName, str]  # never count, and why
    unproven: set[UpdateName]  # their clients did not sign just that
    content: memoryview | None  # the sum of all others, if there are any
    added: str | None  # its digest


class Office:
    """What couriers may do at the server. `on_change` is called after each change of the book.

    `now` is the time of the mission.
    """

    def __init__(
        self,
        kit: ServerKit,
        store: Store,
        files: Files,
        book: ServerBook,
        key: Ed25519PrivateKey,
        seal_key: X25519PrivateKey | None,
        log: Log,
        on_change: Callable[[], None],
        tidying: Tidying,
        now: Callable[[], float],
    ) -> None:
        self._kit, self._store, self._files, self._book = kit, store, files, book
        self._key, self._seal_key = key, seal_key
        self._log, self._on_change, self._tidying, self._now = log, on_change, tidying, now
        self._uploads = Uploads(files)
        self._examining = asyncio.Semaphore(_AT_ONCE)
        self._dtype = np.dtype(kit.dtype).newbyteorder("<")

    def app(self) -> web.Application:
        app = web.Application(
            middlewares=[guard("courier", self._is_revoked, Room(self._log).tell)]
        )
        app.add_routes(
            [
                web.post("/depart", self._depart),
                web.get("/models/{sha}", self._send_model, allow_head=False),
                web.post("/tours/{tour}/manifest", self._announce),
                web.head("/tours/{tour}/contents/{sha}", self._offset),
                web.patch("/tours/{tour}/contents/{sha}", self._receive),
                web.post("/tours/{tour}/return", self._return),
            ]
        )
        return app

    def _is_revoked(self, name: str) -> bool:
        row = MEMBERS.rows(self._store.tables).get(name)
        return row is not None and row.revoked

    async def _depart(self, request: web.Request) -> web.Response:
        departing = await read_message(request, Departing)
        if departing.run != self._kit.run:
            raise Refused(403, f"run {departing.run} is another mission")
        courier = peer_in(request).name
        decided = self._book.depart(courier, self._now())
        snapshot = self._commit(decided)
        if isinstance(snapshot, Wait):
            return answer(snapshot)
        if decided.changes:
            self._log(
                "departed",
                courier=courier,
                tour=snapshot.tour,
                round=snapshot.round,
                version=snapshot.version,
            )
            self._on_change()
        signed = sign_snapshot(self._key, snapshot)
        stops, duration = self._book.stops(courier), self._book.member(courier, "courier").seconds
        return answer(Orders(signed, stops, self._kit.model_size, duration))

    async def _send_model(self, request: web.Request) -> web.StreamResponse:
        """The one that its open tour carries."""
        courier, sha = peer_in(request).name, request.match_info["sha"]
        tours = self._book.open_tours().values()
        if not any((tour.courier, tour.model) == (courier, sha) for tour in tours):
            raise Refused(410, f"{courier} has no open tour with this model; depart again")
        return await send_file(request, self._files.path(sha))

    async def _announce(self, request: web.Request) -> web.Response:
        """What the new manifest of a tour does not name any more, nobody needs."""
        courier, manifest = await self._manifest(request)
        digest = digest_of(manifest)
        unsigned = await self._unsigned(self._book.fresh(courier, manifest, digest))
        contents = [parcel.content for parcel in manifest.parcels]
        before = ANNOUNCED.rows(self._store.tables).get(str(manifest.tour))
        async with self._tidying.holding([manifest.total] if manifest.total else contents):
            decided = self._book.announce(courier, manifest, digest, self._files.offset, unsigned)
            missing = self._commit(decided)
            if decided.changes and before is not None:
                named_before = {content for content, _ in before.contents}
                self._files.remove(named_before - self._book.files())
        return answer(missing)

    async def _manifest(self, request: web.Request) -> tuple[str, Manifest]:
        manifest = await read_message(request, Manifest, most=_LARGEST_MANIFEST)
        if str(manifest.tour) != request.match_info["tour"]:
            raise Refused(422, f"the manifest is of tour {manifest.tour}")
        courier = peer_in(request).name
        if manifest.tour >= self._book.counter.next_tour:
            remedy = "if this server was restored from a copy, start it once with --restored"
            self._log("unknown-tour", courier=courier, tour=manifest.tour, remedy=remedy)
        return courier, manifest

    def _expected(self, request: web.Request) -> tuple[str, int]:
        sha, tour = request.match_info["sha"], request.match_info["tour"]
        if not (tour.isascii() and tour.isdigit() and len(tour) < 17):
            raise Refused(404, "there is no such tour")
        return sha, self._book.expects(peer_in(request).name, int(tour), sha)

    async def _offset(self, request: web.Request) -> web.Response:
        return self._uploads.offset(*self._expected(request))

    async def _receive(self, request: web.Request) -> web.Response:
        return await self._uploads.receive(request, *self._expected(request))

    async def _return(self, request: web.Request) -> web.Response:
        """S2: check what was brought, then accept it for ever."""
        courier, manifest = await self._manifest(request)
        digest = digest_of(manifest)
        fresh = self._book.fresh(courier, manifest, digest)
        unsigned = await self._unsigned(fresh)
        signed = tuple(parcel for parcel in fresh if parcel.name not in unsigned)
        self._check_arrived(manifest, signed)
        async with self._examining:
            found = await asyncio.to_thread(self._examine, manifest, signed, self._keys(signed))
            found.unproven.update(unsigned)
            content, added = found.content, found.added
            async with self._tidying.holding([added] if added else []):
                if added is not None and content is not None:
                    await asyncio.to_thread(self._files.write, content, added)
                return answer(self._accept(courier, manifest, digest, fresh, found))

    def _accept(
        self,
        courier: str,
        manifest: Manifest,
        digest: str,
        fresh: tuple[Parcel, ...],
        found: _Examined,
    ) -> Receipt:
        """If another tour brought one of them meanwhile, it is not as it was added up."""
        is_same = self._book.fresh(courier, manifest, digest) == fresh
        decided = self._book.accept(
            courier,
            manifest,
            digest,
            manifest.total,
            found.refused,
            found.unproven,
            added=found.added if is_same else None,
        )
        if decided.changes:
            proven = tuple(p for p in fresh if p.name not in found.unproven)
            self._check_arrived(manifest, proven)  # still: another manifest may have come meanwhile
            now = time.time()
            came = [LAST.put(p.name.client, LastRow(manifest.tour, p.version, now)) for p in proven]
            self._store.commit([*decided.changes, *came])
            self._note_return(courier, manifest, found.refused, found.unproven)
            self._tidying.ask()
            self._on_change()
        return decided.answer

    def _check_arrived(self, manifest: Manifest, parcels: Iterable[Parcel]) -> None:
        """Refused (422) unless the contents of these parcels are here, or their sum."""
        contents = [parcel.content for parcel in parcels]
        needed = [manifest.total] if manifest.total and contents else contents
        missing = next((sha for sha in needed if not self._files.has(sha)), None)
        if missing:
            raise Refused(422, f"content {missing} has not arrived; send the manifest first")

    async def _unsigned(self, parcels: tuple[Parcel, ...]) -> set[UpdateName]:
        """Those that their clients have not signed."""
        keys, run = self._keys(parcels), self._kit.run

        def find() -> set[UpdateName]:
            return {p.name for p in parcels if not _is_signed(p, keys[p.name.client], run)}

        return await asyncio.to_thread(find)

    def _keys(self, parcels: Iterable[Parcel]) -> dict[str, str]:
        """Of their clients."""
        members = MEMBERS.rows(self._store.tables)
        clients = {parcel.name.client for parcel in parcels}
        return {client: members[client].public_key for client in clients}

    def _note_return(
        self,
        courier: str,
        manifest: Manifest,
        refused: Mapping[UpdateName, str],
        unproven: set[UpdateName],
    ) -> None:
        self._log("returned", courier=courier, tour=manifest.tour, parcels=len(manifest.parcels))
        for name, reason in refused.items():
            self._log("refused", update=name.key, reason=reason)
        for name in unproven:
            self._log("unproven", update=name.key, courier=courier)

    def _examine(
        self, manifest: Manifest, signed: tuple[Parcel, ...], keys: Mapping[str, str]
    ) -> _Examined:
        """Once it is home, each is opened, and added to the others; a sum is only looked at."""
        refused: dict[UpdateName, str] = {}
        unproven: set[UpdateName] = set()
        total: Vector | None = None
        for parcel in () if manifest.total else signed:
            try:
                vector = self._opened(parcel, keys)
            except UntrustedError:
                unproven.add(parcel.name)
                continue
            if not is_finite(vector):
                refused[parcel.name] = _NOT_FINITE
            else:
                total = np.zeros(vector.size, self._dtype) if total is None else total
                _add(total, vector)
            del vector  # before the next one is opened
        if manifest.total and signed:
            brought = np.frombuffer(self._files.read(manifest.total), self._dtype)
            if not is_finite(brought):
                raise Refused(422, f"the sum of tour {manifest.tour} {_NOT_FINITE}; void the tour")
        content = None if total is None else bytes_of(total, self._dtype)
        added = None if content is None else digest_of_content(content)
        return _Examined(refused, unproven, content, added)

    def _opened(self, parcel: Parcel, keys: Mapping[str, str]) -> Vector:
        """The update in it."""
        key = public_key(keys[parcel.name.client])
        vector = open_content(
            key, self._kit.run, parcel, self._files.mapped(parcel.content), self._seal_key
        )
        if len(vector) != self._kit.model_size:
            raise UntrustedError("the vector has another length than models of this run")
        update: Vector = np.frombuffer(vector, self._dtype)
        return update

    def total_of(self, total: str | None, parcels: tuple[Parcel, ...]) -> Vector | None:
        """The sum that a courier has brought, added up in the order of its manifest."""
        if total is not None:
            brought: Vector = np.frombuffer(self._files.read(total), self._dtype)
            return brought
        if not parcels:
            return None
        keys = self._keys(parcels)
        added = np.zeros(self._kit.num_params, self._dtype)
        for parcel in parcels:
            _add(added, self._opened(parcel, keys))
        return added

    def _commit(self, decision: Decision[_A]) -> _A:
        self._store.commit(decision.changes)
        return decision.answer


def _add(total: Vector, vector: Vector) -> None:
    """In place. Whether the model is still finite is checked when it is merged."""
    with np.errstate(over="ignore", invalid="ignore"):
        np.add(total, vector, out=total)


def _is_signed(parcel: Parcel, key: str, run: str) -> bool:
    try:
        verify_parcel(public_key(key), run, parcel)
    except UntrustedError:
        return False
    return True
