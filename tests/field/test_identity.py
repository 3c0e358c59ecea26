"""The authority, kits, and who is let in by TLS."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.x509.oid import ExtendedKeyUsageOID
from handshakes import shake_hands, unusual

from flexpress.errors import InputError
from flexpress.field import identity, tls
from flexpress.field.identity import AUTHORITY, CERTIFICATE, KEY

NOW = datetime.now(UTC)


@dataclass(frozen=True)
class Kits:
    folder: Path
    authority: identity.Authority

    def __getitem__(self, name: str) -> Path:
        return self.folder / name


@pytest.fixture(scope="module")
def kits(tmp_path_factory: pytest.TempPathFactory) -> Kits:
    folder = tmp_path_factory.mktemp("kits")
    authority = identity.make_authority(folder / "authority")
    identity.issue(authority, "server", "server", folder / "server", ["192.0.2.7", "base.example"])
    for name in ("courier-1", "courier-2"):
        identity.issue(authority, name, "courier", folder / name)
    for name in ("client-7", "client-8"):
        identity.issue(authority, name, "client", folder / name)
    return Kits(folder, authority)


@pytest.fixture(scope="module")
def others(tmp_path_factory: pytest.TempPathFactory) -> Kits:
    """The same names, by another authority."""
    folder = tmp_path_factory.mktemp("others")
    authority = identity.make_authority(folder / "authority")
    identity.issue(authority, "server", "server", folder / "server")
    identity.issue(authority, "courier-1", "courier", folder / "courier-1")
    return Kits(folder, authority)


def meet(answering: Path, calling: Path, name: str) -> tuple[tls.Peer, tls.Peer]:
    """Whom the answering end and the calling end see."""
    server, caller = shake_hands(tls.server_context(answering), tls.caller_context(calling), name)
    return tls.peer_of(server), tls.peer_of(caller)


def test_a_courier_calls_the_server_and_a_client(kits: Kits) -> None:
    for name, role in (("server", "server"), ("client-7", "client")):
        courier, answering = meet(kits[name], kits["courier-1"], name)
        assert (courier.name, courier.role) == ("courier-1", "courier")
        assert (answering.name, answering.role) == (name, role)


def test_it_is_tls_1_3_with_ed25519(kits: Kits) -> None:
    server, caller = shake_hands(
        tls.server_context(kits["server"]), tls.caller_context(kits["courier-1"]), "server"
    )
    assert server.version() == caller.version() == "TLSv1.3"
    assert server.session_reused is caller.session_reused is False
    certificate = identity.load_certificate(kits["server"] / CERTIFICATE)
    assert certificate.signature_algorithm_oid._name == "ed25519"


def test_the_fingerprint_is_that_of_the_certificate(kits: Kits, tmp_path: Path) -> None:
    member = identity.issue(kits.authority, "courier-3", "courier", tmp_path)
    courier, _ = meet(kits["server"], tmp_path, "server")
    assert courier == tls.Peer("courier-3", "courier", member.fingerprint)
    assert (
        bytes.fromhex(member.public_key)
        == identity.load_key(tmp_path).public_key().public_bytes_raw()
    )


@pytest.mark.parametrize("name", ["client-8", "courier-1", "server", "client-70", "192.0.2.7"])
def test_another_name_than_was_asked_for_is_refused(kits: Kits, name: str) -> None:
    with pytest.raises(ssl.SSLCertVerificationError, match=r"mismatch|doesn't match"):
        meet(kits["client-7"], kits["courier-1"], name)


def test_other_tools_may_ask_for_the_address(kits: Kits) -> None:
    for host in ("192.0.2.7", "base.example"):
        meet(kits["server"], kits["courier-1"], host)


@pytest.mark.parametrize("caller", ["client-7", "client-8", "server"])
def test_only_couriers_call(kits: Kits, caller: str) -> None:
    """Not even the server's own certificate opens its port."""
    for answering in ("server", "client-7"):
        with pytest.raises(ssl.SSLCertVerificationError, match="unsuitable certificate purpose"):
            meet(kits[answering], kits[caller], answering)


def test_a_courier_does_not_answer(kits: Kits) -> None:
    with pytest.raises(ssl.SSLCertVerificationError, match="unsuitable certificate purpose"):
        meet(kits["courier-2"], kits["courier-1"], "courier-2")


def test_another_authority_is_refused_on_both_sides(kits: Kits, others: Kits) -> None:
    with pytest.raises(ssl.SSLCertVerificationError):
        meet(kits["server"], others["courier-1"], "server")
    with pytest.raises(ssl.SSLCertVerificationError):
        meet(others["server"], kits["courier-1"], "server")


def test_each_side_refuses_by_itself(kits: Kits, others: Kits) -> None:
    """Although the other side has been told to trust both."""
    server = tls.server_context(kits["server"])
    caller = tls.caller_context(others["courier-1"])
    caller.load_verify_locations(kits["server"] / AUTHORITY)
    with pytest.raises(ssl.SSLCertVerificationError, match=r"issuer certificate|self.signed"):
        shake_hands(server, caller, "server")
    server = tls.server_context(others["server"])
    server.load_verify_locations(kits["server"] / AUTHORITY)
    with pytest.raises(ssl.SSLCertVerificationError, match=r"issuer certificate|self.signed"):
        shake_hands(server, tls.caller_context(kits["courier-1"]), "server")


