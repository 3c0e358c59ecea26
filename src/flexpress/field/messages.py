"""What server, couriers and clients say to each other: frozen values, in a closed JSON schema.

Unknown fields, wrong types and numbers out of range are refused. Vectors are not part of messages:
they travel as raw bytes and are named by their SHA-256 (`Sha256`, in hexadecimal).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Annotated, Literal, TypeVar

import msgspec
from msgspec import Meta

Name = Annotated[str, Meta(min_length=1, max_length=200)]
"""Of a courier or client, as in its certificate: "courier-1", "client-7"."""
RunId = Annotated[str, Meta(pattern=r"^[0-9a-f]{32}\Z")]
Incarnation = Annotated[str, Meta(pattern=r"^[0-9a-f]{16}\Z")]
"""Random, one for each database of a client: if its disk is lost, it counts from 1 again."""
Sha256 = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
Signature = Annotated[str, Meta(pattern=r"^[0-9a-f]{128}\Z")]
"""Ed25519, in hexadecimal."""
Count = Annotated[int, Meta(ge=0, le=2**53)]
Positive = Annotated[int, Meta(ge=1, le=2**53)]
Round = Annotated[int, Meta(ge=-1, le=2**53)]
"""Tours of one courier: 0, 1, ...; -1 is x^0 that clients have on board."""

Payload = Literal["parcel", "sum"]
"""How updates travel: each to the server, or added up by couriers."""
MOST_PARCELS = 1024
"""Of one client on one visit: nobody can fill a courier's disk."""


class Message(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A value that can be sent."""


class UpdateName(Message, frozen=True, order=True):
    """Names a local update for ever: no client gives the same name to two updates."""

    client: Name
    incarnation: Incarnation
    sequence: Positive

    @property
    def key(self) -> str:
        """The whole name in one word; unique, as only the client's name may contain a slash."""
        return f"{self.client}/{self.incarnation}/{self.sequence}"


class Seen(Message, frozen=True):
    """The updates of one incarnation of a client about which the server has decided."""

    client: Name
    incarnation: Incarnation
    upto: Count  # all from 1 to this one
    beyond: tuple[Positive, ...] = ()  # and these, in ascending order

    def __contains__(self, sequence: int) -> bool:
        return sequence <= self.upto or sequence in self.beyond

    def adding(self, sequences: Iterable[int]) -> Seen:
        """With these as well. The work does not depend on how many were seen before."""
        upto = self.upto
        beyond = sorted({*self.beyond, *(s for s in sequences if s > upto)})
        steps = 0
        while steps < len(beyond) and beyond[steps] == upto + 1:
            upto += 1
            steps += 1
        return Seen(self.client, self.incarnation, upto, tuple(beyond[steps:]))


class Snapshot(Message, frozen=True):
    """What the server knew when the courier left; signed, for the eyes of clients.

    Everything in it only grows, so that an old one is safe: a tour that is closed stays closed, an
    update that is seen stays seen, a certificate that is revoked stays revoked.
    """

    run: RunId
    tour: Positive  # the server's counter, over all couriers
    courier: Name
    round: Count  # the courier's own counter: the tour of the timetable
    version: Count
    model: Sha256
    next_tour: Positive  # tours below it exist
    open_tours: tuple[Positive, ...]  # and these of them are not closed
    seen: tuple[Seen, ...]
    revoked: tuple[Name, ...]  # names of members whose certificates are void

    def is_closed(self, tour: int) -> bool:
        return tour < self.next_tour and tour not in self.open_tours

    def has_seen(self, name: UpdateName) -> bool:
        return any(
            (each.client, each.incarnation) == (name.client, name.incarnation)
            and name.sequence in each
            for each in self.seen
        )


class SignedSnapshot(Message, frozen=True):
    """The JSON of a snapshot, as it was signed, and the server's signature."""

    snapshot: str
    signature: Signature


class Parcel(Message, frozen=True):
    """A local update that a client hands over. Its signature covers all fields before it."""

    name: UpdateName
    tour: Count  # that brought the model it was trained from; 0: x^0 on board
    version: Count  # of that model
    round: Round  # of the courier that brought it
    steps: Count
    vector: Sha256  # the update itself
    signature: Signature
    content: Sha256  # the bytes that are carried: the vector, or the vector sealed to the server
    size: Positive  # of these bytes


class Departing(Message, frozen=True):
    """A courier is at the server and asks for orders."""

    run: RunId


class Stop(Message, frozen=True):
    """A client on a tour."""

    client: Name
    host: Annotated[str, Meta(min_length=1, max_length=253)]
    port: Annotated[int, Meta(ge=1, le=65535)]
    seconds: Annotated[float, Meta(ge=0)]  # after departure, by the plan


class Orders(Message, frozen=True):
    """What a courier takes along. The stops are for the courier alone, and not signed."""

    snapshot: SignedSnapshot
    stops: tuple[Stop, ...]
    model_size: Positive  # bytes
    duration: Annotated[float, Meta(ge=0)]  # seconds of the whole tour, by the plan


class Wait(Message, frozen=True):
    """Not yet: ask again after so many seconds. `over`: never again, the mission has ended."""

    seconds: Annotated[float, Meta(ge=0, le=3600)]
    reason: str
    over: bool = False


class VisitAnswer(Message, frozen=True):
    """What a client says to a snapshot: what it needs first, or what it hands over.

    It needs the model unless it has it; `model_offset` is how much of it there is.
    """

    status: Literal["send-model", "training", "ready"]
    model_offset: Count = 0
    wait: Annotated[float, Meta(ge=0, le=3600)] = 0.0  # seconds, if it is still training
    parcels: Annotated[tuple[Parcel, ...], Meta(max_length=MOST_PARCELS)] = ()
    """This visit's own update first, then leftovers by name."""


class Manifest(Message, frozen=True):
    """What a courier brings home: parcels in the order in which they are added up.

    In the order of the tour; leftovers of voided tours after them, by name.
    """

    run: RunId
    tour: Positive
    parcels: tuple[Parcel, ...]
    total: Sha256 | None  # their sum, if the courier has added them up


class Missing(Message, frozen=True):
    """The server's answer to a manifest: contents it still needs, with the offset of each."""

    contents: tuple[tuple[Sha256, Count], ...]


class Receipt(Message, frozen=True):
    """The server's word that the tour is closed and its parcels are safe."""

    run: RunId
    tour: Positive
    manifest: Sha256


class Problem(Message, frozen=True):
    """Why a request was refused, in one line."""

    error: str


_M = TypeVar("_M", bound=Message)


class WireError(ValueError):
    """Bytes that are not the message that was expected."""


def encode(message: Message) -> bytes:
    """Always the same bytes for the same value: digests and signatures are over them."""
    return msgspec.json.encode(message)


def digest_of(message: Message) -> str:
    """SHA-256 of its bytes: of a manifest, as the receipt names it."""
    return hashlib.sha256(encode(message)).hexdigest()


def decode(content: bytes, kind: type[_M], *, most: int = 2**24) -> _M:
    """WireError unless it is one message of this kind, in at most so many bytes."""
    if len(content) > most:
        raise WireError(f"{len(content):,} bytes: must be at most {most:,}")
    try:
        return msgspec.json.decode(content, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise WireError(f"not a {kind.__name__}: {' '.join(str(error).split())[:200]}") from None
