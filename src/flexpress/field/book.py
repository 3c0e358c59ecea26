"""The server's rules: S1 depart, S2 return, S3 void; and what a mission and an operator ask for.

S2 is in `returns`, with the reason why no update counts twice.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from flexpress.field.book_rows import (
    COUNTER,
    HOMES,
    MEMBERS,
    PROGRESS,
    RELEASED,
    SEEN,
    TOURS,
    VERSIONS,
    HomeRow,
    MemberRow,
    ProgressRow,
    ReleasedRow,
    TourRow,
    VersionRow,
)
from flexpress.field.messages import Payload, Snapshot, Stop, Wait
from flexpress.field.returns import Returns
from flexpress.field.tables import Change, Decision, Refused, Tables

_FAR = 1_000_000
"""Tours that are surely not flown between two copies of the server."""


class ServerBook(Returns):
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
        size = model_size if content_size is None else content_size
        super().__init__(tables, run, payload, model_size, size)
        self._wait_seconds = wait_seconds

    def depart(self, courier: str, now: float = 0.0) -> Decision[Snapshot | Wait]:
        """S1. Its open tour again, with what is known now; else a new one, if it is released."""
        self.member(courier, "courier")
        released = RELEASED.rows(self._tables).get(courier)
        if released is None:
            return self._wait("its first round is not due yet")
        if released.tour is not None:
            row = self.tour(released.tour)
            if row.state != "open":
                return self._wait(f"round {released.round + 1:,} is not due yet")
            return Decision((), self._snapshot(released.tour, row))
        tour, row, changes = self._departed(courier, released, now)
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

    def release(self, courier: str, number: int, version: int) -> Decision[None]:
        """The courier may fly this round with this version. Once more: nothing changes.

        Until it departs, a newer version may take the place of this one. The rounds of a courier
        that is revoked are void at once, so that nobody waits for them.
        """
        member = MEMBERS.rows(self._tables).get(courier)
        if member is None or member.role != "courier":
            raise Refused(404, f"{courier} is not a courier of this run")
        self.model(version)
        new, before = ReleasedRow(number, version), RELEASED.rows(self._tables).get(courier)
        if before is not None:
            if (before.round, before.version) == (number, version):
                return Decision((), None)
            waits = before.tour is None
            newer = waits and number == before.round and version > before.version
            if not newer and (number <= before.round or waits or self._is_out(before)):
                raise Refused(409, f"{courier}: round {number} cannot follow {before.round} now")
        if member.revoked:
            return Decision(self._voided_round(courier, new), None)
        return Decision((RELEASED.put(courier, new),), None)

    def void(self, tour: int) -> Decision[None]:
        """S3. The tour will never be accepted. Once more: nothing changes."""
        row = self.tour(tour)
        if row.state == "accepted":
            raise Refused(409, f"tour {tour} was accepted; it cannot be voided")
        if row.state == "void":
            return Decision((), None)
        return Decision(self._voided(tour, row), None)

    def void_round(self, courier: str) -> Decision[None]:
        """S3 for the round that the courier may fly, whether it has departed or not."""
        released = RELEASED.rows(self._tables).get(courier)
        if released is None:
            raise Refused(404, f"{courier} has no round to void")
        if released.tour is not None:
            return self.void(released.tour)
        return Decision(self._voided_round(courier, released), None)

    def restored(self, now: float) -> Decision[int]:
        """The tables are an old copy: no number of a tour that was given since is given again.

        Tours are counted on from far above; the answer is the next. `now` is the computer's time:
        if the same copy is restored twice, numbers are above those of the first time. Tours that
        are open in the copy are void: who is out forgets them, as those of after the copy, and
        clients hand over again what the copy has not seen.
        """
        counter = self.counter
        first = max(counter.next_tour + _FAR, int(now))
        changes: list[Change] = [COUNTER.put("", replace(counter, next_tour=first))]
        for tour, row in self.open_tours().items():
            changes += self._voided(tour, row)
        return Decision(tuple(changes), first)

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
        """A new member, or a change: another courier visits the client, at another address.

        A client of which an update has come keeps its key: else its outbox would be worth nothing.
        """
        known = MEMBERS.rows(self._tables).get(name)
        if known is not None and (known.role != row.role or known.revoked != row.revoked):
            raise Refused(409, f"{name} keeps its role and stays revoked; choose another name")
        if known is not None and known.public_key != row.public_key and self._has_come(name):
            raise Refused(409, f"{name} is at work with another key; choose another name")
        return Decision(() if known == row else (MEMBERS.put(name, row),), None)

    def move(self, client: str, courier: str) -> Decision[None]:
        """This courier visits the client from its next departure on, after all its others.

        A tour under way stays as it is: the courier that visited the client so far may come once
        more, and what it brings counts. An update is bound to one tour, whoever flies it.
        """
        row = self.member(client, "client")
        self.member(courier, "courier")
        if row.courier == courier:
            return Decision((), None)
        members = MEMBERS.rows(self._tables).values()
        others = [each for each in members if each.role == "client" and each.courier == courier]
        order = max((each.order + 1 for each in others), default=0)
        seconds = max((each.seconds for each in others), default=0.0)
        moved = replace(row, courier=courier, order=order, seconds=seconds)
        return Decision((MEMBERS.put(client, moved),), None)

    def revoke(self, name: str) -> Decision[None]:
        """For ever. The round of a courier becomes void, unless it is closed."""
        row = MEMBERS.rows(self._tables).get(name)
        if row is None:
            raise Refused(404, f"{name} is not a member")
        if row.revoked:
            return Decision((), None)
        changes: list[Change] = [MEMBERS.put(name, replace(row, revoked=True))]
        released = RELEASED.rows(self._tables).get(name)
        if released is not None and (released.tour is None or self._is_out(released)):
            changes += self.void_round(name).changes
        return Decision(tuple(changes), None)

    def _has_come(self, client: str) -> bool:
        return any(seen.client == client for seen in SEEN.rows(self._tables).values())

    def _departed(
        self, courier: str, released: ReleasedRow, now: float = 0.0
    ) -> tuple[int, TourRow, tuple[Change, ...]]:
        """A new tour for this round."""
        counter = self.counter
        tour, model = counter.next_tour, self.model(released.version)
        row = TourRow(courier, released.round, released.version, model, since=now)
        changes = (
            COUNTER.put("", replace(counter, next_tour=tour + 1)),
            TOURS.put(str(tour), row),
            RELEASED.put(courier, replace(released, tour=tour)),
        )
        return tour, row, changes

    def _voided(self, tour: int, row: TourRow) -> tuple[Change, ...]:
        return self._close(tour, row, HomeRow(row.courier, row.round, tour, "void"), None)

    def _voided_round(self, courier: str, released: ReleasedRow) -> tuple[Change, ...]:
        """Of a courier that has not departed: a tour that is void from the beginning."""
        tour, row, changes = self._departed(courier, released)
        return (*changes, *self._voided(tour, row))

    def _wait(self, reason: str) -> Decision[Snapshot | Wait]:
        if self.progress.over:
            return Decision((), Wait(0.0, "the mission has ended", over=True))
        return Decision((), Wait(self._wait_seconds, reason))

    def _snapshot(self, tour: int, row: TourRow) -> Snapshot:
        """Revoked clients refuse it: what was seen of theirs need not be in it."""
        members = MEMBERS.rows(self._tables)
        revoked = {name for name, member in members.items() if member.revoked}
        seen = sorted(SEEN.rows(self._tables).items())
        return Snapshot(
            run=self._run,
            tour=tour,
            courier=row.courier,
            round=row.round,
            version=row.version,
            model=row.model,
            next_tour=max(self.counter.next_tour, tour + 1),
            open_tours=tuple(sorted({*self.open_tours(), tour})),
            seen=tuple(row for _, row in seen if row.client not in revoked),
            revoked=tuple(sorted(revoked)),
        )
