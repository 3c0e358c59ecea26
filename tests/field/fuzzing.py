"""Bytes that a peer could send, and what must hold for each decoder, whatever the bytes.

`python tests/field/fuzzing.py SECONDS SEED` tries changed messages for so long.
"""

from __future__ import annotations

import random
import sys
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding

from flexpress.field import identity, messages, parts, sealing, tls
from flexpress.field.identity import UntrustedError
from flexpress.field.kit import Entry
from flexpress.field.messages import (
    Departing,
    Manifest,
    Message,
    Missing,
    Orders,
    Parcel,
    Problem,
    Receipt,
    Seen,
    SignedSnapshot,
    Snapshot,
    Stop,
    UpdateName,
    VisitAnswer,
    Wait,
    WireError,
)
from flexpress.field.operator import (
    ClientStatus,
    CourierStatus,
    Done,
    Enrol,
    Move,
    Question,
    Revoke,
    Status,
    Void,
)

RUN, SHA = "0" * 32, "ab" * 32
KEY = Ed25519PrivateKey.from_private_bytes(bytes([1]) * 32)
BOX = X25519PrivateKey.from_private_bytes(bytes([2]) * 32)
NAME = UpdateName("client-7", "0123456789abcdef", 3)
SEEN = Seen("client-7", "0123456789abcdef", 2, (5, 7))
SNAPSHOT = Snapshot(RUN, 5, "courier-1", 2, 4, SHA, 6, (4, 5), (SEEN,), ("client-9",))
SIGNED = sealing.sign_snapshot(KEY, SNAPSHOT)
PARCEL, PIECES = sealing.make_parcel(
    KEY, RUN, b"vector", name=NAME, tour=4, version=3, round=1, steps=9, seal_to=BOX.public_key()
)
CONTENT = b"".join(PIECES)
EXAMPLES: tuple[Message, ...] = (
    NAME,
    SEEN,
    SNAPSHOT,
    SIGNED,
    PARCEL,
    Stop("client-7", "192.0.2.7", 8443, 12.5),
    Orders(SIGNED, (Stop("client-7", "192.0.2.7", 8443, 12.5),), 1000, 60.0),
    Wait(1.0, "not yet"),
    VisitAnswer("ready", parcels=(PARCEL,)),
    Manifest(RUN, 5, (PARCEL, PARCEL), SHA),
    Missing(((SHA, 7),)),
    Receipt(RUN, 5, SHA),
    Problem("no"),
    Departing(RUN),
    Question(RUN),
    Void(RUN, "17"),
    Revoke(RUN, "client-7"),
    Move(RUN, "client-7", "courier-2"),
    Enrol(RUN, Entry("client-8", "client", "00" * 32, 8, "8", "courier-1", "192.0.2.8", 8443)),
    Done("done"),
    CourierStatus("courier-1", "out", 3, 17, 2),
    ClientStatus("client-7", "courier-1", False, 3, 17, 1.5),
    Status(
        RUN,
        "wall",
        "parcel",
        20,
        60,
        2,
        0.5,
        False,
        0,
        (CourierStatus("courier-1", "out", 3, 17, 2),),
        (ClientStatus("client-7", "courier-1", False, 3, 17, 1.5),),
    ),
)
WORDS = (
    *(b'null true false NaN Infinity -1 1e999 0.5 [] {} "" \\u0000 \\ud800'.split()),
    b"9" * 30,
    b"9" * 5000,
    b"[" * 2000,
    b'{"name":' * 2000,
    b"\xff\xfe",
    b"\x00",
    b'"run":"x",',
    b",",
)
"""What stands where something else should."""


def changed(content: bytes, numbers: random.Random) -> bytes:
    """A few times: a bit flipped, a stretch removed or repeated, or a word put in."""
    data = bytearray(content)
    for _ in range(numbers.randint(1, 4)):
        i, j = sorted(numbers.randrange(len(data) + 1) for _ in range(2))
        match numbers.randrange(5):
            case 0 if i < len(data):
                data[i] ^= 1 << numbers.randrange(8)
            case 1:
                del data[i:j]
            case 2:
                data[i:i] = data[i:j]
            case 3:
                data[i:j] = numbers.choice(WORDS)
            case 4:
                data[i:i] = numbers.choice(WORDS)
    return bytes(data)


