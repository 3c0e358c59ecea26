"""Who is who: an authority of our own, and a key and a certificate for each member.

A member is named in its certificate (CN, and a DNS name in SAN), with its role (OU). The role is
also in the purpose that TLS itself checks: couriers and operators only call, servers and clients
only answer. So a client's certificate opens no port, and a courier cannot pose as a server or
client.

All certificates of an authority are valid as long as the authority itself: for ten years, from a
week before it was made, since clocks in the field are wrong. So a member that joins later is not
too young for a sensor whose clock has stood still. What happens without a clock: see `tls`.
"""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal, get_args

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from flexpress.errors import FlexpressError, InputError
from flexpress.files.disk import make_folder, read_bytes, reason

Role = Literal["server", "courier", "client", "operator"]
ROLES: tuple[Role, ...] = get_args(Role)

KEY, CERTIFICATE, AUTHORITY = "key.pem", "certificate.pem", "authority.pem"
"""The files of a member's kit that say who it is."""
AUTHORITY_KEY = "authority-key.pem"  # stays in the office
SEAL_KEY = "seal-key.pem"  # only in the server's kit

_PURPOSE = {
    "server": ExtendedKeyUsageOID.SERVER_AUTH,
    "client": ExtendedKeyUsageOID.SERVER_AUTH,
    "courier": ExtendedKeyUsageOID.CLIENT_AUTH,
    "operator": ExtendedKeyUsageOID.CLIENT_AUTH,
}
_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_HOST = re.compile(r"[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})+", re.IGNORECASE)
_EARLIER, _YEARS = timedelta(days=7), timedelta(days=3653)


class UntrustedError(FlexpressError):
    """A certificate, signature or sealed box that is not what it says."""

    exit_code = 5


@dataclass(frozen=True)
class Member:
    """What others know of a member."""

    name: str
    role: Role
    fingerprint: str
    public_key: str  # Ed25519, 32 bytes in hexadecimal


@dataclass(frozen=True)
class Authority:
    """Who has its key makes members."""

    key: Ed25519PrivateKey
    certificate: x509.Certificate


def make_authority(folder: Path, now: datetime | None = None) -> Authority:
    """A new one, in files of this folder."""
    start = (now or datetime.now(UTC)).replace(microsecond=0) - _EARLIER
    key, serial = Ed25519PrivateKey.generate(), x509.random_serial_number()
    subject = _subject(f"flexpress authority {serial:x}"[:40], "authority")
    builder = (
        _certificate(subject, subject, key.public_key(), key.public_key(), serial)
        .not_valid_before(start)
        .not_valid_after(start + _YEARS)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_key_usage(signs_certificates=True), critical=True)
    )
    authority = Authority(key, builder.sign(key, None))
    make_folder(folder)
    _write_key(folder / AUTHORITY_KEY, key)
    _write_new(folder / AUTHORITY, _pem(authority.certificate))
    return authority


def load_authority(folder: Path) -> Authority:
    key = _read_key(folder / AUTHORITY_KEY)
    if not isinstance(key, Ed25519PrivateKey):
        raise _not_a_key(folder / AUTHORITY_KEY)
    return Authority(key, load_certificate(folder / AUTHORITY))


def issue(
    authority: Authority, name: str, role: Role, folder: Path, hosts: Iterable[str] = ()
) -> Member:
    """Key, certificate and the authority's certificate, in files of this folder.

    A caller asks for the name, wherever the member is; `hosts` are for tools that ask for an
    address.
    """
    names = [x509.DNSName(_checked_name(name)), *(_host(host) for host in hosts)]
    key, signer = Ed25519PrivateKey.generate(), authority.certificate
    builder = (
        _certificate(
            _subject(name, role), signer.subject, key.public_key(), authority.key.public_key()
        )
        .not_valid_before(signer.not_valid_before_utc)
        .not_valid_after(signer.not_valid_after_utc)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_key_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([_purpose(role)]), critical=False)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
    )
    certificate = builder.sign(authority.key, None)
    make_folder(folder)
    _write_key(folder / KEY, key)
    _write_new(folder / CERTIFICATE, _pem(certificate))
    _write_new(folder / AUTHORITY, _pem(signer))
    return Member(name, role, fingerprint(certificate), key.public_key().public_bytes_raw().hex())


def make_seal_key(folder: Path) -> str:
    """A key to which updates are sealed, in a file of this folder; its public half is returned."""
    key = X25519PrivateKey.generate()
    make_folder(folder)
    _write_key(folder / SEAL_KEY, key)
    return key.public_key().public_bytes_raw().hex()


def load_key(folder: Path) -> Ed25519PrivateKey:
    """The key with which the member of this kit signs."""
    key = _read_key(folder / KEY)
    if not isinstance(key, Ed25519PrivateKey):
        raise _not_a_key(folder / KEY)
    return key


def load_seal_key(folder: Path) -> X25519PrivateKey:
    key = _read_key(folder / SEAL_KEY)
    if not isinstance(key, X25519PrivateKey):
        raise _not_a_key(folder / SEAL_KEY)
    return key


def load_certificate(path: Path) -> x509.Certificate:
    try:
        return x509.load_pem_x509_certificate(read_bytes(path))
    except ValueError:
        raise InputError(f"{path}: not a certificate; take the file of the kit") from None


def fingerprint(certificate: x509.Certificate) -> str:
    return certificate.fingerprint(hashes.SHA256()).hex()


def _certificate(
    subject: x509.Name,
    issuer: x509.Name,
    key: Ed25519PublicKey,
    issuer_key: Ed25519PublicKey,
    serial: int | None = None,
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(serial or x509.random_serial_number())
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key), critical=False
        )
    )


def _subject(name: str, role: str) -> x509.Name:
    return x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATIONAL_UNIT_NAME, role),
            x509.NameAttribute(NameOID.COMMON_NAME, name),
        ]
    )


def _key_usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _purpose(role: str) -> x509.ObjectIdentifier:
    if role not in _PURPOSE:
        raise InputError(f"role {role!r}: must be one of {', '.join(_PURPOSE)}")
    return _PURPOSE[role]


def _checked_name(name: str) -> str:
    # Names are compared as host names are: without regard to case, and in ASCII.
    if not _NAME.fullmatch(name):
        raise InputError(
            f"member {name!r}: must be 1 to 63 of a-z, 0-9 and hyphens, none at its ends"
        )
    return name


def _host(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        pass
    if not _HOST.fullmatch(host):  # without a dot it could be the name of another member
        raise InputError(f"host {host!r}: must be an address, or a name with a dot in it")
    return x509.DNSName(host)


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _read_key(path: Path) -> object:
    try:
        return serialization.load_pem_private_key(read_bytes(path), None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise _not_a_key(path) from None


def _not_a_key(path: Path) -> InputError:
    return InputError(f"{path}: not the key of a member; take the file of the kit")


def _write_key(path: Path, key: Ed25519PrivateKey | X25519PrivateKey) -> None:
    content = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    _write_new(path, content, mode=0o600)


def _write_new(path: Path, content: bytes, mode: int = 0o644) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    except FileExistsError:
        raise InputError(f"{path}: exists already; name another folder") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {reason(error)}") from None
    with open(descriptor, "wb") as file:
        file.write(content)
