"""What holds from end to end, whoever carries it: signatures, and boxes sealed to the server.

The server signs snapshots, clients sign parcels (Ed25519). What is signed begins with its kind and
its run, so that a signature is good for nothing else. A sealed box is the public half of a key that
is used once (X25519), then the ciphertext with its tag (ChaCha20-Poly1305, with a key from HKDF
over both public keys). A parcel is sealed together with what its signature covers: a box that was
taken out of one parcel does not open in another.
"""

from __future__ import annotations

import hashlib

import msgspec
from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from flexpress.errors import InputError
from flexpress.field.identity import UntrustedError
from flexpress.field.messages import (
    Parcel,
    SignedSnapshot,
    Snapshot,
    UpdateName,
    WireError,
    decode,
    encode,
)

SEAL_OVERHEAD = 32 + 16
"""Bytes by which a sealed box is longer than what is in it."""
_NONCE = bytes(12)  # each key is used once


def public_key(text: str) -> Ed25519PublicKey:
    """As `Member.public_key` writes it."""
    return Ed25519PublicKey.from_public_bytes(_key_bytes(text))


def public_seal_key(text: str) -> X25519PublicKey:
    """As `make_seal_key` writes it."""
    return X25519PublicKey.from_public_bytes(_key_bytes(text))


def sign(key: Ed25519PrivateKey, content: bytes) -> str:
    return key.sign(content).hex()


def verify(key: Ed25519PublicKey, content: bytes, signature: str) -> None:
    """UntrustedError unless the owner of this key has signed this."""
    try:
        raw = bytes.fromhex(signature)
        if raw.hex() != signature:  # there is one way to write it
            raise ValueError
        key.verify(raw, content)
    except (InvalidSignature, ValueError):
        raise UntrustedError("the signature is not of this content, or not by this key") from None


def sign_snapshot(key: Ed25519PrivateKey, snapshot: Snapshot) -> SignedSnapshot:
    text = encode(snapshot).decode()
    return SignedSnapshot(text, sign(key, _statement("snapshot", snapshot.run, text.encode())))


def open_snapshot(key: Ed25519PublicKey, signed: SignedSnapshot, run: str) -> Snapshot:
    """UntrustedError unless the server has signed it for this run."""
    content = signed.snapshot.encode("utf-8", "backslashreplace")  # half a pair in it is no error
    verify(key, _statement("snapshot", run, content), signed.signature)
    try:
        snapshot = decode(content, Snapshot)
    except WireError as error:
        raise UntrustedError(f"signed by the server, but {error}") from None
    if snapshot.run != run:
        raise UntrustedError(f"the snapshot is of run {snapshot.run}, not {run}")
    return snapshot


def make_parcel(
    key: Ed25519PrivateKey,
    run: str,
    vector: bytes | memoryview,
    *,
    name: UpdateName,
    tour: int,
    version: int,
    round: int,
    steps: int,
    seal_to: X25519PublicKey | None,
) -> tuple[Parcel, tuple[bytes | memoryview, ...]]:
    """A signed parcel and what is carried: the pieces of a sealed box, or the vector as it is."""
    digest = hashlib.sha256(vector).hexdigest()
    body = _parcel_body(run, name, tour, version, round, steps, digest)
    pieces = (vector,) if seal_to is None else _sealed(seal_to, vector, body)
    carried, size = hashlib.sha256(), 0
    for piece in pieces:
        carried.update(piece)
        size += len(piece)
    content, signed = carried.hexdigest(), sign(key, body)
    return Parcel(name, tour, version, round, steps, digest, signed, content, size), pieces


def verify_parcel(key: Ed25519PublicKey, run: str, parcel: Parcel) -> None:
    """UntrustedError unless the client of this key has signed it for this run."""
    verify(key, _body_of(run, parcel), parcel.signature)


def open_parcel(
    key: Ed25519PublicKey,
    run: str,
    parcel: Parcel,
    content: bytes,
    seal_key: X25519PrivateKey | None,
) -> bytes:
    """The vector; UntrustedError unless the client of this key has signed and sent just that."""
    if hashlib.sha256(content).hexdigest() != parcel.content:
        raise UntrustedError("the content has another digest than the parcel says")
    return open_content(key, run, parcel, content, seal_key)


def open_content(
    key: Ed25519PublicKey,
    run: str,
    parcel: Parcel,
    content: bytes | memoryview,
    seal_key: X25519PrivateKey | None,
) -> bytes:
    """As `open_parcel`, of a content that was received under its digest.

    It was checked then. If it has changed since, its box does not open, or the vector differs.
    """
    verify_parcel(key, run, parcel)
    content = (
        bytes(content) if seal_key is None else unseal(seal_key, content, _body_of(run, parcel))
    )
    if hashlib.sha256(content).hexdigest() != parcel.vector:
        raise UntrustedError("the vector has another digest than its client has signed")
    return content


def seal(recipient: X25519PublicKey, plaintext: bytes, associated: bytes) -> bytes:
    """Only the recipient opens it, and only with the same associated data. Less than 2 GiB."""
    return b"".join(_sealed(recipient, plaintext, associated))


def _sealed(
    recipient: X25519PublicKey, plaintext: bytes | memoryview, associated: bytes
) -> tuple[bytes, bytes]:
    """The two pieces of a box: together they would be in memory twice."""
    once = X25519PrivateKey.generate()
    sender = once.public_key().public_bytes_raw()
    key = _seal_key(once.exchange(recipient), sender, recipient.public_bytes_raw())
    return sender, ChaCha20Poly1305(key).encrypt(_NONCE, plaintext, associated)


def unseal(recipient: X25519PrivateKey, box: bytes | memoryview, associated: bytes) -> bytes:
    """UntrustedError unless it was sealed to this recipient, with these associated data."""
    sender, ciphertext = bytes(box[:32]), memoryview(box)[32:]
    try:
        shared = recipient.exchange(X25519PublicKey.from_public_bytes(sender))
        key = _seal_key(shared, sender, recipient.public_key().public_bytes_raw())
        return ChaCha20Poly1305(key).decrypt(_NONCE, ciphertext, associated)
    except (InvalidTag, ValueError, OverflowError):  # or too short or long, or a bad point
        raise UntrustedError("the sealed box does not open") from None


def _seal_key(shared: bytes, sender: bytes, recipient: bytes) -> bytes:
    info = b"flexpress sealed box 1" + sender + recipient
    return HKDF(SHA256(), length=32, salt=None, info=info).derive(shared)


def _statement(kind: str, run: str, content: bytes) -> bytes:
    """Neither kind nor run contains a zero byte: no two statements have the same bytes."""
    return b"\0".join((b"flexpress 1", kind.encode(), run.encode(), content))


def _body_of(run: str, parcel: Parcel) -> bytes:
    return _parcel_body(
        run, parcel.name, parcel.tour, parcel.version, parcel.round, parcel.steps, parcel.vector
    )


def _parcel_body(run: str, *fields: object) -> bytes:
    """All fields of a parcel before its signature, in the order of `Parcel`."""
    return _statement("parcel", run, msgspec.json.encode(fields))


def _key_bytes(text: str) -> bytes:
    try:
        content = bytes.fromhex(text)
    except ValueError:
        content = b""
    if len(content) != 32:
        raise InputError(f"public key {text[:80]!r}: must be 32 bytes in hexadecimal")
    return content
