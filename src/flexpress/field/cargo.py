"""The contents of a courier's hold: added up if that is the payload, sealed, and checked.

A memory card may lose what was durable. A content that is damaged is dropped: its client has it
until the server has seen it, and hands it over again on a later tour.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable
from typing import Any, Protocol

import numpy as np

from flexpress.errors import InputError
from flexpress.field.hold import CourierHold
from flexpress.field.kit import CourierKit
from flexpress.field.log import Log
from flexpress.field.messages import Manifest, Parcel
from flexpress.field.room import Room
from flexpress.field.store import Files
from flexpress.field.tables import Decision
from flexpress.field.vectors import bytes_of


class Commit(Protocol):
    """Makes a decision durable; its answer."""

    def __call__(self, decision: Decision[Any]) -> Awaitable[Any]: ...


class Cargo:
    """Of this hold; its changes are committed by the courier."""

    def __init__(
        self,
        kit: CourierKit,
        hold: CourierHold,
        files: Files,
        room: Room,
        log: Log,
        commit: Commit,
    ) -> None:
        self._kit, self._hold, self._files = kit, hold, files
        self._room, self._log, self._commit = room, log, commit

    async def seal(self) -> Manifest:
        """From now on the hold does not change."""
        while True:
            parcels = self._hold.parcels()
            try:
                total = await self._total(parcels)
                break
            except InputError:
                if not await self.drop_damaged():
                    raise
        manifest: Manifest = await self._commit(self._hold.seal(total))
        self._log("sealed", tour=manifest.tour, parcels=len(parcels))
        return manifest

    async def drop_damaged(self) -> bool:
        """False if nothing is. Otherwise the hold is to be sealed again."""
        contents = self._hold.files() - {self._hold.snapshot.model}
        damaged = await asyncio.to_thread(self._damaged, contents)
        if not damaged:
            return False
        lost = [parcel.name for parcel in self._hold.parcels() if parcel.content in damaged]
        await self._commit(self._hold.drop(lost))
        self._files.remove(damaged)
        for name in lost:
            reason = "its file is damaged; its client hands it over again"
            self._log("dropped", update=name.key, reason=reason)
        return True

    def _damaged(self, contents: Iterable[str]) -> set[str]:
        return {sha for sha in contents if not self._files.is_whole(sha)}

    async def _total(self, parcels: tuple[Parcel, ...]) -> str | None:
        if self._kit.payload != "sum" or not parcels:
            return None
        return await self._room.insist(lambda: asyncio.to_thread(self._add_up, parcels))

    def _add_up(self, parcels: Iterable[Parcel]) -> str:
        """The digest of their sum, which is durable."""
        dtype = np.dtype(self._kit.dtype).newbyteorder("<")
        total = np.zeros(self._kit.num_params, dtype)
        for parcel in parcels:
            total += np.frombuffer(self._files.read(parcel.content), dtype)
        return self._files.write(bytes_of(total, dtype))
