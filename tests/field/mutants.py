"""Rules with a mistake in them: the schedules must find each one."""

from __future__ import annotations

from field_state import Setting
from msgspec.structs import replace

from flexpress.field.book import ServerBook
from flexpress.field.book_rows import TourRow
from flexpress.field.desk import OUTBOX, ClientDesk, KnownRow, OutboxRow
from flexpress.field.messages import Manifest, Parcel, Snapshot, UpdateName, VisitAnswer
from flexpress.field.tables import Decision


class WithoutBinding(ClientDesk):
    """Each tour gets everything that is not known to be seen."""

    def _kept(self, snapshot: Snapshot, known: KnownRow) -> dict[str, OutboxRow]:
        kept = super()._kept(snapshot, known)
        return {key: replace(row, bound=None) for key, row in kept.items()}


class WithoutDeduplication(ServerBook):
    """Whatever comes, counts."""

    def has_seen(self, name: UpdateName) -> bool:
        return False


class AcceptsVoidTours(ServerBook):
    """A tour that was voided is accepted when it comes late."""

    def _own_tour(self, courier: str, manifest: Manifest, manifest_digest: str) -> TourRow:
        row = self._tour_of(courier, manifest.tour)
        if row.state == "void":
            return replace(row, state="open")
        return super()._own_tour(courier, manifest, manifest_digest)


class KeepsVerdictsToItself(ServerBook):
    """Clients learn that a tour is closed, but not what it has brought."""

    def _snapshot(self, tour: int, row: TourRow) -> Snapshot:
        return replace(super()._snapshot(tour, row), seen=())


class ForgetsAtHandOver(ClientDesk):
    """What was handed over is gone."""

    def visit(
        self, peer: str, snapshot: Snapshot, parcel: Parcel | None, *, now: float, first_step: int
    ) -> Decision[VisitAnswer]:
        decision = super().visit(peer, snapshot, parcel, now=now, first_step=first_step)
        gone = [OUTBOX.delete(str(each.name.sequence)) for each in decision.answer.parcels]
        return Decision((*decision.changes, *gone), decision.answer)


MUTANTS: dict[str, tuple[Setting, set[str]]] = {
    "binding and deduplication are both taken out": (
        Setting(book=WithoutDeduplication, desk=WithoutBinding),
        {"I1", "I3", "once"},
    ),
    "binding is taken out": (Setting(desk=WithoutBinding), {"I3", "once"}),
    "a voided tour is accepted late": (Setting(book=AcceptsVoidTours), {"I6", "once"}),
    "clients forget at hand-over": (Setting(desk=ForgetsAtHandOver), {"I2"}),
    "clients do not learn what was seen": (Setting(book=KeepsVerdictsToItself), {"I6", "once"}),
    "a new disk counts from 1 under the old name": (Setting(new_incarnations=False), {"I5"}),
}
"""What is wrong, and invariants each of which finds it alone."""
