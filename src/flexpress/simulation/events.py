"""What can happen, as frozen values: all that a Trace tells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from flexpress.simulation.timetable import ClientId


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
    """Over the ideal link of `direct` all clients receive the global model at once."""

    slot: int
    seconds: float
    tour: int
    version: int


class Visit(NamedTuple):
    """A client is handed a model, and hands over what it trained since the visit before.

    A tuple, as there are more of these than of all others, and tuples are made in a quarter of the
    time that a frozen dataclass takes.
    """

    slot: int
    seconds: float
    transporter: int
    tour: int
    client: ClientId
    version: int  # of the model that it is handed
    staleness: int  # updates that the server has made since, and the client does not get
    trained_from: int | None  # version that its update was trained from; None at the first visit
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
    tour: int  # on which its clients were handed the model that they trained from
    trained_from: int  # the version of that model
    staleness: int  # updates that the server has made between that version and this update


@dataclass(frozen=True)
class Update:
    """The server applies what has come home: the global model has a new version."""

    slot: int  # the first to begin with it
    seconds: float
    version: int
    contributions: tuple[Contribution, ...]


@dataclass(frozen=True)
class Evaluation:
    """The global model is tested."""

    slot: int
    seconds: float


Event = Departure | Broadcast | Visit | Landing | Update | Evaluation
