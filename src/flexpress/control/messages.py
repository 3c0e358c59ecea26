"""What the page may ask for: a closed schema. Anything else on the socket is refused."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

_Text = Annotated[str, Meta(max_length=200)]
_Number = Annotated[int, Meta(ge=0, le=10_000_000)]
_Coordinate = Annotated[float, Meta(ge=-1e9, le=1e9)]
_Pair = tuple[_Coordinate, _Coordinate]
_Seconds = Annotated[float, Meta(gt=0, le=86_400)]
_Key = Annotated[str, Meta(pattern=r"^[a-z_][a-z0-9_]{0,40}\Z")]
_Table = Literal["", "network", "fleet", "link", "power", "plan", "learning", "run"]


class Command(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="do", tag=str.lower
):
    """One wish of the page."""


class Set(Command, frozen=True):
    """Keys of the draft, by table; null removes one."""

    values: dict[_Table, dict[_Key, Any]]


class Move(Command, frozen=True):
    """Node 0 is the server; `plane`: a point of the map, else the draft's own coordinates."""

    node: _Number
    at: _Pair
    plane: bool = True


class Add(Command, frozen=True):
    """A sensor at a point of the map."""

    at: _Pair


class Delete(Command, frozen=True):
    """Nodes; 0 is the server."""

    nodes: Annotated[list[_Number], Meta(min_length=1, max_length=100_000)]


class Zone(Command, frozen=True):
    """A no-fly zone with these corners on the map."""

    corners: Annotated[list[_Pair], Meta(min_length=3, max_length=500)]


class DeleteZone(Command, frozen=True):
    number: _Number


class Undo(Command, frozen=True):
    pass


class Redo(Command, frozen=True):
    pass


class New(Command, frozen=True):
    """An empty map, in metres, or around a latitude and longitude."""

    around: (
        tuple[Annotated[float, Meta(ge=-90, le=90)], Annotated[float, Meta(ge=-180, le=180)]] | None
    ) = None


class Preset(Command, frozen=True):
    name: _Text


class Open(Command, frozen=True):
    """A scenario in the folder."""

    file: _Text


class Save(Command, frozen=True):
    file: _Text


class Plan(Command, frozen=True):
    """Search for so long; without a limit, for the solver's own number of iterations."""

    seconds: _Seconds | None = None


class Prove(Command, frozen=True):
    """How far the plan in this folder is from the optimum."""

    plan: _Text
    seconds: _Seconds = 60.0


class Stop(Command, frozen=True):
    """The search or the proof, with what there is."""


class Remedy(Command, frozen=True):
    """Change the draft as this remedy says."""

    number: _Number


class Simulate(Command, frozen=True):
    """The draft along a plan, or along one that is made for it."""

    plan: _Text = ""
    algorithms: Annotated[list[Literal["sync", "async", "direct"]], Meta(max_length=3)] = []
    every: bool = False  # all algorithms, with and without a head start
    horizon: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None
    head_start: Annotated[float, Meta(ge=0, le=1)] | None = None


class Pause(Command, frozen=True):
    """The simulation stops after a checkpoint."""


class GoOn(Command, frozen=True):
    """Resume the runs in this folder."""

    run: _Text


class Report(Command, frozen=True):
    """Write the page about the runs in this folder."""

    run: _Text


class Decide(Command, frozen=True):
    """In the field: ask for a decision. It is carried out when it is confirmed."""

    action: Literal["void", "revoke"]
    what: Annotated[str, Meta(min_length=1, max_length=100)]


class Confirm(Command, frozen=True):
    """The second time."""

    code: _Text


class Withdraw(Command, frozen=True):
    """Not after all."""


Wish = (
    Set | Move | Add | Delete | Zone | DeleteZone | Undo | Redo | New | Preset | Open | Save
    | Plan | Prove | Stop | Remedy | Simulate | Pause | GoOn | Report | Decide | Confirm | Withdraw
)  # fmt: skip

read_wish = msgspec.json.Decoder(Wish).decode
