"""S2: a tour comes home. The parcels of a manifest count once, or the tour is refused.

Why a legitimate run never brings an update twice, so that a courier may add up without regret:
a client binds an update to one tour t before it hands it over, and to another one only when a
snapshot says that t is closed and the update is not seen. A snapshot is one state of this book. If
t was accepted with the update, the same snapshot shows it as seen, and the client deletes it. If t
is void, or was accepted without it, no later manifest of t is taken. So an update that is seen and
comes again is a replay, or comes from a database that was restored from an old copy. It does not
count again: of parcels it is left out; a sum cannot be taken apart, and its tour is refused (422).
It is for the operator, or a time-out, to void it: then clients send the rest of it again.

A courier forgets its hold on a receipt, and on 409 and 410: its tour is closed, and what is in the
hold and was not accepted is still with the clients. On any other refusal it keeps it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

from msgspec.structs import replace

from flexpress.field.book_reader import BookReader
from flexpress.field.book_rows import (
    ANNOUNCED,
    HOMES,
    MEMBERS,
    REFUSED,
    SEEN,
    TOURS,
    AnnouncedRow,
    HomeRow,
    RefusedRow,
    TourRow,
    home_key,
    seen_key,
)
from flexpress.field.messages import Manifest, Missing, Parcel, Payload, Receipt, Seen, UpdateName
from flexpress.field.tables import Change, Decision, Refused, Tables


class Returns(BookReader):
    """The part of the server's book about couriers that come home."""

    def __init__(
        self, tables: Tables, run: str, payload: Payload, model_size: int, content_size: int
    ) -> None:
        super().__init__(tables)
        self._run = run
        self._payload = payload
        self._model_size = model_size
        self._content_size = content_size

    def announce(
        self,
        courier: str,
        manifest: Manifest,
        manifest_digest: str,
        offset: Callable[[str], int | None],
        unproven: Collection[UpdateName] = (),
    ) -> Decision[Missing]:
        """What the server still needs; `offset` says from where on, or None if it has a content.

        Contents of `unproven` ones, which bear no signature of their client, are not wanted: else
        a courier could fill the disk with updates of its own.
        """
        row = self._own_tour(courier, manifest, manifest_digest)
        if row.state == "accepted":
            return Decision((), Missing(()))
        new = [parcel for parcel in self._new(manifest) if parcel.name not in unproven]
        if self._payload == "sum":
            self._check_sum(manifest, unproven)
            sizes = {manifest.total: self._model_size} if manifest.total else {}
        else:
            sizes = {parcel.content: parcel.size for parcel in new}
        offsets = ((sha, offset(sha)) for sha in sizes)
        missing = tuple((sha, begin) for sha, begin in offsets if begin is not None)
        key, announced = str(manifest.tour), AnnouncedRow(tuple(sizes.items()))
        known = ANNOUNCED.rows(self._tables).get(key) == announced
        return Decision(() if known else (ANNOUNCED.put(key, announced),), Missing(missing))

    def expects(self, courier: str, tour: int, sha: str) -> int:
        """The size of a content that this courier announced for its open tour."""
        row = self._tour_of(courier, tour)
        if row.state != "open":
            raise Refused(410, f"tour {tour} is closed")
        announced = ANNOUNCED.rows(self._tables).get(str(tour))
        size = None if announced is None else announced.size(sha)
        if size is None:
            raise Refused(404, f"tour {tour} has not announced this content; send its manifest")
        return size

    def fresh(self, courier: str, manifest: Manifest, manifest_digest: str) -> tuple[Parcel, ...]:
        """The parcels whose contents are to be checked before `accept`: none was seen before."""
        row = self._own_tour(courier, manifest, manifest_digest)
        return () if row.state == "accepted" else self._new(manifest)

    def accept(
        self,
        courier: str,
        manifest: Manifest,
        manifest_digest: str,
        total: str | None,
        refused: Mapping[UpdateName, str],
        unproven: Collection[UpdateName] = (),
        *,
        added: str | None = None,
    ) -> Decision[Receipt]:
        """S2. Its contents are here and durable; `refused` ones will never count, and why.

        `added` is the sum of parcels that do count, in their order, if the server has it already:
        then their contents are needed no more.

        `unproven` ones bear no valid signature of their client, or are not what it signed: they
        get no verdict, so that a courier cannot make a client forget what it never handed over.
        """
        row = self._own_tour(courier, manifest, manifest_digest)
        receipt = Receipt(self._run, manifest.tour, manifest_digest)
        if row.state == "accepted":
            return Decision((), receipt)
        new = self._new(manifest)
        if total != manifest.total:
            raise Refused(422, f"tour {manifest.tour}: the sum is not the one in the manifest")
        if self._payload == "sum":
            self._check_sum(manifest, {*refused, *unproven})
        proven = [parcel for parcel in new if parcel.name not in unproven]
        taken = tuple(parcel for parcel in proven if parcel.name not in refused)
        home = HomeRow(courier, row.round, manifest.tour, "accepted", total or added, taken)
        changes = (
            *self._close(manifest.tour, row, home, manifest_digest),
            *self._mark_seen(parcel.name for parcel in proven),
            *(
                REFUSED.put(p.name.key, RefusedRow(manifest.tour, refused[p.name]))
                for p in proven
                if p.name in refused
            ),
        )
        return Decision(changes, receipt)

    def _own_tour(self, courier: str, manifest: Manifest, manifest_digest: str) -> TourRow:
        """The courier's tour: open, or accepted with this manifest."""
        if manifest.run != self._run:
            raise Refused(403, "the manifest is of another run")
        row = self._tour_of(courier, manifest.tour)
        if row.state == "void":
            raise Refused(410, f"tour {manifest.tour} is void; forget it and depart again")
        if row.state == "accepted" and row.manifest != manifest_digest:
            raise Refused(409, f"tour {manifest.tour} was accepted with another manifest")
        return row

    def _tour_of(self, courier: str, tour: int) -> TourRow:
        """Refused (410) if it is of a future that a server restored from a copy knows nothing of.

        Nobody else has such a tour; it will never be accepted, so its courier may forget it.
        """
        self.member(courier, "courier")
        row = TOURS.rows(self._tables).get(str(tour))
        if row is None:
            raise Refused(410, f"there is no tour {tour}; forget it and depart again")
        if row.courier != courier:
            raise Refused(403, f"tour {tour} is not one of {courier}")
        return row

    def _new(self, manifest: Manifest) -> tuple[Parcel, ...]:
        """What may count. What was seen is left out, and so are clients that are revoked.

        They get no verdict: they hear none, and anybody could send any name of theirs.
        """
        self._check(manifest)
        members = MEMBERS.rows(self._tables)
        allowed = [p for p in manifest.parcels if not members[p.name.client].revoked]
        new = tuple(parcel for parcel in allowed if not self.has_seen(parcel.name))
        if self._payload == "sum" and len(new) < len(manifest.parcels):
            twice = len(allowed) == len(manifest.parcels)
            reason = "has an update twice" if twice else "has an update of a revoked client"
            raise Refused(422, f"the sum of tour {manifest.tour} {reason}; void the tour")
        return new

    def _check(self, manifest: Manifest) -> None:
        """Refused if no courier that keeps to the rules could have written it."""
        adds_up = self._payload == "sum" and bool(manifest.parcels)
        if (manifest.total is not None) != adds_up:
            raise Refused(422, f"this run carries updates as {self._payload}")
        names = {parcel.name for parcel in manifest.parcels}
        if len(names) < len(manifest.parcels):
            raise Refused(422, "the manifest has an update twice")
        members = MEMBERS.rows(self._tables)
        for parcel in manifest.parcels:
            member = members.get(parcel.name.client)
            if member is None or member.role != "client":
                raise Refused(422, f"{parcel.name.client} is not a client of this run")
            if parcel.size != self._content_size:
                limit = f"must have {self._content_size:,} bytes"
                raise Refused(413, f"update {parcel.name.key}: {parcel.size:,}; {limit}")
            if parcel.tour >= self.counter.next_tour:
                raise Refused(422, f"update {parcel.name.key}: there is no tour {parcel.tour}")

    def _check_sum(self, manifest: Manifest, bad: Collection[UpdateName]) -> None:
        """It cannot be taken apart: all of it must be what clients have signed."""
        if bad:
            reason = f"{min(bad).key} in the sum is not what its client has signed; void the tour"
            raise Refused(422, f"tour {manifest.tour}: {reason}")

    def _close(
        self, tour: int, row: TourRow, home: HomeRow, manifest_digest: str | None
    ) -> tuple[Change, ...]:
        announced = str(tour) in ANNOUNCED.rows(self._tables)
        return (
            TOURS.put(str(tour), replace(row, state=home.state, manifest=manifest_digest)),
            HOMES.put(home_key(row.courier, row.round), home),
            *((ANNOUNCED.delete(str(tour)),) if announced else ()),
        )

    def _mark_seen(self, names: Iterable[UpdateName]) -> tuple[Change, ...]:
        marked: dict[str, Seen] = {}
        for name in names:
            key = seen_key(name)
            before = marked.get(key, SEEN.rows(self._tables).get(key))
            if before is None:
                before = Seen(name.client, name.incarnation, 0)
            marked[key] = before.adding([name.sequence])
        return tuple(SEEN.put(key, row) for key, row in marked.items())
