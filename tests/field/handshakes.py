"""TLS handshakes in memory, and certificates that our authority would never make."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from flexpress.field import identity


def shake_hands(
    answering: ssl.SSLContext, calling: ssl.SSLContext, name: str | None
) -> tuple[ssl.SSLObject, ssl.SSLObject]:
    """Both ends after the handshake, the answering one first; ssl.SSLError if either refuses."""
    to_server, to_caller = ssl.MemoryBIO(), ssl.MemoryBIO()
    server = answering.wrap_bio(to_server, to_caller, server_side=True)
    caller = calling.wrap_bio(to_caller, to_server, server_hostname=name)
    done: set[ssl.SSLObject] = set()
    for _ in range(10):
        for end in (caller, server):
            try:
                end.do_handshake()
                done.add(end)
            except ssl.SSLWantReadError:
                pass
    assert len(done) == 2
    return server, caller


def unusual(
    authority: identity.Authority,
    folder: Path,
    *,
    name: str = "courier-1",
    role: str = "courier",
    purpose: x509.ObjectIdentifier = ExtendedKeyUsageOID.CLIENT_AUTH,
    names: tuple[str, ...] | None = None,
    start: datetime | None = None,
    end: datetime | None = None,
    self_signed: bool = False,
) -> Path:
    """A kit like those of `issue`, with what cannot be asked for there."""
    key, now = Ed25519PrivateKey.generate(), datetime.now(UTC)
    signer = key if self_signed else authority.key
    subject = x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATIONAL_UNIT_NAME, role),
            x509.NameAttribute(NameOID.COMMON_NAME, name),
        ]
    )
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject if self_signed else authority.certificate.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(start or now - timedelta(days=1))
        .not_valid_after(end or now + timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([purpose]), critical=True)
        .add_extension(
            x509.SubjectAlternativeName([x509.DNSName(each) for each in names or (name,)]),
            critical=False,
        )
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()),
            critical=False,
        )
    )
    certificate = builder.sign(signer, None)
    folder.mkdir()
    (folder / identity.CERTIFICATE).write_bytes(certificate.public_bytes(Encoding.PEM))
    (folder / identity.AUTHORITY).write_bytes(authority.certificate.public_bytes(Encoding.PEM))
    (folder / identity.KEY).write_bytes(
        key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    )
    return folder
