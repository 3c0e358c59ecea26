"""The server's rules: S1 depart, S2 return, S3 void; and what a mission and an operator ask for.

Why a legitimate run never brings an update twice, so that a courier may add up without regret:
a client binds an update to one tour t before it hands it over, and to another one only when a
snapshot says that t is closed and the update is not seen. A snapshot is one state of this book. If
t was accepted with the update, the same snapshot shows it as seen, and the client deletes it. If t
is void, or was accepted without it, no later manifest of t is taken. So an update that is seen and
comes again is a replay, or comes from a database that was restored from an old copy. It does not
count again: of parcels it is left out; a sum cannot be taken apart, and its tour is refused (409).
It is for the operator, or a time-out, to void it: then clients send the rest of it again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Literal

from msgspec.structs import replace

from flexpress.field.book_rows import (
    ANNOUNCED,
    COUNTER,
    HOMES,
    MEMBERS,
    PROGRESS,
    REFUSED,
    RELEASED,
    SEEN,
    TOURS,
    VERSIONS,
    AnnouncedRow,
    CounterRow,
    HomeRow,
    MemberRow,
    ProgressRow,
    RefusedRow,
    ReleasedRow,
    TourRow,
    VersionRow,
    home_key,
    seen_key,
)
from flexpress.field.messages import (
    Manifest,
    Missing,
    Parcel,
    Receipt,
    Seen,
    Snapshot,
    Stop,
    UpdateName,
    Wait,
)
from flexpress.field.tables import Change, Decision, Refused, Tables

Payload = Literal["parcel", "sum"]

REVOKED = "its client is revoked"


class ServerBook:
    """Reads the server's tables and decides; changes nothing."""

    def __init__(
        self,
        tables: Tables,
        run: str,
        payload: Payload,
        model_size: int,
        *,
        content_size: int | None = None,
        wait_seconds: float = 5.0,
    ) -> None:
        """Sizes in bytes. Contents of parcels are as large as models, or larger if sealed."""
        self._tables = tables
        self._run = run
        self._payload = payload
        self._model_size = model_size
        self._content_size = model_size if content_size is None else content_size
        self._wait_seconds = wait_seconds

    # What a courier asks for

    def depart(self, courier: str) -> Decision[Snapshot | Wait]:
        """S1. Its open tour again, with what is known now; else a new one, if it is released."""
        self.member(courier, "courier")
        released = RELEASED.rows(self._tables).get(courier)
        if released is None:
            return self._wait("its first round is not due yet")
        if released.tour is not None:
            row = self._tour(released.tour)
            if row.state != "open":
                return self._wait(f"round {released.round + 1:,} is not due yet")
            return Decision((), self._snapshot(released.tour, row))
        counter = self.counter
        tour, model = counter.next_tour, self.model(released.version)
        row = TourRow(courier, released.round, released.version, model)
        changes = (
            COUNTER.put("", replace(counter, next_tour=tour + 1)),
            TOURS.put(str(tour), row),
            RELEASED.put(courier, replace(released, tour=tour)),
        )
        return Decision(changes, self._snapshot(tour, row))

    def stops(self, courier: str) -> tuple[Stop, ...]:
        """The clients that it visits, in the order of the tour."""
        rows = [
            (row.order, name, row)
            for name, row in MEMBERS.rows(self._tables).items()
            if row.role == "client" and row.courier == courier and not row.revoked
        ]
        rows.sort(key=lambda entry: entry[:2])
        return tuple(Stop(name, row.host, row.port, row.seconds) for _, name, row in rows)

    def announce(
        self, courier: str, manifest: Manifest, manifest_digest: str, have: Callable[[str], int]
    ) -> Decision[Missing]:
        """What the server still needs; `have` says how many bytes of a content there are."""
        row = self._own_tour(courier, manifest, manifest_digest)
        if row.state == "accepted":
            return Decision((), Missing(()))
        new, _ = self._sorted_out(manifest)
        if self._payload == "sum":
            sizes = {manifest.total: self._model_size} if manifest.total else {}
        else:
            sizes = {parcel.content: parcel.size for parcel in new}
        here = {sha: have(sha) for sha in sizes}
        missing = tuple((sha, here[sha]) for sha, size in sizes.items() if here[sha] < size)
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
        return () if row.state == "accepted" else self._sorted_out(manifest)[0]

    def accept(
        self,
        courier: str,
        manifest: Manifest,
        manifest_digest: str,
        total: str | None,
        refused: Mapping[UpdateName, str],
        unproven: Collection[UpdateName] = (),
    ) -> Decision[Receipt]:
        """S2. Its contents are here and durable; `refused` ones will never count, and why.

        `unproven` ones bear no valid signature of their client, or are not what it signed: they
        get no verdict, so that a courier cannot make a client forget what it never handed over.
        """
        row = self._own_tour(courier, manifest, manifest_digest)
        receipt = Receipt(self._run, manifest.tour, manifest_digest)
        if row.state == "accepted":
            return Decision((), receipt)
        new, revoked = self._sorted_out(manifest)
        if total != manifest.total:
            raise Refused(422, f"tour {manifest.tour}: the sum is not the one in the manifest")
        if self._payload == "sum" and (refused or unproven):
            raise Refused(422, f"tour {manifest.tour}: an update in the sum is not valid")
        verdicts = dict.fromkeys((parcel.name for parcel in revoked), REVOKED) | dict(refused)
        proven = [p for p in (*new, *revoked) if p.name not in unproven]
        taken = tuple(p for p in new if p.name not in unproven and p.name not in refused)
        home = HomeRow(courier, row.round, manifest.tour, "accepted", total, taken)
        changes = (
            *self._close(manifest.tour, row, home, manifest_digest),
            *self._mark_seen(parcel.name for parcel in proven),
            *(
                REFUSED.put(p.name.key, RefusedRow(manifest.tour, verdicts[p.name]))
                for p in proven
                if p.name in verdicts
            ),
        )
        return Decision(changes, receipt)

    # What the mission and the operator ask for

    def release(self, courier: str, number: int, version: int) -> Decision[None]:
        """The courier may fly this round with this version. Once more: nothing changes."""
        self.member(courier, "courier")
        self.model(version)
        released = RELEASED.rows(self._tables).get(courier)
        if released is not None:
            if (released.round, released.version) == (number, version):
                return Decision((), None)
            if number <= released.round or self._is_out(released):
                raise Refused(409, f"{courier} has not closed round {released.round} yet")
        return Decision((RELEASED.put(courier, ReleasedRow(number, version)),), None)

    def void(self, tour: int) -> Decision[None]:
        """S3. The tour will never be accepted. Once more: nothing changes."""
        row = self._tour(tour)
        if row.state == "accepted":
            raise Refused(409, f"tour {tour} was accepted; it cannot be voided")
        if row.state == "void":
            return Decision((), None)
        home = HomeRow(row.courier, row.round, tour, "void")
        return Decision(self._close(tour, row, home, None), None)

    def merged(
        self, version: int, model: str, homes: Iterable[str], progress: ProgressRow
    ) -> Decision[None]:
        """A new version out of these homes ("courier/round"), which are thereby done with."""
        latest = self.counter.version
        if version != latest + 1:
            raise Refused(409, f"version {version} does not follow version {latest}")
        keys = tuple(homes)
        for key in keys:
            if key not in HOMES.rows(self._tables):
                raise Refused(404, f"{key} has not brought anything that is not merged")
        changes: tuple[Change, ...] = (
            VERSIONS.put(str(version), VersionRow(model)),
            COUNTER.put("", replace(self.counter, version=version)),
            *(HOMES.delete(key) for key in keys),
            PROGRESS.put("", progress),
        )
        return Decision(changes, None)

    def note(self, progress: ProgressRow) -> Decision[None]:
        """Progress without a new version."""
        return Decision((PROGRESS.put("", progress),), None)

    def enrol(self, name: str, row: MemberRow) -> Decision[None]:
        """A new member, or a change: another courier visits the client, at another address."""
        known = MEMBERS.rows(self._tables).get(name)
        if known is not None and (known.role != row.role or known.revoked != row.revoked):
            raise Refused(409, f"{name} keeps its role and stays revoked; choose another name")
        return Decision(() if known == row else (MEMBERS.put(name, row),), None)

    def revoke(self, name: str) -> Decision[None]:
        """For ever. The open tour of a courier becomes void."""
        row = MEMBERS.rows(self._tables).get(name)
        if row is None:
            raise Refused(404, f"{name} is not a member")
        if row.revoked:
            return Decision((), None)
        released = RELEASED.rows(self._tables).get(name)
        changes: list[Change] = [MEMBERS.put(name, replace(row, revoked=True))]
        if released is not None and released.tour is not None and self._is_out(released):
            changes += self.void(released.tour).changes
        return Decision(tuple(changes), None)

    # What can be looked up

    def member(self, name: str, role: str) -> MemberRow:
        """Refused (403) unless it is a member of this role and not revoked."""
        row = MEMBERS.rows(self._tables).get(name)
        if row is None or row.role != role:
            raise Refused(403, f"{name} is not a {role} of this run")
        if row.revoked:
            raise Refused(403, f"{name} is revoked")
        return row

    @property
    def counter(self) -> CounterRow:
        return COUNTER.rows(self._tables).get("", CounterRow())

    @property
    def progress(self) -> ProgressRow:
        return PROGRESS.rows(self._tables).get("", ProgressRow())

    def model(self, version: int) -> str:
        """The digest of this version."""
        row = VERSIONS.rows(self._tables).get(str(version))
        if row is None:
            raise Refused(404, f"there is no version {version}")
        return row.model

    def open_tours(self) -> dict[int, TourRow]:
        """At most one of each courier."""
        released = RELEASED.rows(self._tables).values()
        tours = sorted(r.tour for r in released if r.tour is not None and self._is_out(r))
        return {tour: self._tour(tour) for tour in tours}

    def files(self) -> set[str]:
        """Digests of all files that are still needed; the others may go."""
        released = RELEASED.rows(self._tables).values()
        versions = {r.version for r in released if r.tour is None or self._is_out(r)}
        needed = {self.model(version) for version in versions}
        if self.counter.version >= 0:
            needed.add(self.model(self.counter.version))
        for row in ANNOUNCED.rows(self._tables).values():
            needed.update(sha for sha, _ in row.contents)
        for home in HOMES.rows(self._tables).values():
            needed.update([home.total] if home.total else [p.content for p in home.parcels])
        return needed

    # How it is decided

    def _wait(self, reason: str) -> Decision[Snapshot | Wait]:
        if self.progress.over:
            return Decision((), Wait(0.0, "the mission has ended", over=True))
        return Decision((), Wait(self._wait_seconds, reason))

    def _snapshot(self, tour: int, row: TourRow) -> Snapshot:
        seen, members = SEEN.rows(self._tables), MEMBERS.rows(self._tables)
        return Snapshot(
            run=self._run,
            tour=tour,
            courier=row.courier,
            round=row.round,
            version=row.version,
            model=row.model,
            next_tour=max(self.counter.next_tour, tour + 1),
            open_tours=tuple(sorted({*self.open_tours(), tour})),
            seen=tuple(seen[key] for key in sorted(seen)),
            revoked=tuple(sorted(name for name, member in members.items() if member.revoked)),
        )

    def _tour(self, tour: int) -> TourRow:
        row = TOURS.rows(self._tables).get(str(tour))
        if row is None:
            raise Refused(404, f"there is no tour {tour}")
        return row

    def _tour_of(self, courier: str, tour: int) -> TourRow:
        self.member(courier, "courier")
        row = self._tour(tour)
        if row.courier != courier:
            raise Refused(403, f"tour {tour} is not one of {courier}")
        return row

    def _is_out(self, released: ReleasedRow) -> bool:
        return released.tour is not None and self._tour(released.tour).state == "open"

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

    def _sorted_out(self, manifest: Manifest) -> tuple[tuple[Parcel, ...], tuple[Parcel, ...]]:
        """New parcels, and new ones of revoked clients. Seen ones are left out."""
        self._check(manifest)
        members = MEMBERS.rows(self._tables)
        unseen = [parcel for parcel in manifest.parcels if not self.has_seen(parcel.name)]
        new = tuple(p for p in unseen if not members[p.name.client].revoked)
        revoked = tuple(p for p in unseen if members[p.name.client].revoked)
        if self._payload == "sum" and len(new) < len(manifest.parcels):
            reason = "has an update of a revoked client" if revoked else "has an update twice"
            raise Refused(409, f"the sum of tour {manifest.tour} {reason}; void the tour")
        return new, revoked

    def has_seen(self, name: UpdateName) -> bool:
        row = SEEN.rows(self._tables).get(seen_key(name))
        return row is not None and name.sequence in row

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
