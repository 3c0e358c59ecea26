"""Connecting to a Ray cluster: a running one, or one on this machine that ends with the block.

Ray is imported on first use: it is an extra, and slow to import.
"""

from __future__ import annotations

import logging
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from flexpress.errors import FlexpressError, InputError
from flexpress.workers.processes import num_cores

_LOCAL, _AUTO = "local", "auto"

_CONNECT_SECONDS = 5.0
"""Time to wait for a connection to an address."""

_PROBE = "import sys; from ray._raylet import GcsClient; GcsClient(address=sys.argv[1])"
"""A program that fails if the service at an address is not Ray."""

_PROBE_LIMITS = {"RAY_gcs_rpc_server_connect_timeout_s": "2", "RAY_py_gcs_connect_timeout_s": "3"}
"""Seconds after which it does, unless the user has set others."""

_LONGEST_LINE = 300

_QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",  # send no statistics
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # no warning of a future change
}

_ALONE = {**_QUIET, "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
"""For a local cluster: with it Ray listens on this machine only, also on Linux."""


@contextmanager
def on_cluster(address: str | None = None, *, num_cpus: int | None = None) -> Iterator[Any]:
    """The module `ray`, connected to the cluster at HOST:PORT; `auto` is the one we are part of.

    `local` starts a cluster with `num_cpus` cores on this machine, which ends with the block.
    A program that has called `ray.init` stays connected; without an address its cluster is used.
    """
    if address == _AUTO:
        address = os.environ.get("RAY_ADDRESS", _AUTO)  # as Ray would
    with _environment(_ALONE if address in (None, _LOCAL) else _QUIET):
        ray = import_ray()
        ours = not ray.is_initialized()
        if ours:
            _connect(ray, _LOCAL if address is None else address, num_cpus)
        else:
            _check_same(ray, address)
    if not ours:
        yield ray
        return
    with _hushed(ray):  # until after shutdown, when it prints what it held back
        try:
            yield ray
        finally:
            ray.shutdown()


def connected(address: str | None, num_cpus: int | None) -> AbstractContextManager[object]:
    """Connect to the cluster at this address, if one is given, before any work: it may be down."""
    return nullcontext() if address is None else on_cluster(address, num_cpus=num_cpus)


def import_ray() -> Any:
    try:
        import ray
    except ImportError:
        raise InputError('Ray is not installed: pip install "flexpress[ray]"') from None
    return ray


def _check_same(ray: Any, address: str | None) -> None:
    present = ray.get_runtime_context().gcs_address
    here_only = len(ray.nodes()) == 1  # which must be this machine
    if address not in (None, _AUTO, present) and not (address == _LOCAL and here_only):
        raise InputError(
            f"Ray address {address}: this program is connected to {present} already; "
            "omit the address, or call ray.shutdown() first"
        )


def _connect(ray: Any, address: str, num_cpus: int | None) -> None:
    """Without Ray's messages on the terminal, and without its signal handlers."""
    own: dict[str, Any] = {}
    if address == _LOCAL:
        own = {"num_cpus": num_cpus or num_cores(), "include_dashboard": False}
    elif address != _AUTO:
        _check_address(address)
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        ray.init(address, logging_level=logging.CRITICAL, log_to_driver=False, **own)
    except Exception as error:  # Ray raises them bare, too
        ray.shutdown()
        reason = f"{_remedy(address)} ({one_line(error)})"
        raise InputError(f"Ray address {address}: {reason}") from None
    finally:
        _restore(before)


def _remedy(address: str) -> str:
    if address == _LOCAL:
        return "Ray could not be started on this machine"
    return "cannot join the cluster; run `ray start --address=HOST:PORT` on this machine"


def _check_address(address: str) -> None:
    """InputError within seconds if no Ray answers: Ray itself would retry for many minutes."""
    host, colon, port = address.rpartition(":")
    if not (host and colon and port.isdigit() and "/" not in host):
        raise InputError(f'Ray address "{address}": must be local, auto, or HOST:PORT')
    try:
        place = host.strip("[]"), int(port)
        socket.create_connection(place, _CONNECT_SECONDS).close()
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise _no_cluster(address, f"no service answers at this address: {reason}") from None
    if not _is_ray(address):
        raise _no_cluster(address, "the service at this address is not Ray")


def _is_ray(address: str) -> bool:
    """Asked by another process: within ours, Ray would print its complaints to the terminal."""
    command = [sys.executable, "-c", _PROBE, address]
    variables, silent = {**_PROBE_LIMITS, **os.environ}, subprocess.DEVNULL
    try:
        done = subprocess.run(command, env=variables, stdout=silent, stderr=silent, timeout=60)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def _no_cluster(address: str, why: str) -> InputError:
    return InputError(
        f"Ray address {address}: {why}; start a cluster with `ray start --head`, or use local"
    )


@contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    """Set these variables for the block, unless the user has set them."""
    new = {name: value for name, value in values.items() if name not in os.environ}
    os.environ.update(new)
    try:
        yield
    finally:
        for name in new:
            del os.environ[name]


def _restore(handlers: dict[signal.Signals, Any]) -> None:
    try:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    except ValueError:  # only the main thread has handlers to restore
        return


def cluster_cores(ray: Any) -> int:
    """All cores of the cluster, whoever else uses it; InputError if it has none."""
    cores = int(ray.cluster_resources().get("CPU", 0))
    if not cores:
        raise InputError("the Ray cluster has no cores; add a machine with `ray start`")
    return cores


@contextmanager
def _hushed(ray: Any) -> Iterator[None]:
    """Keep Ray from printing that workers died: we handle it.

    Ray has no setting for this, only a switch that its own debugger uses.
    """
    worker_module = ray._private.worker
    worker_module._worker_logs_enabled = False
    try:
        yield
    finally:
        worker_module._worker_logs_enabled = True


@contextmanager
def errors_raised_here(ray: Any) -> Iterator[None]:
    """Raise an error of our own code on another machine as the same error here."""
    try:
        yield
    except ray.exceptions.RayTaskError as error:
        if type(error.cause) is ray.exceptions.RayError:  # instead of one that cannot be pickled
            raise FlexpressError(one_line(error)) from error
        raise error.cause from (None if isinstance(error.cause, FlexpressError) else error)


def one_line(error: Exception) -> str:
    """Ray's message without colours; only the end of a long one."""
    plain = re.sub(r"\x1b\[[\d;]*m", "", str(error))
    line = " ".join(plain.split()).rstrip(".") or type(error).__name__
    return line if len(line) <= _LONGEST_LINE else f"… {line[-_LONGEST_LINE:]}"
