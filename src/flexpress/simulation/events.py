"""The events of a simulation, as frozen values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from flexpress.planning.plan import ClientId


@dataclass(frozen=True)
class Departure:
    """A transporter leaves the server with the global model of this version."""

    slot: int
    seconds: float
    transporter: int
    tour: int  # 0, 1, ... of this transporter
    version: int  # updates of the global model so far


@dataclass(frozen=True)
class Broadcast:
    """All clients receive the global model at once, over the ideal link of `direct`."""

    slot: int
    seconds: float
    tour: int
    version: int


class Visit(NamedTuple):
    """A client receives a model, and hands over the update it trained since the last visit.

    A tuple, because most events are visits and a frozen dataclass takes four times as long to make.
    """

    slot: int
    seconds: float
    transporter: int
    tour: int
    client: ClientId
    version: int  # of the model that it receives
    staleness: int  # updates that the server made since that version
    trained_from: int | None  # version that its update was trained from; None if it had no model
    steps: int  # local steps in that update


@dataclass(frozen=True)
class Landing:
    """A transporter is back at the server."""

    slot: int
    seconds: float
    transporter: int
    tour: int
    energy: float  # joules of this tour
    waiting: float  # seconds until it leaves again


@dataclass(frozen=True)
class Contribution:
    """The sum of updates that one transporter brought to an update of the global model."""

    transporter: int
    tour: int  # on which its clients received the model that they trained from; -1: on board
    trained_from: int  # the version of that model
    staleness: int  # updates that the server made between that version and this update


@dataclass(frozen=True)
class Update:
    """The server merges what has landed: the global model has a new version."""

    slot: int  # the first that begins with this version
    seconds: float
    version: int
    contributions: tuple[Contribution, ...]


@dataclass(frozen=True)
class Evaluation:
    """The global model is tested."""

    slot: int
    seconds: float


Event = Departure | Broadcast | Visit | Landing | Update | Evaluation
