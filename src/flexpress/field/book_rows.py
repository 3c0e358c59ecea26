"""The tables of the server."""

from __future__ import annotations

from typing import Literal

from flexpress.field.messages import (
    Count,
    Name,
    Parcel,
    Positive,
    Round,
    Seen,
    Sha256,
    UpdateName,
)
from flexpress.field.tables import Row, Table, row_types


class MemberRow(Row, frozen=True):
    """A courier or a client; for ever, though it may be revoked."""

    role: Literal["courier", "client"]
    revoked: bool = False
    courier: Name | None = None  # that visits this client, at host and port
    host: str = ""
    port: Count = 0
    seconds: float = 0.0  # after departure; of a courier: until it is home
    order: Count = 0  # in the tour
    public_key: str = ""  # Ed25519, in hexadecimal: clients sign parcels with it
    number: Count = 0  # of a courier: that of its transporter; of a client: its row
    client: int | str | None = None  # its id in the scenario


class TourRow(Row, frozen=True):
    """Open once, then accepted or void for ever."""

    courier: Name
    round: Count
    version: Count
    model: Sha256
    state: Literal["open", "accepted", "void"] = "open"
    manifest: Sha256 | None = None  # digest of the one that was accepted
    since: float = 0.0  # time of the mission at departure; who voids late ones wants to know


class RefusedRow(Row, frozen=True):
    """An update that was seen, and counts nothing."""

    tour: Positive
    reason: str


class VersionRow(Row, frozen=True):
    """A version of the global model."""

    model: Sha256


class ReleasedRow(Row, frozen=True):
    """The last round that a courier may fly, and its tour once it has departed."""

    round: Count
    version: Count
    tour: Positive | None = None


class AnnouncedRow(Row, frozen=True):
    """What an open tour may send: contents and their sizes, as its manifest has them."""

    contents: tuple[tuple[Sha256, Positive], ...]

    def size(self, sha: str) -> int | None:
        return next((size for content, size in self.contents if content == sha), None)


class HomeRow(Row, frozen=True):
    """What a round has brought, until it is merged; a void one brought nothing.

    The total is that of the courier, or the server has added up when it came home. Without one, the
    parcels are to be added in their order. With a total, the parcels only say what is in it.
    """

    courier: Name
    round: Count
    tour: Positive
    state: Literal["accepted", "void"]
    total: Sha256 | None = None
    parcels: tuple[Parcel, ...] = ()


class LastRow(Row, frozen=True):
    """The last update of a client that came home."""

    tour: Positive
    version: Count  # of the model that it was trained from
    time: float  # when it came, in seconds


class CounterRow(Row, frozen=True):
    """Counts tours and versions, so that nobody has to look through them."""

    next_tour: Positive = 1
    version: Round = -1  # the latest one


class ProgressRow(Row, frozen=True):
    """How far the mission has come; `notes` are its own."""

    num_events: Count = 0
    over: bool = False
    notes: str = ""
    time: float = 0.0  # of the mission, in seconds; see `served_time`


MEMBERS = Table("members", MemberRow)
TOURS = Table("tours", TourRow)
SEEN = Table("seen", Seen)
REFUSED = Table("refused", RefusedRow)
VERSIONS = Table("versions", VersionRow)
RELEASED = Table("released", ReleasedRow)
ANNOUNCED = Table("announced", AnnouncedRow)
HOMES = Table("homes", HomeRow)
LAST = Table("last", LastRow)
COUNTER = Table("counter", CounterRow)
PROGRESS = Table("progress", ProgressRow)

SERVER_ROWS = row_types(
    MEMBERS, TOURS, SEEN, REFUSED, VERSIONS, RELEASED, ANNOUNCED, HOMES, LAST, COUNTER, PROGRESS
)
"""For `Store.open`."""


def seen_key(name: UpdateName) -> str:
    return f"{name.client}/{name.incarnation}"


def home_key(courier: str, number: int) -> str:
    """Of a courier's round of this number."""
    return f"{courier}/{number}"