def check_message(content: bytes, kind: type[Message]) -> bool:
    """Whether it is one; if it is, it survives another journey."""
    try:
        message = messages.decode(content, kind)
    except WireError as error:
        why = str(error)
        if "\n" in why or len(why) > 400:
            raise AssertionError(f"not one short line: {why!r}") from None
        return False
    assert type(message) is kind
    assert messages.decode(messages.encode(message), kind) == message
    return True


def check_memory(content: bytes, kind: type[Message]) -> None:
    """Not more than a fixed multiple of what was received, and that has a limit."""
    tracemalloc.start()
    try:
        check_message(content, kind)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 100 * len(content) + 100_000, (most, len(content), kind)


def check_snapshot(content: bytes) -> bool:
    """Nothing but what was signed is a snapshot."""
    try:
        signed = messages.decode(content, SignedSnapshot)
        snapshot = sealing.open_snapshot(KEY.public_key(), signed, RUN)
    except (WireError, UntrustedError):
        return False
    assert snapshot == SNAPSHOT
    return True


def check_parcel(content: bytes) -> bool:
    """A parcel that opens says what its client has signed."""
    try:
        parcel = messages.decode(content, Parcel)
        vector = sealing.open_parcel(KEY.public_key(), RUN, parcel, CONTENT, BOX)
    except (WireError, UntrustedError):
        return False
    covered = Parcel.__struct_fields__[: Parcel.__struct_fields__.index("signature")]
    assert all(getattr(parcel, field) == getattr(PARCEL, field) for field in covered)
    assert vector == b"vector"
    return True


def check_box(content: bytes) -> bool:
    """A box that was changed does not open."""
    try:
        sealing.open_parcel(KEY.public_key(), RUN, PARCEL, content, BOX)
        sealing.unseal(BOX, content, sealing._body_of(RUN, PARCEL))
    except UntrustedError:
        return False
    assert content == CONTENT
    return True


def check_certificate(content: bytes) -> bool:
    """TLS has verified it before; still, no other error than ours."""
    try:
        peer = tls.read_peer(content)
    except UntrustedError:
        return False
    assert peer.role in identity.ROLES
    return True


def check_number(content: bytes) -> bool:
    """Of a header: what is one is written with digits only."""
    text = content.decode("latin-1")
    found = parts.number(text)
    assert found is None or (0 <= found < 10**18 and text.lstrip("0") == str(found).lstrip("0"))
    return found is not None


def some_certificate() -> bytes:
    with TemporaryDirectory() as name:
        authority = identity.make_authority(Path(name) / "authority")
        identity.issue(authority, "courier-1", "courier", Path(name) / "kit", ["192.0.2.1"])
        path = Path(name) / "kit" / identity.CERTIFICATE
        return identity.load_certificate(path).public_bytes(Encoding.DER)


def targets() -> list[tuple[str, bytes, Callable[[bytes], bool]]]:
    """Name, something to begin with, and the check."""
    kinds: list[tuple[str, bytes, Callable[[bytes], bool]]] = [
        (
            type(example).__name__,
            messages.encode(example),
            partial(check_message, kind=type(example)),
        )
        for example in EXAMPLES
    ]
    return [
        *kinds,
        ("signed snapshot", messages.encode(SIGNED), check_snapshot),
        ("signed parcel", messages.encode(PARCEL), check_parcel),
        ("sealed box", CONTENT, check_box),
        ("certificate", some_certificate(), check_certificate),
        ("number", b"12345", check_number),
    ]


def fuzz(seconds: float, seed: int) -> Counter[str]:
    """How many were tried, and how many were accepted, of each."""
    numbers, end, found = random.Random(seed), time.monotonic() + seconds, Counter[str]()
    all_targets = targets()
    while time.monotonic() < end:
        for name, example, check in all_targets:
            for _ in range(200):
                content = changed(example, numbers)
                try:
                    found[f"{name}: accepted"] += check(content)
                except BaseException:
                    sys.stderr.write(f"seed {seed}, {name}: {content!r}\n")
                    raise
                found[f"{name}: tried"] += 1
    return found


if __name__ == "__main__":
    for line, number in sorted(fuzz(float(sys.argv[1]), int(sys.argv[2])).items()):
        sys.stdout.write(f"{number:10,} {line}\n")
