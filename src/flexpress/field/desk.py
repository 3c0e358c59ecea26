"""The client's rule: C1 visit. It forgets an update only when the server's snapshot has seen it.

A snapshot may be old. What one says that is closed, seen or revoked stays so; a client keeps what
it has learnt, and an older snapshot teaches it nothing wrong. It starts again from the model of a
tour that is newer than the one that brought its present model. (Not: from a newer version. The
first tours of a mission all bring x^0, and yet each takes home what was trained since the last.)
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from msgspec.structs import replace

from flexpress.field.messages import (
    MOST_PARCELS,
    Count,
    Incarnation,
    Name,
    Parcel,
    Positive,
    Round,
    Sha256,
    Snapshot,
    UpdateName,
    VisitAnswer,
)
from flexpress.field.tables import Change, Decision, Refused, Row, Table, Tables, row_types


class DeskRow(Row, frozen=True):
    """Which database this is, and the name that the next update gets."""

    incarnation: Incarnation
    next_sequence: Positive = 1


class BaseRow(Row, frozen=True):
    """What the client trains from."""

    tour: Count  # that brought the model; 0: x^0 on board
    round: Round
    version: Count
    model: Sha256
    first_step: Count
    since: float  # wall time of the visit, in seconds
    last_update: Sha256 | None = None  # frozen at that visit, for the head start


class OutboxRow(Row, frozen=True):
    """An update that the server has not seen, as far as the client knows."""

    parcel: Parcel
    frozen_by: Positive  # the tour
    bound: Positive | None  # to the only tour that may bring it home


class KnownRow(Row, frozen=True):
    """What snapshots have taught: which tours are closed, and who is revoked."""

    next_tour: Positive = 1
    open_tours: tuple[Positive, ...] = ()
    revoked: tuple[Name, ...] = ()

    def is_closed(self, tour: int) -> bool:
        return tour < self.next_tour and tour not in self.open_tours

    def learning(self, snapshot: Snapshot) -> KnownRow:
        """With what the snapshot says, be it newer or older."""
        either = {*self.open_tours, *snapshot.open_tours}
        still_open = (t for t in either if not (self.is_closed(t) or snapshot.is_closed(t)))
        return KnownRow(
            max(self.next_tour, snapshot.next_tour),
            tuple(sorted(still_open)),
            tuple(sorted({*self.revoked, *snapshot.revoked})),
        )


class ComingRow(Row, frozen=True):
    """A model that a verified snapshot has named: it may be received."""

    model: Sha256


DESK = Table("desk", DeskRow)
BASE = Table("base", BaseRow)
OUTBOX = Table("outbox", OutboxRow)
KNOWN = Table("known", KnownRow)
COMING = Table("coming", ComingRow)

CLIENT_ROWS = row_types(DESK, BASE, OUTBOX, KNOWN, COMING)
"""For `Store.open`."""


LARGEST_OUTBOX = 64
"""Updates that wait at a client, unless its kit says otherwise."""


class Needs(msgspec.Struct, frozen=True):
    """What there must be before `visit`."""

    model: bool  # the snapshot's, as a durable file: the client will train from it
    freeze: BaseRow | None  # the update that was trained from this, as a parcel


class ClientDesk:
    """Reads the client's tables and decides; changes nothing."""

    def __init__(
        self, tables: Tables, run: str, client: str, *, largest_outbox: int = LARGEST_OUTBOX
    ) -> None:
        self._largest_outbox = largest_outbox
        self._tables = tables
        self._run = run
        self._client = client

    # What there is

    @property
    def base(self) -> BaseRow | None:
        """What it trains from; None before the first visit, unless it has x^0 on board."""
        return BASE.rows(self._tables).get("")

    @property
    def coming(self) -> str | None:
        """The digest of the model that it receives."""
        row = COMING.rows(self._tables).get("")
        return None if row is None else row.model

    def next_name(self) -> UpdateName:
        """Of the update that is frozen next."""
        desk = self._desk()
        return UpdateName(self._client, desk.incarnation, desk.next_sequence)

    def hands_over(self, content: str) -> bool:
        """Whether a courier may have it: contents that are bound to a tour."""
        rows = OUTBOX.rows(self._tables).values()
        return any(row.bound is not None and row.parcel.content == content for row in rows)

    def is_revoked(self, peer: str) -> bool:
        """Whether the courier is known to be revoked."""
        return peer in self._known().revoked

    def files(self) -> set[str]:
        """Digests of all files that are still needed; the others may go."""
        needed = {row.parcel.content for row in OUTBOX.rows(self._tables).values()}
        base = self.base
        if base is not None:
            needed |= {base.model, *([base.last_update] if base.last_update else [])}
        return needed | ({self.coming} if self.coming else set())

    # What changes it

    def begin(self, incarnation: str, model: str | None, now: float) -> Decision[None]:
        """A new database, perhaps with x^0 on board. One that has begun stays as it is."""
        if DESK.rows(self._tables):
            return Decision((), None)
        base = () if model is None else (BASE.put("", BaseRow(0, -1, 0, model, 0, now)),)
        return Decision((DESK.put("", DeskRow(incarnation)), *base), None)

    def needs(self, peer: str, snapshot: Snapshot) -> Needs:
        """Of a snapshot whose signature is valid. Refused: as a visit would be.

        If the outbox is full, nothing: training goes on from the present model, so that all steps
        come with a later update. To drop one would lose it, and to add two of them up would change
        what a courier may be carrying already.
        """
        self._check(peer, snapshot)
        base = self.base
        newer = base is None or (snapshot.tour > base.tour and not self._is_full(snapshot))
        return Needs(newer, base if newer else None)

    def expect(self, peer: str, snapshot: Snapshot) -> Decision[None]:
        """Its model may be received. Who is revoked is believed at once: the link may be cut.

        The rest of the snapshot comes with the visit: of a tour that is closed, what it brought
        must be seen in the same step.
        """
        changes: list[Change] = []
        if self.needs(peer, snapshot).model and self.coming != snapshot.model:
            changes.append(COMING.put("", ComingRow(snapshot.model)))
        known = self._known()
        revoked = tuple(sorted({*known.revoked, *snapshot.revoked}))
        if revoked != known.revoked:
            changes.append(KNOWN.put("", replace(known, revoked=revoked)))
        return Decision(tuple(changes), None)

    def visit(
        self, peer: str, snapshot: Snapshot, parcel: Parcel | None, *, now: float, first_step: int
    ) -> Decision[VisitAnswer]:
        """C1. What `needs` asked for is there: the model, and the frozen update as a parcel.

        The parcel is None if nothing is to be frozen, or if not a step was done. Training goes on
        from the new model at `first_step`. Again on the same tour: the same parcels.
        """
        needs = self.needs(peer, snapshot)
        known = self._known().learning(snapshot)
        rows = self._kept(snapshot, known)
        changes: list[Change] = []
        if parcel is not None:
            rows[str(parcel.name.sequence)] = self._frozen(needs, snapshot, parcel)
            desk = self._desk()
            changes.append(DESK.put("", replace(desk, next_sequence=desk.next_sequence + 1)))
        if needs.model:
            changes += self._rebased(snapshot, parcel, now, first_step)
        rows = {key: self._bound(row, snapshot.tour) for key, row in rows.items()}
        changes += self._outbox_changes(rows)
        if known != self._known():
            changes.append(KNOWN.put("", known))
        return Decision(tuple(changes), self._answer(rows, snapshot.tour))

    # How it is decided

    def _desk(self) -> DeskRow:
        return DESK.rows(self._tables)[""]

    def _known(self) -> KnownRow:
        return KNOWN.rows(self._tables).get("", KnownRow())

    def _check(self, peer: str, snapshot: Snapshot) -> None:
        if snapshot.run != self._run:
            raise Refused(403, f"the snapshot is of run {snapshot.run}, not of this one")
        if snapshot.courier != peer:
            raise Refused(403, f"the snapshot is for {snapshot.courier}, not for {peer}")
        if self.is_revoked(peer):
            raise Refused(403, f"{peer} is revoked")
        for name in (peer, self._client):
            if name in snapshot.revoked:
                raise Refused(403, f"{name} is revoked")
        if self._known().is_closed(snapshot.tour) or snapshot.is_closed(snapshot.tour):
            raise Refused(410, f"tour {snapshot.tour} is closed")

    def _kept(self, snapshot: Snapshot, known: KnownRow) -> dict[str, OutboxRow]:
        """The outbox without what was seen; what was bound to a closed tour is free again.

        Both in one step: of a tour that is closed, the snapshot has seen all that it brought.
        """
        has_seen = _sight(snapshot, self._client, self._desk().incarnation)
        kept = {}
        for key, row in OUTBOX.rows(self._tables).items():
            if not has_seen(row.parcel.name.sequence):
                free = row.bound is not None and known.is_closed(row.bound)
                kept[key] = replace(row, bound=None) if free else row
        return kept

    def _is_full(self, snapshot: Snapshot) -> bool:
        """Even without what the snapshot has seen."""
        return len(self._kept(snapshot, self._known())) >= self._largest_outbox

    def _frozen(self, needs: Needs, snapshot: Snapshot, parcel: Parcel) -> OutboxRow:
        """Refused (409) if it is not the one to freeze: another courier has come in between."""
        base = needs.freeze
        trained = (parcel.name, parcel.tour, parcel.version, parcel.round)
        if base is None or trained != (self.next_name(), base.tour, base.version, base.round):
            raise Refused(409, f"update {parcel.name.key} is not the next one; visit again")
        return OutboxRow(parcel, snapshot.tour, None)

    def _rebased(
        self, snapshot: Snapshot, parcel: Parcel | None, now: float, first_step: int
    ) -> list[Change]:
        base = BaseRow(
            snapshot.tour,
            snapshot.round,
            snapshot.version,
            snapshot.model,
            first_step,
            now,
            None if parcel is None else parcel.vector,
        )
        coming = (COMING.delete(""),) if self.coming == snapshot.model else ()
        return [BASE.put("", base), *coming]

    def _bound(self, row: OutboxRow, tour: int) -> OutboxRow:
        return replace(row, bound=tour) if row.bound is None else row

    def _outbox_changes(self, rows: dict[str, OutboxRow]) -> list[Change]:
        before = OUTBOX.rows(self._tables)
        gone: list[Change] = [OUTBOX.delete(key) for key in before if key not in rows]
        return gone + [OUTBOX.put(key, row) for key, row in rows.items() if before.get(key) != row]

    def _answer(self, rows: dict[str, OutboxRow], tour: int) -> VisitAnswer:
        """The update that this tour has frozen first, then leftovers by name."""
        bound = [row for row in rows.values() if row.bound == tour]
        bound.sort(key=lambda row: (row.frozen_by != tour, row.parcel.name))
        return VisitAnswer("ready", parcels=tuple(row.parcel for row in bound[:MOST_PARCELS]))


def _sight(snapshot: Snapshot, client: str, incarnation: str) -> Callable[[int], bool]:
    """Which sequence numbers of this client the snapshot has seen."""
    seen = [s for s in snapshot.seen if (s.client, s.incarnation) == (client, incarnation)]
    return lambda sequence: any(sequence in each for each in seen)
