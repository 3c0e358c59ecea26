"""Certificates of those who do not belong: each in a folder like that of a kit."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography.x509.oid import ExtendedKeyUsageOID
from handshakes import unusual

from flexpress.field import identity
from flexpress.field.tls import caller_context


def stranger(kits: Path, folder: Path, kind: str) -> ssl.SSLContext:
    """The context of a caller that is not a courier of this field."""
    authority = identity.load_authority(kits / "authority")
    if kind == "nobody":
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(kits / "authority" / identity.AUTHORITY)
        return context
    if kind == "of another authority":
        other = identity.make_authority(folder / "other")
        identity.issue(other, "courier-1", "courier", folder / "kit")
        return _trusting(kits, folder / "kit")
    if kind == "self-signed":
        return caller_context(unusual(authority, folder / "kit", self_signed=True))
    if kind == "expired":
        start = datetime.now(UTC) - timedelta(days=3)
        end = start + timedelta(days=1)
        return caller_context(unusual(authority, folder / "kit", start=start, end=end))
    if kind == "a client that calls itself courier":
        purpose = ExtendedKeyUsageOID.SERVER_AUTH
        return caller_context(unusual(authority, folder / "kit", purpose=purpose))
    if kind == "without a role":
        return caller_context(unusual(authority, folder / "kit", role="pilot"))
    if kind == "with two names":
        return caller_context(unusual(authority, folder / "kit", names=("courier-2",)))
    if kind == "never enrolled":
        identity.issue(authority, "courier-9", "courier", folder / "kit")
        return caller_context(folder / "kit")
    if kind == "of an old protocol":
        context = caller_context(kits / "courier-1")
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        return context
    return caller_context(kits / kind)


def _trusting(kits: Path, kit: Path) -> ssl.SSLContext:
    """It knows our authority, though ours does not know it."""
    context = caller_context(kit)
    context.load_verify_locations(kits / "authority" / identity.AUTHORITY)
    return context
