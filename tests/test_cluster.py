"""Finding a Ray cluster, or not: one line, soon."""

from __future__ import annotations

import os
import signal
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
from process_group import PATIENCE, living, looked_up, started, wait_until

from flexpress.errors import InputError
from flexpress.workers import cluster
from flexpress.workers.cluster import _LOCAL, on_cluster


def error_line(address: str | None) -> str:
    with pytest.raises(InputError) as caught, on_cluster(address):
        pass
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("address", ["", "somewhere", "host:", ":6379", "ray://host:10001", "a:b"])
def test_what_is_no_address(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray")
    monkeypatch.setattr("ray.is_initialized", lambda: False)
    expected = f'Ray address "{address}": must be local, auto, or HOST:PORT'
    assert error_line(address) == expected


def test_no_service_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray")
    monkeypatch.setattr("ray.is_initialized", lambda: False)
    with socket.socket() as taken:  # bound, and so free for nobody else, but not listening
        taken.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        assert error_line(address).startswith(
            f"Ray address {address}: no service answers at this address: "
        )
        monkeypatch.setenv("RAY_ADDRESS", address)
        assert error_line("auto").startswith(
            f"Ray address {address}: no service answers at this address: "
        )


def test_a_program_that_is_connected(ray: Any) -> None:
    """Its connection is used, and left open; another address is refused."""
    present = ray.get_runtime_context().gcs_address
    for address in (None, _LOCAL, "auto", present):
        with on_cluster(address) as module:
            assert module is ray
        assert ray.is_initialized()
    assert error_line("127.0.0.1:1").startswith(
        f"Ray address 127.0.0.1:1: this program is connected to {present} already; "
    )


def test_variables_of_the_user_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "1")
    monkeypatch.delenv("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", raising=False)
    with cluster._environment(cluster._QUIET):
        assert os.environ["RAY_USAGE_STATS_ENABLED"] == "1"
        assert os.environ["RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"] == "0"
    assert os.environ["RAY_USAGE_STATS_ENABLED"] == "1"
    assert "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO" not in os.environ


PROGRAM = """
import signal, sys
from flexpress.workers.cluster import cluster_cores, on_cluster
from flexpress.errors import InputError
before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
try:
    with on_cluster(sys.argv[1], num_cpus=3 if sys.argv[1] == "local" else None) as ray:
        print(cluster_cores(ray), flush=True)
        assert [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)] == before
        if sys.argv[2:]:
            sys.stdin.read()
except InputError as error:
    print(error)
"""


@pytest.mark.slow
@looked_up
@pytest.mark.parametrize("number", [0, signal.SIGTERM, signal.SIGKILL])
def test_a_cluster_of_our_own_ends_with_us(number: int, tmp_path: Path) -> None:
    pytest.importorskip("ray")
    with started(["-c", PROGRAM, "local", "wait"], cwd=tmp_path) as process:
        assert process.stdout
        assert process.stdout.readline() == "3\n"
        assert len(living(process.pid)) > 1
        if number:
            process.send_signal(number)
        out, err = process.communicate(timeout=PATIENCE)
        assert (process.returncode, out, err) == (-number, "", "")
        wait_until(lambda: living(process.pid) == [])


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(b"", marks=pytest.mark.slow),
        b"SSH-2.0-OpenSSH_9.9\r\n",
        pytest.param(b"HTTP/1.1 400 Bad Request\r\n", marks=pytest.mark.slow),
    ],
)
def test_another_service_is_there(answer: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is silent, or says nothing that Ray could understand."""
    pytest.importorskip("ray")
    monkeypatch.setattr("ray.is_initialized", lambda: False)
    monkeypatch.setattr(cluster, "_PROBE_LIMITS", dict.fromkeys(cluster._PROBE_LIMITS, "1"))
    with socket.create_server(("127.0.0.1", 0)) as listener, ThreadPoolExecutor(1) as pool:
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        pool.submit(greet_all, listener, answer)
        try:
            found = error_line(address)
        finally:
            listener.shutdown(socket.SHUT_RDWR)
    reason = "the service at this address is not Ray"
    assert found.startswith(f"Ray address {address}: {reason}; start a cluster with `ray start")


def greet_all(listener: socket.socket, answer: bytes) -> None:
    """Until the listener is shut down; connections are kept open until then."""
    with ExitStack() as connections, suppress(OSError):
        while True:
            connection = connections.enter_context(listener.accept()[0])
            with suppress(ConnectionError):  # as it hangs up without reading on
                connection.sendall(answer)