def test_self_signed_is_refused(kits: Kits, tmp_path: Path) -> None:
    kit = unusual(kits.authority, tmp_path / "kit", self_signed=True)
    with pytest.raises(ssl.SSLCertVerificationError, match=r"self.signed|issuer"):
        meet(kits["server"], kit, "server")


def test_a_member_makes_no_members(kits: Kits, tmp_path: Path) -> None:
    """A courier signs a certificate with its own key, and shows both."""
    courier = identity.Authority(
        identity.load_key(kits["courier-1"]),
        identity.load_certificate(kits["courier-1"] / CERTIFICATE),
    )
    kit = unusual(courier, tmp_path / "kit", name="courier-9")
    chain = (kit / CERTIFICATE).read_bytes() + (kit / AUTHORITY).read_bytes()
    (kit / CERTIFICATE).write_bytes(chain)
    shutil.copy(kits["server"] / identity.AUTHORITY, kit / AUTHORITY)
    with pytest.raises(ssl.SSLCertVerificationError, match=r"invalid CA|issuer|key usage"):
        meet(kits["server"], kit, "server")


def test_no_certificate_is_refused(kits: Kits) -> None:
    caller = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    caller.load_verify_locations(kits["server"] / AUTHORITY)
    with pytest.raises(ssl.SSLError, match="PEER_DID_NOT_RETURN_A_CERTIFICATE"):
        shake_hands(tls.server_context(kits["server"]), caller, "server")


def test_tls_1_2_is_refused_on_both_sides(kits: Kits) -> None:
    old = tls.caller_context(kits["courier-1"])
    old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_2
    with pytest.raises(ssl.SSLError, match="UNSUPPORTED_PROTOCOL"):
        shake_hands(tls.server_context(kits["server"]), old, "server")
    old = tls.server_context(kits["server"])
    old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_2
    with pytest.raises(ssl.SSLError, match=r"UNSUPPORTED_PROTOCOL|PROTOCOL_VERSION"):
        shake_hands(old, tls.caller_context(kits["courier-1"]), "server")


def test_expired_is_refused(kits: Kits, tmp_path: Path) -> None:
    kit = unusual(kits.authority, tmp_path / "kit", end=NOW - timedelta(hours=1))
    with pytest.raises(ssl.SSLCertVerificationError, match="expired"):
        meet(kits["server"], kit, "server")


def test_an_expired_authority_is_refused(tmp_path: Path) -> None:
    authority = identity.make_authority(tmp_path / "a", now=NOW - timedelta(days=3660))
    identity.issue(authority, "server", "server", tmp_path / "server")
    identity.issue(authority, "courier-1", "courier", tmp_path / "courier-1")
    with pytest.raises(ssl.SSLCertVerificationError, match="expired"):
        meet(tmp_path / "server", tmp_path / "courier-1", "server")


def test_a_clock_may_be_days_behind_and_members_may_join_late(tmp_path: Path) -> None:
    """The sensor's clock shows a day six days before the authority was made."""
    authority = identity.make_authority(tmp_path / "a", now=NOW + timedelta(days=6))
    identity.issue(authority, "client-7", "client", tmp_path / "client-7")
    identity.issue(authority, "courier-1", "courier", tmp_path / "courier-1")
    meet(tmp_path / "client-7", tmp_path / "courier-1", "client-7")
    for name in ("client-7", "courier-1"):
        certificate = identity.load_certificate(tmp_path / name / CERTIFICATE)
        assert certificate.not_valid_before_utc == authority.certificate.not_valid_before_utc
        assert certificate.not_valid_after_utc == authority.certificate.not_valid_after_utc


def test_a_clock_that_was_never_set_is_not_asked(tmp_path: Path) -> None:
    """To see it without another clock, the authority is made in a hundred days."""
    authority = identity.make_authority(tmp_path / "a", now=NOW + timedelta(days=100))
    identity.issue(authority, "client-7", "client", tmp_path / "client-7")
    identity.issue(authority, "client-8", "client", tmp_path / "client-8")
    identity.issue(authority, "courier-1", "courier", tmp_path / "courier-1")
    meet(tmp_path / "client-7", tmp_path / "courier-1", "client-7")
    with pytest.raises(ssl.SSLCertVerificationError, match="mismatch"):
        meet(tmp_path / "client-7", tmp_path / "courier-1", "client-8")
    with pytest.raises(ssl.SSLCertVerificationError, match="purpose"):
        meet(tmp_path / "client-7", tmp_path / "client-8", "client-7")
    set_by_now = tls.server_context(tmp_path / "client-7", now=NOW + timedelta(days=101))
    with pytest.raises(ssl.SSLCertVerificationError, match="not yet valid"):
        shake_hands(set_by_now, tls.caller_context(tmp_path / "courier-1"), "client-7")


