"""Kits: all that a program of the field takes along, in a folder of its own.

    kit.json                                   settings, in a closed schema
    key.pem, certificate.pem, authority.pem    who it is, and whom it trusts
    server     seal-key.pem, scenario-used.toml, plan.json
    courier    flight.json, if the places are on earth
    client     data.npz: its samples; model.bin: x^0, if it is on board
    state/     what the program has to remember; made by the program
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypeVar

import msgspec
from msgspec import Meta

from flexpress.errors import InputError
from flexpress.field.messages import Message, Name, Positive, RunId
from flexpress.field.trainer import Training
from flexpress.files.disk import read_bytes, write_file

KIT, DATA, FIRST_MODEL, STATE, FLIGHT = "kit.json", "data.npz", "model.bin", "state", "flight.json"

MissionClock = Literal["plan", "wall"]
Payload = Literal["parcel", "sum"]

_Host = Annotated[str, Meta(min_length=1, max_length=253)]
_Port = Annotated[int, Meta(ge=0, le=65535)]
_PublicKey = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
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


class ServerKit(_Settings, frozen=True):
    """The server: where it listens, and how the mission's time passes."""

    host: _Host
    port: _Port
    clock: MissionClock
    engine: Literal["auto", "fast", "torch"] = "auto"


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
    data: str  # data.npz, another file in the kit, or the user's own module:function
    training: Training


_K = TypeVar("_K", ServerKit, CourierKit, ClientKit)


def save_kit(folder: Path, kit: ServerKit | CourierKit | ClientKit) -> None:
    text = msgspec.json.format(msgspec.json.encode(kit), indent=2)
    write_file(folder / KIT, text + b"\n")


def load_kit(folder: Path, kind: type[_K]) -> _K:
    """InputError unless the folder holds a kit of this kind."""
    path = folder / KIT
    if not path.is_file():
        raise InputError(f"{folder}: holds no kit; `flexpress provision SCENARIO` makes them")
    try:
        return msgspec.json.decode(read_bytes(path), type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        what = kind.__name__.removesuffix("Kit").lower()
        text = " ".join(str(error).split())
        raise InputError(f"{path}: not the kit of a {what}: {text}") from None
