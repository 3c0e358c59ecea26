"""Signatures and sealed boxes: whatever is changed is noticed."""

from __future__ import annotations

import hashlib
import tracemalloc
from pathlib import Path

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from flexpress.errors import InputError
from flexpress.field import identity, sealing
from flexpress.field.identity import UntrustedError
from flexpress.field.messages import Parcel, Seen, SignedSnapshot, Snapshot, UpdateName, encode

RUN, OTHER_RUN = "0" * 32, "1" * 32
SERVER, CLIENT, OTHER = (Ed25519PrivateKey.from_private_bytes(bytes([i]) * 32) for i in (1, 2, 3))
BOX = X25519PrivateKey.from_private_bytes(bytes([4]) * 32)
NAME = UpdateName("client-7", "0123456789abcdef", 3)
SNAPSHOT = Snapshot(
    run=RUN,
    tour=5,
    courier="courier-1",
    round=2,
    version=4,
    model="ab" * 32,
    next_tour=6,
    open_tours=(4, 5),
    seen=(Seen("client-7", "0123456789abcdef", 2),),
    revoked=("client-9",),
)
VECTOR = bytes(range(64))


def make(*, sealed: bool) -> tuple[Parcel, bytes]:
    parcel, pieces = sealing.make_parcel(
        CLIENT,
        RUN,
        VECTOR,
        name=NAME,
        tour=4,
        version=3,
        round=1,
        steps=17,
        seal_to=BOX.public_key() if sealed else None,
    )
    return parcel, b"".join(pieces)


PARCEL, CONTENT = make(sealed=True)


def flipped(content: bytes, bit: int) -> bytes:
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def test_a_signature_is_that_of_rfc_8032() -> None:
    """Its second test vector."""
    secret = "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb"
    key = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(secret))
    assert sealing.sign(key, b"\x72") == (
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
        "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
    )


def test_every_bit_of_a_signature_counts() -> None:
    signature = sealing.sign(SERVER, b"content")
    sealing.verify(SERVER.public_key(), b"content", signature)
    for bit in range(len(signature) * 8):
        changed = flipped(signature.encode(), bit).decode("latin-1")
        with pytest.raises(UntrustedError):
            sealing.verify(SERVER.public_key(), b"content", changed)


@pytest.mark.parametrize("signature", ["", "00", "x" * 128, "00 " * 64, "é"])
def test_what_is_no_signature(signature: str) -> None:
    with pytest.raises(UntrustedError):
        sealing.verify(SERVER.public_key(), b"content", signature)


def test_another_content_or_another_key() -> None:
    signature = sealing.sign(SERVER, b"content")
    with pytest.raises(UntrustedError):
        sealing.verify(SERVER.public_key(), b"content ", signature)
    with pytest.raises(UntrustedError):
        sealing.verify(OTHER.public_key(), b"content", signature)


def test_a_snapshot_comes_back() -> None:
    signed = sealing.sign_snapshot(SERVER, SNAPSHOT)
    assert sealing.open_snapshot(SERVER.public_key(), signed, RUN) == SNAPSHOT


def test_a_snapshot_of_another_run_or_by_another_key() -> None:
    signed = sealing.sign_snapshot(SERVER, SNAPSHOT)
    with pytest.raises(UntrustedError):
        sealing.open_snapshot(SERVER.public_key(), signed, OTHER_RUN)
    with pytest.raises(UntrustedError):
        sealing.open_snapshot(OTHER.public_key(), signed, RUN)


def test_a_snapshot_that_was_changed() -> None:
    signed = sealing.sign_snapshot(SERVER, SNAPSHOT)
    newer = signed.snapshot.replace('"version":4', '"version":5')
    assert newer != signed.snapshot
    changed = msgspec.structs.replace(signed, snapshot=newer)
    with pytest.raises(UntrustedError):
        sealing.open_snapshot(SERVER.public_key(), changed, RUN)


