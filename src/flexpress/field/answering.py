"""The port of a server or client: who may ask, and how questions are read and answered."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar

import aiohttp
from aiohttp import web

from flexpress.errors import InputError
from flexpress.field.identity import Role, UntrustedError
from flexpress.field.messages import Message, Problem, WireError, decode, encode
from flexpress.field.parts import SILENCE, read_all, silence_limit
from flexpress.field.tables import Refused
from flexpress.field.tls import Peer, peer_of
from flexpress.files.disk import reason

_SEND_BUFFER = 2**18  # bytes of the system's: what is in it looks as if it had been sent
_PEER = web.RequestKey("peer", Peer)
_M = TypeVar("_M", bound=Message)
_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


async def serve(
    app: web.Application, context: ssl.SSLContext, host: str, port: int, silence: float = SILENCE
) -> tuple[web.AppRunner, int]:
    """Answer at this port (0: any that is free) until `cleanup` of the runner; with the port."""
    runner = web.AppRunner(
        app,
        access_log=None,
        keepalive_timeout=silence,  # also for a caller that connects and asks nothing
        lingering_time=2.0,  # to hear a refusal, before what is left of the body is cut off
        shutdown_timeout=5.0,
        auto_decompress=False,
    )
    await runner.setup()
    try:
        listening = _listen(host, port)
        await web.SockSite(runner, listening, ssl_context=context).start()
    except OSError as error:
        await runner.cleanup()
        raise InputError(f"{host}:{port}: cannot listen: {reason(error)}") from None
    return runner, listening.getsockname()[1]


def guard(
    role: Role,
    is_revoked: Callable[[str], bool],
    tell: Callable[[InputError], None] = lambda error: None,
) -> Callable[..., Awaitable[web.Response]]:
    """A middleware: only members of this role come in, and errors become messages.

    A handler finds out with `peer_in` who is asking. `tell` hears of trouble with our disk.
    """

    @web.middleware
    async def guarded(request: web.Request, handler: _Handler) -> web.StreamResponse:
        try:
            peer = peer_of(request.transport)
            if peer.role != role:
                raise Refused(403, f"{peer.name} is a {peer.role}; this port is for a {role}")
            if is_revoked(peer.name):
                raise Refused(403, f"the certificate of {peer.name} is revoked")
            request[_PEER] = peer
            return await handler(request)
        except Refused as error:
            return problem(error.status, error.reason)
        except UntrustedError as error:
            return problem(403, str(error))
        except WireError as error:
            return problem(422, str(error))
        except InputError as error:  # our disk is full, or broken
            tell(error)
            return problem(507, str(error))
        except web.HTTPException as error:
            return problem(error.status, error.reason)

    return guarded  # type: ignore[return-value]  # aiohttp's decorator hides the type


def peer_in(request: web.Request) -> Peer:
    """Who is asking, in a handler behind `guard`."""
    return request[_PEER]


async def read_message(
    request: web.Request, kind: type[_M], *, most: int = 2**24, silence: float = SILENCE
) -> _M:
    """The body of a request; Refused if it has more bytes than that, before they are read."""
    if (request.content_length or 0) > most:
        raise Refused(413, f"{request.content_length:,} bytes: must be at most {most:,}")
    with caller_lost():
        async with silence_limit(silence) as hear:
            content = await read_all(request.content, most, hear)
    if content is None:
        raise Refused(413, f"the body must have at most {most:,} bytes")
    return decode(content, kind, most=most)


def answer(message: Message) -> web.Response:
    return web.Response(body=encode(message), content_type="application/json")


def problem(status: int, message: str, headers: Mapping[str, str] | None = None) -> web.Response:
    return web.Response(
        status=status,
        body=encode(Problem(message)),
        content_type="application/json",
        headers=headers,
    )


@contextmanager
def caller_lost() -> Iterator[None]:
    """While a body is read. The answer to a caller that is gone reaches nobody, and that is all."""
    try:
        yield
    except TimeoutError:
        raise Refused(408, "silence") from None
    except (aiohttp.ClientError, web.RequestPayloadError, OSError) as error:
        raise Refused(400, f"the body has ended early: {error}") from None


def _listen(host: str, port: int) -> socket.socket:
    (family, kind, protocol, _, address), *_ = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )
    listening = socket.socket(family, kind, protocol)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER)
        listening.bind(address)
    except OSError:
        listening.close()
        raise
    return listening
