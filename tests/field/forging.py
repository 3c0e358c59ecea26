"""Parcels as a client would make them, or as a thief would like to."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey
from msgspec.structs import replace

from flexpress.field.identity import load_key
from flexpress.field.kit import ClientKit, load_kit
from flexpress.field.messages import Parcel, UpdateName
from flexpress.field.sealing import make_parcel, public_seal_key

INCARNATION = "f" * 16


def update_of(
    kits: Path,
    client: str,
    *,
    value: float = 1.0,
    sequence: int = 1,
    key: Ed25519PrivateKey | None = None,
    seal_to: X25519PublicKey | None = None,
    run: str | None = None,
) -> tuple[Parcel, bytes]:
    """An update of this client with this value at one place, and the bytes that are carried.

    Signed with the client's key and sealed to the server, unless other keys are given.
    """
    kit = load_kit(kits / client, ClientKit)
    vector = np.zeros(kit.num_params, "<f4")
    vector[7] = value
    box = public_seal_key(kit.seal_key) if kit.payload == "parcel" else None
    parcel, pieces = make_parcel(
        key or load_key(kits / client),
        run or kit.run,
        vector.tobytes(),
        name=UpdateName(client, INCARNATION, sequence),
        tour=1,
        version=0,
        round=0,
        steps=1,
        seal_to=seal_to or box,
    )
    return parcel, b"".join(pieces)


def tampered(parcel: Parcel, content: bytes) -> tuple[Parcel, bytes]:
    """One bit of the content is another one, and the parcel says so."""
    changed = bytes([*content[:-1], content[-1] ^ 1])
    return replace(parcel, content=hashlib.sha256(changed).hexdigest()), changed