def test_signed_by_the_server_but_for_something_else() -> None:
    """Its key signs nothing else today; a snapshot still could not be made of it."""
    text = encode(SNAPSHOT).decode()
    for content in (text.encode(), sealing._statement("parcel", RUN, text.encode())):
        signed = msgspec.structs.replace(
            sealing.sign_snapshot(SERVER, SNAPSHOT), signature=sealing.sign(SERVER, content)
        )
        with pytest.raises(UntrustedError):
            sealing.open_snapshot(SERVER.public_key(), signed, RUN)


@pytest.mark.parametrize("text", ["", "{}", "[" * 100_000, "\ud800"])
def test_signed_by_the_server_but_no_snapshot(text: str) -> None:
    content = text.encode("utf-8", "surrogatepass")
    signature = sealing.sign(SERVER, sealing._statement("snapshot", RUN, content))
    signed = SignedSnapshot(text, signature)
    with pytest.raises(UntrustedError):
        sealing.open_snapshot(SERVER.public_key(), signed, RUN)


def test_signed_for_this_run_but_about_another() -> None:
    content = encode(SNAPSHOT)
    signature = sealing.sign(SERVER, sealing._statement("snapshot", OTHER_RUN, content))
    signed = SignedSnapshot(content.decode(), signature)
    with pytest.raises(UntrustedError, match="is of run"):
        sealing.open_snapshot(SERVER.public_key(), signed, OTHER_RUN)


@pytest.mark.parametrize("sealed", [True, False])
def test_a_parcel_comes_back(sealed: bool) -> None:
    parcel, content = make(sealed=sealed)
    assert parcel.size == len(content) == len(VECTOR) + sealed * sealing.SEAL_OVERHEAD
    assert parcel.vector == hashlib.sha256(VECTOR).hexdigest()
    assert parcel.content == hashlib.sha256(content).hexdigest()
    key = BOX if sealed else None
    assert sealing.open_parcel(CLIENT.public_key(), RUN, parcel, content, key) == VECTOR


def test_the_signature_covers_all_fields_before_it() -> None:
    """Each is changed; what stands after the signature is not covered."""
    other = {
        "name": UpdateName("client-8", NAME.incarnation, NAME.sequence),
        "tour": 5,
        "version": 4,
        "round": 2,
        "steps": 18,
        "vector": "ab" * 32,
    }
    fields = PARCEL.__struct_fields__
    assert tuple(other) == fields[: fields.index("signature")]
    for field, value in other.items():
        changed = msgspec.structs.replace(PARCEL, **{field: value})
        with pytest.raises(UntrustedError):
            sealing.verify_parcel(CLIENT.public_key(), RUN, changed)
    sealing.verify_parcel(CLIENT.public_key(), RUN, PARCEL)


@pytest.mark.parametrize(
    "name",
    [
        UpdateName("client-7", "0123456789abcdee", 3),
        UpdateName("client-7", "0123456789abcdef", 4),
    ],
)
def test_an_update_under_another_name(name: UpdateName) -> None:
    with pytest.raises(UntrustedError):
        sealing.verify_parcel(CLIENT.public_key(), RUN, msgspec.structs.replace(PARCEL, name=name))


def test_a_parcel_of_another_run_or_by_another_key() -> None:
    with pytest.raises(UntrustedError):
        sealing.open_parcel(CLIENT.public_key(), OTHER_RUN, PARCEL, CONTENT, BOX)
    with pytest.raises(UntrustedError):
        sealing.open_parcel(OTHER.public_key(), RUN, PARCEL, CONTENT, BOX)


def test_sealing_takes_the_memory_of_the_box_and_no_more() -> None:
    """A vector may be as large as the memory of a small computer allows."""
    vector = memoryview(bytes(2**22))
    tracemalloc.start()
    try:
        parcel, pieces = sealing.make_parcel(
            CLIENT,
            RUN,
            vector,
            name=NAME,
            tour=4,
            version=3,
            round=1,
            steps=17,
            seal_to=BOX.public_key(),
        )
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert parcel.size == sum(map(len, pieces)) == len(vector) + sealing.SEAL_OVERHEAD
    assert peak < 1.1 * len(vector)


