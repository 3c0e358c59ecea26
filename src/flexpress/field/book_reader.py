"""What can be looked up in the server's tables."""

from __future__ import annotations

from flexpress.field.book_rows import (
    ANNOUNCED,
    COUNTER,
    HOMES,
    MEMBERS,
    PROGRESS,
    RELEASED,
    SEEN,
    TOURS,
    VERSIONS,
    CounterRow,
    MemberRow,
    ProgressRow,
    ReleasedRow,
    TourRow,
    seen_key,
)
from flexpress.field.messages import UpdateName
from flexpress.field.tables import Refused, Tables


class BookReader:
    """The server's tables, read only. Nothing here goes through all that has ever happened."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

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

    def tour(self, tour: int) -> TourRow:
        row = TOURS.rows(self._tables).get(str(tour))
        if row is None:
            raise Refused(404, f"there is no tour {tour}")
        return row

    def open_tours(self) -> dict[int, TourRow]:
        """At most one of each courier."""
        released = RELEASED.rows(self._tables).values()
        tours = sorted(r.tour for r in released if r.tour is not None and self._is_out(r))
        return {tour: self.tour(tour) for tour in tours}

    def has_seen(self, name: UpdateName) -> bool:
        row = SEEN.rows(self._tables).get(seen_key(name))
        return row is not None and name.sequence in row

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

    def _is_out(self, released: ReleasedRow) -> bool:
        return released.tour is not None and self.tour(released.tour).state == "open"
