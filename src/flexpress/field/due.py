"""What the clock of a mission is told, and what it answers. Nothing is done here.

A clock (`PlanClock`, `WallClock`) looks at the server's book, and at the time, and says what comes
next (`Due`): events to record, homes to merge, rounds to release. The program does it, commits it
together with the progress that it leads to, and tells the clock (`passed`). Before that, the clock
says the same again; and one that is made anew from the stored progress goes on where it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol

import msgspec

from flexpress.planning.plan import ClientId
from flexpress.simulation.events import Evaluation, Event, Update
from flexpress.simulation.run_lines import Written

Key = tuple[int, int]
"""A courier's number, which is that of its transporter in the plan, and its round."""


class Brought(NamedTuple):
    """An update that came home: who trained it, and from what."""

    client: ClientId
    round: int  # in which the client received its model; -1: x^0 on board
    version: int  # of that model
    steps: int


@dataclass(frozen=True)
class Home:
    """A round that is closed: the courier is home, or the tour is void."""

    accepted: bool
    version: int  # of the model that the courier had on board
    brought: tuple[Brought, ...] = ()  # leftovers too; empty if it is void


@dataclass(frozen=True)
class Courier:
    """The last round that a courier was released for, and what became of it."""

    round: int
    version: int
    state: Literal["released", "out", "closed"]


@dataclass(frozen=True)
class Situation:
    """What the server's book says."""

    homes: Mapping[Key, Home]  # that are not merged yet
    couriers: Mapping[int, Courier | None] = field(default_factory=dict)
    """Those that are not revoked; None before the first release. Only the wall clock asks."""


class Progress(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How far a mission has come."""

    num_events: int = 0
    version: int = 0  # of the global model
    over: bool = False
    written: Written | None = None  # lines in the run folder
    # The plan's clock needs no more. By the wall clock:
    started: float = 0.0  # seconds of `ServedTime`
    seconds: float = 0.0  # of the mission, at its last event
    next_evaluation: int = 0  # slot
    departed: dict[int, int] = {}  # courier -> the last round whose departure is recorded
    landed: dict[int, int] = {}  # and whose landing is
    taken: dict[int, int] = {}  # and that is merged, or brought nothing

    def to_json(self) -> str:
        return msgspec.json.encode(self).decode()

    @classmethod
    def from_json(cls, text: str) -> Progress:
        return msgspec.json.decode(text, type=cls)


class Release(NamedTuple):
    """The courier may fly this round with this version; perhaps again, with a newer one."""

    courier: int
    round: int
    version: int


@dataclass(frozen=True)
class Due:
    """What comes next. All of it is one step: it has happened, or it has not."""

    events: tuple[Event, ...]  # at most one update or evaluation among them
    progress: Progress  # after it
    releases: tuple[Release, ...] = ()
    homes: tuple[Key, ...] = ()  # done with by the update, in the order in which they are added

    @property
    def update(self) -> Update | None:
        return next((event for event in self.events if isinstance(event, Update)), None)

    @property
    def evaluation(self) -> Evaluation | None:
        return next((event for event in self.events if isinstance(event, Evaluation)), None)


class Clock(Protocol):
    """`PlanClock` or `WallClock`."""

    progress: Progress

    def due(self, situation: Situation, now: float) -> Due | None:
        """What comes next; None: wait until the situation changes, or until `wakes`."""

    def passed(self, due: Due) -> None:
        """It is done, and stored."""

    def wakes(self) -> float | None:
        """When something is due even if nobody comes home; the time is that of `due`."""


def origins(homes: Iterable[Home]) -> list[tuple[int, int]]:
    """Rounds and versions of the models that the updates were trained from, each once."""
    return sorted({(each.round, each.version) for home in homes for each in home.brought})