def test_a_box_of_another_parcel() -> None:
    """A courier takes the box out of a parcel, and puts another one in."""
    _, again = make(sealed=True)
    assert again != CONTENT  # another key, used once
    other, pieces = sealing.make_parcel(
        CLIENT,
        RUN,
        VECTOR,
        name=NAME,
        tour=4,
        version=3,
        round=1,
        steps=18,
        seal_to=BOX.public_key(),
    )
    changed = msgspec.structs.replace(PARCEL, content=other.content)
    with pytest.raises(UntrustedError, match="does not open"):
        sealing.open_parcel(CLIENT.public_key(), RUN, changed, b"".join(pieces), BOX)


def test_a_box_that_the_courier_made() -> None:
    """It knows the server's public key and all that was signed, but not the vector's digest."""
    forged = sealing.seal(BOX.public_key(), bytes(64), sealing._body_of(RUN, PARCEL))
    changed = msgspec.structs.replace(PARCEL, content=hashlib.sha256(forged).hexdigest())
    with pytest.raises(UntrustedError, match="vector has another digest"):
        sealing.open_parcel(CLIENT.public_key(), RUN, changed, forged, BOX)


def test_content_that_was_changed_or_not_sealed() -> None:
    with pytest.raises(UntrustedError, match="content has another digest"):
        sealing.open_parcel(CLIENT.public_key(), RUN, PARCEL, flipped(CONTENT, 3), BOX)
    plain, content = make(sealed=False)
    with pytest.raises(UntrustedError, match="does not open"):
        sealing.open_parcel(CLIENT.public_key(), RUN, plain, content, BOX)
    with pytest.raises(UntrustedError, match="vector has another digest"):
        sealing.open_parcel(CLIENT.public_key(), RUN, PARCEL, CONTENT, None)


@pytest.mark.parametrize("length", [0, 1, 1000])
def test_every_bit_of_a_box_counts(length: int) -> None:
    box = sealing.seal(BOX.public_key(), bytes(length), b"about it")
    assert len(box) == length + sealing.SEAL_OVERHEAD
    assert sealing.unseal(BOX, box, b"about it") == bytes(length)
    for bit in range(0, len(box) * 8, 1 if length < 100 else 37):
        with pytest.raises(UntrustedError):
            sealing.unseal(BOX, flipped(box, bit), b"about it")


def test_the_unused_bit_of_a_key_counts_too() -> None:
    """X25519 ignores the highest bit of a public key: the key of the box still depends on it."""
    box = sealing.seal(BOX.public_key(), b"x", b"")
    with pytest.raises(UntrustedError):
        sealing.unseal(BOX, flipped(box, 255), b"")


def test_another_recipient_or_other_associated_data() -> None:
    box = sealing.seal(BOX.public_key(), b"secret", b"about it")
    with pytest.raises(UntrustedError):
        sealing.unseal(X25519PrivateKey.generate(), box, b"about it")
    for associated in (b"", b"about it ", b"About it"):
        with pytest.raises(UntrustedError):
            sealing.unseal(BOX, box, associated)


@pytest.mark.parametrize("length", range(sealing.SEAL_OVERHEAD + 2))
def test_a_box_that_was_cut(length: int) -> None:
    box = sealing.seal(BOX.public_key(), bytes(3), b"")
    with pytest.raises(UntrustedError):
        sealing.unseal(BOX, box[:length], b"")


def test_a_point_that_hides_nothing() -> None:
    """The shared secret would be zero, whoever computes it."""
    with pytest.raises(UntrustedError):
        sealing.unseal(BOX, bytes(100), b"")


@given(st.binary(max_size=200), st.binary(max_size=20))
def test_no_other_error_whatever_the_bytes(box: bytes, associated: bytes) -> None:
    with pytest.raises(UntrustedError):
        sealing.unseal(BOX, box, associated)


def test_keys_as_text(tmp_path: Path) -> None:
    text = identity.make_seal_key(tmp_path)
    box = sealing.seal(sealing.public_seal_key(text), b"x", b"")
    assert sealing.unseal(identity.load_seal_key(tmp_path), box, b"") == b"x"
    text = CLIENT.public_key().public_bytes_raw().hex()
    sealing.verify_parcel(sealing.public_key(text), RUN, PARCEL)
    for bad in ("", "00", "x" * 64, "00" * 33):
        with pytest.raises(InputError, match="public key"):
            sealing.public_key(bad)