def test_a_clock_that_was_never_set_sees_other_authorities(kits: Kits, others: Kits) -> None:
    never_set = tls.server_context(kits["client-7"], now=datetime(1970, 1, 1, tzinfo=UTC))
    with pytest.raises(ssl.SSLCertVerificationError):
        shake_hands(never_set, tls.caller_context(others["courier-1"]), "client-7")


@pytest.mark.parametrize(
    ("role", "names"), [("pilot", None), ("", None), ("courier", ("courier-2",))]
)
def test_a_certificate_without_a_member_in_it(
    kits: Kits, tmp_path: Path, role: str, names: tuple[str, ...] | None
) -> None:
    """By our authority, so TLS lets it in; but it is nobody."""
    kit = unusual(kits.authority, tmp_path / "kit", role=role or "x", names=names)
    with pytest.raises(identity.UntrustedError, match="does not name a member"):
        meet(kits["server"], kit, "server")


def test_no_peer_without_tls() -> None:
    with pytest.raises(identity.UntrustedError, match="no certificate"):
        tls.peer_of(None)


def test_keys_are_for_their_owner_only(kits: Kits, tmp_path: Path) -> None:
    identity.make_seal_key(tmp_path)
    for path in (
        kits["authority"] / identity.AUTHORITY_KEY,
        kits["client-7"] / KEY,
        tmp_path / identity.SEAL_KEY,
    ):
        assert path.stat().st_mode & 0o777 == 0o600


def test_nothing_is_overwritten(kits: Kits) -> None:
    with pytest.raises(InputError, match="exists already"):
        identity.make_authority(kits["authority"])
    with pytest.raises(InputError, match="exists already"):
        identity.issue(kits.authority, "client-7", "client", kits["client-7"])


@pytest.mark.parametrize(
    "name", ["", "Client-7", "client 7", "-x", "x-", "a.b", "ä", "x" * 64, "*"]
)
def test_names_that_tls_would_not_compare_exactly(kits: Kits, tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="member"):
        identity.issue(kits.authority, name, "client", tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("host", ["client-8", "*.example", "", "ä.example", "a..b"])
def test_hosts_that_could_be_taken_for_a_member(kits: Kits, tmp_path: Path, host: str) -> None:
    with pytest.raises(InputError, match="host"):
        identity.issue(kits.authority, "client-7", "client", tmp_path, [host])


def test_a_role_that_does_not_exist(kits: Kits, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="role 'pilot'"):
        identity.issue(kits.authority, "x", "pilot", tmp_path)  # type: ignore[arg-type]  # on purpose


def test_a_kit_that_is_none(kits: Kits, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        tls.server_context(tmp_path)
    shutil.copytree(kits["client-7"], tmp_path / "kit")
    shutil.copy(kits["client-8"] / KEY, tmp_path / "kit" / KEY)
    with pytest.raises(InputError, match="not a member's kit"):
        tls.server_context(tmp_path / "kit")
    (tmp_path / "kit" / KEY).write_text("no key")
    with pytest.raises(InputError, match="not the key"):
        identity.load_key(tmp_path / "kit")
    shutil.copy(kits["client-7"] / KEY, tmp_path / "kit" / identity.SEAL_KEY)
    with pytest.raises(InputError, match="not the key"):
        identity.load_seal_key(tmp_path / "kit")


def test_an_authority_is_read_again(kits: Kits, tmp_path: Path) -> None:
    again = identity.load_authority(kits["authority"])
    identity.issue(again, "courier-9", "courier", tmp_path)
    courier, _ = meet(kits["server"], tmp_path, "server")
    assert courier.name == "courier-9"


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_openssl_agrees(kits: Kits) -> None:
    for name, purpose in (("server", "sslserver"), ("client-7", "sslserver")):
        assert verdict(kits, name, purpose).endswith(": OK\n")
        assert "unsuitable certificate purpose" in verdict(kits, name, "sslclient")
    assert verdict(kits, "courier-1", "sslclient").endswith(": OK\n")
    subject = openssl("x509", "-in", str(kits["courier-1"] / CERTIFICATE), "-noout", "-subject")
    assert subject.replace(" ", "") == "subject=OU=courier,CN=courier-1\n"


def verdict(kits: Kits, name: str, purpose: str) -> str:
    paths = (str(kits["authority"] / AUTHORITY), str(kits[name] / CERTIFICATE))
    return openssl("verify", "-x509_strict", "-purpose", purpose, "-CAfile", *paths)


def openssl(*arguments: str) -> str:
    done = subprocess.run(["openssl", *arguments], capture_output=True, text=True, timeout=120)
    return done.stdout + done.stderr


def test_cryptography_agrees(kits: Kits, others: Kits) -> None:
    """Signature and purpose only: its path validation is for the web, without Ed25519."""
    good = identity.load_certificate(kits["client-7"] / CERTIFICATE)
    good.verify_directly_issued_by(kits.authority.certificate)
    usage = good.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert list(usage) == [ExtendedKeyUsageOID.SERVER_AUTH]
    with pytest.raises((ValueError, InvalidSignature)):
        good.verify_directly_issued_by(others.authority.certificate)
