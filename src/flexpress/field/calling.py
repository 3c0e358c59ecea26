"""Calls of a courier: one question, one answer, over HTTPS.

There are two kinds of errors: `LinkDown` is worth another try (`insist` makes them), and
`RefusedByPeer` is not. Addresses name the member, "https://client-7:8443/visit", and a session
knows where each member is: so TLS always checks that it has reached the member that was named.
"""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from errno import EINVAL
from typing import TypeVar

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import ThreadedResolver

from flexpress.errors import FlexpressError
from flexpress.field.messages import Message, Problem, WireError, decode, encode
from flexpress.field.parts import SILENCE, STEP, read_all, silence_limit

_LONGEST_PROBLEM = 2**14
_ALERT = re.compile("ALERT_.*CERTIFICATE|ALERT_UNKNOWN_CA")  # of the peer, which we have accepted
_OLD = re.compile("ALERT_PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL")  # of a peer that may be anybody
_T = TypeVar("_T")
_M = TypeVar("_M", bound=Message)


class LinkDown(FlexpressError):  # noqa: N818  # a state of the link, not an error of anybody's
    """The peer was not reached, or was lost before it had answered. Another try may succeed."""

    def __init__(self, message: str, progress: int = 0) -> None:
        super().__init__(message)
        self.progress = progress  # bytes that this try has brought further


class RefusedByPeer(FlexpressError):  # noqa: N818  # its word, not an error of ours
    """The peer has answered: no. Another try would get the same answer."""

    exit_code = 5

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"{status}: {message}")
        self.status = status
        self.reason = message


class SomebodyElse(RefusedByPeer):
    """Another one is at the address: a captive portal, or who had the address before.

    Its certificate is not that of the member; or it cannot even speak TLS 1.3, as all members do.
    """


@dataclass(frozen=True)
class Patience:
    """In seconds: how long in all, how long with a silent peer, how long between tries."""

    total: float = 600.0
    silence: float = SILENCE
    first_wait: float = 0.5
    longest_wait: float = 10.0
    outlasts_others: bool = False  # whether to wait until SomebodyElse has left the address


async def insist(attempt: Callable[[], Awaitable[_T]], patience: Patience) -> _T:
    """Try until it succeeds; LinkDown after the total time, with the reason of the last try."""
    loop = asyncio.get_running_loop()
    deadline, wait, last = loop.time() + patience.total, patience.first_wait, "no answer"
    try:
        async with asyncio.timeout_at(deadline) as limit:
            while True:
                try:
                    return await attempt()
                except LinkDown as error:
                    last = str(error)
                    wait = patience.first_wait if error.progress else wait
                except SomebodyElse as error:
                    if not patience.outlasts_others:
                        raise
                    last = str(error)
                await asyncio.sleep(wait)
                wait = min(2 * wait, patience.longest_wait)
    except TimeoutError:
        if not limit.expired():
            raise
    raise LinkDown(f"given up after {patience.total:g} s: {last}")


def open_session(context: ssl.SSLContext, hosts: Mapping[str, str]) -> aiohttp.ClientSession:
    """For calls to these members: the host of each by its name. Close it at the end."""
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(ssl=context, resolver=_Hosts(hosts), use_dns_cache=False),
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=30.0),
        headers={"Accept-Encoding": "identity"},
        auto_decompress=False,  # nothing is compressed; what says so might be a bomb
        cookie_jar=aiohttp.DummyCookieJar(),
    )


async def ask(
    session: aiohttp.ClientSession,
    url: str,
    question: Message,
    *kinds: type[_M],
    most: int = 2**24,
    silence: float = SILENCE,
) -> _M:
    """POST a message; the answer is a message of one of these kinds, in at most so many bytes."""
    body = encode(question)
    headers = {"Content-Type": "application/json", "Content-Length": str(len(body))}
    with link_errors(url):
        async with (
            silence_limit(silence) as hear,
            session.post(
                url, data=_steps(body, hear), headers=headers, allow_redirects=False
            ) as response,
        ):
            await check_status(response)
            content = await read_all(response.content, most, hear)
    if content is None:
        raise RefusedByPeer(502, f"{url}: the answer has more than {most:,} bytes")
    for kind in kinds:
        try:
            return decode(content, kind, most=most)
        except WireError as error:
            last = error
    raise RefusedByPeer(502, f"{url}: {last}")


async def _steps(body: bytes, hear: Callable[[int], None]) -> AsyncIterator[bytes]:
    """A question can be long as well: the peer is not silent while it takes it."""
    for start in range(0, len(body), STEP):
        step = body[start : start + STEP]
        yield step
        hear(len(step))


@contextmanager
def link_errors(url: str) -> Iterator[None]:
    """What a call can raise becomes LinkDown, or RefusedByPeer if a certificate is the reason."""
    try:
        yield
    except (aiohttp.ClientError, OSError, EOFError) as error:  # TimeoutError is an OSError
        refusal = _certificate_refused(url, error)
        if refusal is not None:
            raise refusal from None
        message = str(error) or ("silence" if isinstance(error, TimeoutError) else repr(error))
        raise LinkDown(f"{url}: {message}") from None


async def check_status(response: aiohttp.ClientResponse) -> None:
    """Raise what a bad status means: the peer is in trouble (500 and above), or it refuses."""
    if response.status < 300:
        return
    content = await read_all(response.content, _LONGEST_PROBLEM)
    try:
        message = decode(content or b"", Problem).error
    except WireError:
        message = response.reason or "no reason given"
    response.close()
    if response.status >= 500 or response.status in (408, 429):
        raise LinkDown(f"{response.url}: {response.status}: {message}")
    raise RefusedByPeer(response.status, message)


class _Hosts(AbstractResolver):
    """Where members are; nobody else is found."""

    def __init__(self, hosts: Mapping[str, str]) -> None:
        self._hosts = dict(hosts)
        self._names = ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        if host not in self._hosts:
            raise OSError(f"{host} is not a member of this session")
        try:
            found = await self._names.resolve(self._hosts[host], port, family)
        except UnicodeError as error:  # of a name that nobody can have
            raise OSError(EINVAL, f"{self._hosts[host]}: {error}") from None
        return [{**place, "hostname": host} for place in found]

    async def close(self) -> None:
        await self._names.close()


def _certificate_refused(url: str, error: BaseException | None) -> RefusedByPeer | None:
    """Why one end does not like the certificate of the other, if that is the reason."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        if isinstance(error, aiohttp.ClientConnectorCertificateError):
            error = error.certificate_error
        if isinstance(error, ssl.SSLCertVerificationError):
            return SomebodyElse(403, f"{url}: its certificate is refused: {error.verify_message}")
        reason = str(error.reason) if isinstance(error, ssl.SSLError) else ""
        if _OLD.search(reason):
            return SomebodyElse(403, f"{url}: it does not speak our TLS: {reason}")
        if _ALERT.search(reason):
            return RefusedByPeer(403, f"{url}: it refuses our certificate: {reason}")
        error = getattr(error, "os_error", None) or error.__cause__ or error.__context__
    return None
