"""A Ray cluster to work on: one that is running, or one on this machine for as long as we need it.

Ray is loaded here and nowhere before: it is an extra, and slow to import.
"""

from __future__ import annotations

import logging
import os
import re
import signal
import socket
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from flexpress.errors import FlexpressError, InputError
from flexpress.workers.processes import num_cores

LOCAL, AUTO = "local", "auto"

CONNECT_SECONDS = 5.0
"""To wait for somebody who listens at an address."""

LONGEST_LINE = 300

SETTINGS = 4
"""The type of a frame."""

QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",  # nobody is told that we are at work
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # or Ray warns of what it will do one day
}

ALONE = {**QUIET, "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
"""For a cluster of our own: off Windows and macOS too, Ray then listens to this machine only."""


@contextmanager
def on_cluster(address: str | None = None, *, num_cpus: int | None = None) -> Iterator[Any]:
    """The module `ray`, connected to the cluster at HOST:PORT, or `auto`: the one we are part of.

    `local` is a cluster of our own on this machine, with so many cores; it ends with the block.
    A program that has called `ray.init` keeps what it has: without an address that is used.
    """
    if address == AUTO:
        address = os.environ.get("RAY_ADDRESS", AUTO)  # as Ray would
    with environment(ALONE if address in (None, LOCAL) else QUIET):
        ray = import_ray()
        ours = not ray.is_initialized()
        if ours:
            connect(ray, LOCAL if address is None else address, num_cpus)
        else:
            check_same(ray, address)
    if not ours:
        yield ray
        return
    with hushed(ray):  # to the end: what it has held back it prints then
        try:
            yield ray
        finally:
            ray.shutdown()


def connected(address: str | None, num_cpus: int | None) -> AbstractContextManager[object]:
    """To the cluster at this address, if one is given: before any work, as it may not be there."""
    return nullcontext() if address is None else on_cluster(address, num_cpus=num_cpus)


def import_ray() -> Any:
    try:
        import ray
    except ImportError:
        raise InputError('Ray is not installed: pip install "flexpress[ray]"') from None
    return ray


def check_same(ray: Any, address: str | None) -> None:
    present = ray.get_runtime_context().gcs_address
    here_only = len(ray.nodes()) == 1  # which is this machine, as we are connected
    if address not in (None, AUTO, present) and not (address == LOCAL and here_only):
        raise InputError(
            f"Ray address {address}: this program is connected to {present} already; "
            "leave the address away, or call ray.shutdown() first"
        )


def connect(ray: Any, address: str, num_cpus: int | None) -> None:
    """Ray's own news are kept from the terminal, and signals mean what they did before."""
    own: dict[str, Any] = {}
    if address == LOCAL:
        own = {"num_cpus": num_cpus or num_cores(), "include_dashboard": False}
    elif address != AUTO:
        check_listener(address)
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        ray.init(address, logging_level=logging.CRITICAL, log_to_driver=False, **own)
    except Exception as error:  # Ray raises them bare, too
        ray.shutdown()
        reason = f"{remedy(address)} ({one_line(error)})"
        raise InputError(f"Ray address {address}: {reason}") from None
    finally:
        restore(before)


def remedy(address: str) -> str:
    if address == LOCAL:
        return "Ray could not be started on this machine"
    return "no cluster to be joined there; run `ray start --address=HOST:PORT` on this machine"


def check_listener(address: str) -> None:
    """Ray itself would try for a long time, or for ever, and tell it in its own way."""
    host, colon, port = address.rpartition(":")
    if not (host and colon and port.isdigit() and "/" not in host):
        raise InputError(f'Ray address "{address}": must be local, auto, or HOST:PORT')
    try:
        place = host.strip("[]"), int(port)
        with socket.create_connection(place, CONNECT_SECONDS) as connection:
            known = "RAY_USE_TLS" in os.environ or speaks_grpc(connection)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise nobody(address, f"nobody answers there: {reason}") from None
    if not known:
        raise nobody(address, "who answers there is not Ray")


def speaks_grpc(connection: socket.socket) -> bool:
    """Whether the answer to an empty SETTINGS frame of HTTP/2 (RFC 9113) is another one."""
    preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    connection.sendall(preface + bytes([0, 0, 0, SETTINGS, 0, 0, 0, 0, 0]))
    return connection.recv(4)[3:] == bytes([SETTINGS])


def nobody(address: str, why: str) -> InputError:
    return InputError(
        f"Ray address {address}: {why}; start a cluster with `ray start --head`, or take local"
    )


@contextmanager
def environment(values: dict[str, str]) -> Iterator[None]:
    """Variables that are set for the block, unless the user has set them."""
    new = {name: value for name, value in values.items() if name not in os.environ}
    os.environ.update(new)
    try:
        yield
    finally:
        for name in new:
            del os.environ[name]


def restore(handlers: dict[signal.Signals, Any]) -> None:
    try:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    except ValueError:  # in another thread than the first there are none to restore
        return


def cluster_cores(ray: Any) -> int:
    """Of the whole cluster, whoever else is at work on it; InputError if it has none."""
    cores = int(ray.cluster_resources().get("CPU", 0))
    if not cores:
        raise InputError("the Ray cluster has no cores; add a machine with `ray start`")
    return cores


@contextmanager
def hushed(ray: Any) -> Iterator[None]:
    """Deaths of workers are dealt with; Ray would print them all the same, into our output.

    There is no setting for it, only a switch that Ray's own debugger uses.
    """
    screen = ray._private.worker
    screen._worker_logs_enabled = False
    try:
        yield
    finally:
        screen._worker_logs_enabled = True


@contextmanager
def told_here(ray: Any) -> Iterator[None]:
    """What our own code complains about on another machine is raised here as it was there."""
    try:
        yield
    except ray.exceptions.RayTaskError as error:
        if type(error.cause) is ray.exceptions.RayError:  # in the place of one that cannot travel
            raise FlexpressError(one_line(error)) from error
        raise error.cause from (None if isinstance(error.cause, FlexpressError) else error)


def one_line(error: Exception) -> str:
    """What Ray says, without colours; of much, the end."""
    plain = re.sub(r"\x1b\[[\d;]*m", "", str(error))
    line = " ".join(plain.split()).rstrip(".") or type(error).__name__
    return line if len(line) <= LONGEST_LINE else f"… {line[-LONGEST_LINE:]}"
