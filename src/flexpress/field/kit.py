"""Kits: all that a program of the field takes along, in a folder of its own.

    kit.json                                   settings, in a closed schema
    key.pem, certificate.pem, authority.pem    who it is, and whom it trusts
    server     seal-key.pem, scenario-used.toml, plan.json
    courier    flight.json, if the places are on earth
    client     data.npz: its samples; model.bin: x^0, if it is on board
    state/     what the program has to remember; made by the program
    operator   nothing else

The authority's key is in a folder of its own: whoever has it makes new members.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypeVar

import msgspec
from msgspec import Meta

from flexpress.errors import InputError
from flexpress.field.desk import LARGEST_OUTBOX
from flexpress.field.messages import (
    MOST_PARCELS,
    Count,
    Message,
    Name,
    Payload,
    Positive,
    RunId,
)
from flexpress.field.training import MissionClock, Training
from flexpress.files.disk import read_bytes, write_file
from flexpress.learning import Engine

KIT, FIRST_MODEL, STATE, FLIGHT = "kit.json", "model.bin", "state", "flight.json"

_Host = Annotated[str, Meta(min_length=1, max_length=253)]
_Port = Annotated[int, Meta(ge=0, le=65535)]
_PublicKey = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
_Seconds = Annotated[float, Meta(gt=0, le=1e9)]
_Speedup = Annotated[float, Meta(gt=0, le=1e9)]


class _Settings(Message, frozen=True):
    """What all programs of a mission know."""

    run: RunId
    name: Name
    payload: Payload
    num_params: Positive
    dtype: Literal["float32", "float64"]
    speedup: _Speedup  # 1 in the field; more in a rehearsal

    @property
    def model_size(self) -> int:
        """Bytes of a model, and of an update."""
        return self.num_params * (4 if self.dtype == "float32" else 8)


class Entry(Message, frozen=True):
    """A member, as the server has to know it: a courier, or a client and who visits it when."""

    name: Name
    role: Literal["courier", "client"]
    public_key: _PublicKey  # Ed25519: clients sign parcels with it
    number: Count  # of a courier: that of its transporter; of a client: its row in the scenario
    client: int | str | None = None  # its id in the scenario
    courier: Name | None = None
    host: str = ""
    port: _Port = 0
    seconds: Annotated[float, Meta(ge=0)] = 0.0  # after departure; of a courier: until it is home
    order: Count = 0  # in the tour


class ServerKit(_Settings, frozen=True):
    """The server: where it listens, how the mission's time passes, and who belongs to it."""

    host: _Host
    port: _Port
    clock: MissionClock
    roster: tuple[Entry, ...]
    engine: Engine = "auto"
    longest_tour: _Seconds | None = None  # after which a tour is void; None: the operator decides


class OperatorKit(Message, frozen=True):
    """Who may ask the server what is going on, void tours and revoke certificates."""

    run: RunId
    name: Name
    server_host: _Host
    server_port: _Port


class CourierKit(_Settings, frozen=True):
    """A courier: where the server is, and how long it tries to reach a client."""

    server_host: _Host
    server_port: _Port
    patience: _Seconds  # for a client that does not answer


class ClientKit(_Settings, frozen=True):
    """A client: where it listens, whose word it trusts, and how it trains."""

    host: _Host
    port: _Port
    server_key: _PublicKey  # Ed25519: signs snapshots
    seal_key: _PublicKey  # X25519: parcels are sealed to it
    training: Training
    largest_outbox: Annotated[int, Meta(ge=1, le=MOST_PARCELS)] = LARGEST_OUTBOX
    """Updates, each as large as a model."""


Kit = ServerKit | CourierKit | ClientKit | OperatorKit
_K = TypeVar("_K", ServerKit, CourierKit, ClientKit, OperatorKit)


def save_kit(folder: Path, kit: Kit) -> None:
    text = msgspec.json.format(msgspec.json.encode(kit), indent=2)
    write_file(folder / KIT, text + b"\n")


def load_kit(folder: Path, kind: type[_K]) -> _K:
    """InputError unless the folder holds a kit of this kind."""
    path = folder / KIT
    if not path.is_file():
        raise InputError(f"{folder}: holds no kit; `flexpress provision SCENARIO` makes them")
    content, what = read_bytes(path), kind.__name__.removesuffix("Kit").lower()
    owner = _owner(content)
    if owner and owner.partition("-")[0] != what:
        raise InputError(f"{folder}: is the kit of {owner}, and this is the program of the {what}")
    try:
        return msgspec.json.decode(content, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        text = " ".join(str(error).split())
        raise InputError(f"{path}: not the kit of the {what}: {text}") from None


def _owner(content: bytes) -> str:
    """The name in any kit; empty if there is none."""
    try:
        return msgspec.json.decode(content, type=_Named).name
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ""


class _Named(msgspec.Struct):
    """What all kits have."""

    name: str
