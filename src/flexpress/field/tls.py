"""TLS between members: 1.3 only, both sides show certificates, no other authority is known.

Couriers call, servers and clients answer; TLS itself checks that by the purposes in certificates.
Whom a courier reached is checked by name, in the handshake: `server_hostname="client-7"`.

Clocks. A clock that shows a time before the authority was made has never been set: a sensor
without a battery wakes up in 1970. Its program then leaves out the validity of certificates, and
nothing else. This gives nothing away: who can turn a clock to 1970 can also turn it to a day on
which an old certificate was valid; members are excluded by revocation, not by waiting. A clock that
shows a time after the ten years refuses everybody: either it is to be set, or the kits are to be
made anew. The clock is looked at when a context is made, so once for each run of a program.
"""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.x509.oid import NameOID

from flexpress.errors import InputError
from flexpress.field.identity import (
    AUTHORITY,
    CERTIFICATE,
    KEY,
    ROLES,
    Role,
    UntrustedError,
    fingerprint,
    load_certificate,
)
from flexpress.files.disk import reason

_NO_CHECK_TIME = 0x200000  # X509_V_FLAG_NO_CHECK_TIME of OpenSSL, which Python does not name
_NOBODY = "the certificate does not name a member and its role"


@dataclass(frozen=True)
class Peer:
    """Who is at the other end, by a certificate of our authority."""

    name: str
    role: Role
    fingerprint: str  # SHA-256 of the certificate, in hexadecimal


def server_context(folder: Path, now: datetime | None = None) -> ssl.SSLContext:
    """For a port of the member of this kit: nobody is answered without a courier's certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.verify_mode = ssl.CERT_REQUIRED
    context.num_tickets = 0  # no resumption: certificates are checked for every connection
    return _prepared(context, folder, now)


def caller_context(folder: Path, now: datetime | None = None) -> ssl.SSLContext:
    """For calls by the member of this kit. The name to be checked is `server_hostname`."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.hostname_checks_common_name = False
    return _prepared(context, folder, now)


def peer_of(connection: Any) -> Peer:
    """Of an asyncio transport or an ssl object after the handshake; else UntrustedError."""
    if hasattr(connection, "get_extra_info"):
        connection = connection.get_extra_info("ssl_object")
    content = None if connection is None else connection.getpeercert(binary_form=True)
    if not content:
        raise UntrustedError("the connection has no certificate")
    return read_peer(content)


@lru_cache(maxsize=1024)  # each request of a connection asks
def read_peer(content: bytes) -> Peer:
    """Name and role in a certificate (DER) that TLS has verified; UntrustedError if it has none."""
    try:
        certificate = x509.load_der_x509_certificate(content)
        (name,) = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
        (role,) = certificate.subject.get_attributes_for_oid(NameOID.ORGANIZATIONAL_UNIT_NAME)
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except Exception:  # the parser has many, and new versions have more
        raise UntrustedError(_NOBODY) from None
    if name.value not in names.get_values_for_type(x509.DNSName):
        raise UntrustedError(_NOBODY)
    for known in ROLES:
        if role.value == known:
            return Peer(str(name.value), known, fingerprint(certificate))
    raise UntrustedError(_NOBODY)


def _prepared(context: ssl.SSLContext, folder: Path, now: datetime | None) -> ssl.SSLContext:
    context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_3
    context.verify_flags |= ssl.VerifyFlags.VERIFY_X509_STRICT
    start = load_certificate(folder / AUTHORITY).not_valid_before_utc
    if (now or datetime.now(UTC)) < start:  # see the top: the clock has not been set
        context.verify_flags |= ssl.VerifyFlags(_NO_CHECK_TIME)
    try:
        context.load_verify_locations(folder / AUTHORITY)
        context.load_cert_chain(folder / CERTIFICATE, folder / KEY)
    except OSError as error:  # ssl.SSLError is one
        raise InputError(f"{folder}: not a member's kit: {reason(error)}") from None
    return context
