"""The process of a server that is measured, and what the system says of it. Needs Linux."""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from field_costs import Meter
from field_kits import Kits, Load, MadeUp

from flexpress.field import server
from flexpress.field.log import Log


@contextmanager
def serving(load: Load, kits: Kits, metered: bool) -> Iterator[tuple[int, Connection]]:
    """The process of a server, which listens and answers `reset` and `costs`."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(
        target=serve, args=(kits.server, load.num_params, metered, theirs), daemon=True
    )
    process.start()
    assert process.pid is not None
    try:
        assert ours.recv() == "started"
        yield process.pid, ours
    finally:
        process.terminate()
        process.join(60.0)
        if process.is_alive():
            process.kill()


def serve(folder: Path, num_params: int, metered: bool, orders: Any) -> None:
    """In the process: the server as it is, but for its learner."""
    meter = Meter()
    if metered:
        meter.install()

    def sink(entry: Any) -> None:
        if entry["event"] == "started":
            orders.send("started")
            threading.Thread(target=obey, daemon=True).start()
        if entry["event"] in ("refused", "unproven", "diverged"):
            os.kill(os.getpid(), signal.SIGKILL)  # nothing is measured then

    def obey() -> None:
        with suppress(EOFError):
            while True:
                if orders.recv() == "reset":
                    meter.reset()
                orders.send(meter.costs())

    server.make_learner = lambda *_, **__: MadeUp(num_params)  # type: ignore[attr-defined]  # its own
    server.run_server(folder, log=Log("server", sink=sink))


def cpu_seconds(pid: int) -> float:
    """User and system time of all threads; on Linux."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peak_megabytes_of(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text().splitlines()
    (line,) = [line for line in status if line.startswith("VmHWM")]
    return int(line.split()[1]) * 1024 / 1e6


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port
