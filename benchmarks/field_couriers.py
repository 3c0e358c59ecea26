"""Couriers that are all home at once, in one process: real HTTPS, real parcels, no flying.

A round is what a server sees of a tour: everybody announces a manifest, pushes what is missing,
returns, and departs again with the next model. Parcels are made before the clock starts.
"""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import aiohttp
import numpy as np
from field_kits import Kits, Load

from flexpress.field.calling import Patience, ask, open_session
from flexpress.field.messages import (
    Departing,
    Manifest,
    Missing,
    Orders,
    Parcel,
    Receipt,
    Snapshot,
    UpdateName,
    Wait,
    decode,
)
from flexpress.field.sealing import make_parcel, public_seal_key
from flexpress.field.tls import caller_context
from flexpress.field.transfer import push

_T = TypeVar("_T")
_PATIENT = Patience(total=1e6, silence=600.0)

Times = dict[str, list[float]]
"""Seconds of each call, by what was asked."""


@dataclass
class Courier:
    """One that the driver plays, with the clients whose parcels it carries."""

    name: str
    session: aiohttp.ClientSession
    home: str
    incarnations: dict[str, str]
    snapshot: Snapshot | None = None
    before: Snapshot | None = None
    orders: Orders | None = None
    manifest: Manifest | None = None
    contents: dict[str, Path] = field(default_factory=dict)


class Driver:
    """All couriers of a load. Use `drive`."""

    def __init__(self, load: Load, kits: Kits, folder: Path, couriers: Sequence[Courier]) -> None:
        self._load, self._kits, self._folder, self.couriers = load, kits, folder, couriers
        self._seal_to = public_seal_key(kits.seal_key) if load.payload == "parcel" else None
        self._vector = np.random.default_rng(1).normal(0, 1e-3, load.num_params).astype("<f4")
        self.times: Times = defaultdict(list)

    async def depart(self) -> None:
        await self._all(self._depart)

    async def deliver(self) -> None:
        """From the manifests to the next orders: what was delivered is merged then, or about to."""
        await self._all(self._deliver)

    def prepare(self) -> None:
        """Everybody's updates of this tour, signed and sealed."""
        for courier in self.couriers:
            self._prepare(courier)

    async def _all(self, function: Callable[[Courier], Awaitable[None]]) -> None:
        await asyncio.gather(*(function(each) for each in self.couriers))

    async def _depart(self, courier: Courier) -> None:
        url, question = f"{courier.home}/depart", Departing(self._kits.run)
        while True:
            begun = time.perf_counter()
            answer: Orders | Wait = await ask(
                courier.session, url, question, Orders, Wait, silence=600.0
            )
            if isinstance(answer, Orders):
                break
            await asyncio.sleep(answer.seconds)
        self.times["depart"].append(time.perf_counter() - begun)
        courier.orders = answer
        courier.before = courier.snapshot
        courier.snapshot = decode(answer.snapshot.snapshot.encode(), Snapshot)
        await self._timed("model", self._load_model(courier, courier.snapshot.model))

    async def _load_model(self, courier: Courier, sha: str) -> None:
        async with courier.session.get(f"{courier.home}/models/{sha}") as response:
            digest = hashlib.sha256(await response.read()).hexdigest()
        assert digest == sha, "the model is damaged"

    def _prepare(self, courier: Courier) -> None:
        snapshot, before = courier.snapshot, courier.before
        assert snapshot is not None
        for path in courier.contents.values():
            path.unlink(missing_ok=True)
        courier.contents = {}
        parcels: list[Parcel] = []
        total = np.zeros_like(self._vector)
        for number, (client, key) in enumerate(self._kits.clients[courier.name].items()):
            self._vector[:2] = int(courier.name.rpartition("-")[2]), number  # its own
            total += self._vector
            parcel, pieces = make_parcel(
                key,
                self._kits.run,
                self._vector.tobytes(),
                name=UpdateName(client, courier.incarnations[client], snapshot.round + 1),
                tour=before.tour if before else 0,
                version=before.version if before else 0,
                round=before.round if before else -1,
                steps=1,
                seal_to=self._seal_to,
            )
            parcels.append(parcel)
            if self._seal_to is not None:
                self._keep(courier, parcel.content, b"".join(pieces))
        added = None
        if self._seal_to is None:
            content = total.tobytes()
            added = hashlib.sha256(content).hexdigest()
            self._keep(courier, added, content)
        courier.manifest = Manifest(self._kits.run, snapshot.tour, tuple(parcels), added)

    def _keep(self, courier: Courier, sha: str, content: bytes) -> None:
        path = self._folder / f"{courier.name}-{sha}"
        path.write_bytes(content)
        courier.contents[sha] = path

    async def _deliver(self, courier: Courier) -> None:
        manifest = courier.manifest
        assert manifest is not None
        session, url = courier.session, f"{courier.home}/tours/{manifest.tour}"
        missing = await self._timed(
            "manifest", ask(session, f"{url}/manifest", manifest, Missing, silence=600.0)
        )
        for sha, offset in missing.contents:
            place, path = f"{url}/contents/{sha}", courier.contents[sha]
            pushed = push(session, place, path, offset=offset, patience=_PATIENT)
            await self._timed("content", pushed)
        await self._timed("return", ask(session, f"{url}/return", manifest, Receipt, silence=600.0))
        await self._depart(courier)

    async def _timed(self, name: str, call: Awaitable[_T]) -> _T:
        begun = time.perf_counter()
        answer = await call
        self.times[name].append(time.perf_counter() - begun)
        return answer


@asynccontextmanager
async def drive(load: Load, kits: Kits, folder: Path) -> AsyncIterator[Driver]:
    """Couriers with a connection of their own each."""
    async with AsyncExitStack() as stack:
        couriers = []
        for name, kit in kits.couriers.items():
            session = open_session(caller_context(kit), {"server": "127.0.0.1"})
            await stack.enter_async_context(session)
            incarnations = {client: secrets.token_hex(8) for client in kits.clients[name]}
            home = f"https://server:{kits.port}/courier"
            couriers.append(Courier(name, session, home, incarnations))
        yield Driver(load, kits, folder, couriers)
