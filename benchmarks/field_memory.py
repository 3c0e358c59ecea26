"""Memory of server, courier and client with a large model: a small mission of real programs.

Peak resident memory, which counts files that are mapped as well, beyond that of the same mission
with a model of 1,000 parameters: as a multiple of the model.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from multiprocessing import connection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from field_kits import MadeUp
from field_server import peak_megabytes_of
from printer import Printer

from flexpress import Plan, Scenario
from flexpress.field import client, courier, provisioning, server, trainer
from flexpress.field.log import Log
from flexpress.field.messages import Payload
from flexpress.field.rehearsal import free_ports

LARGE, SMALL = 25_000_000, 1_000
"""Parameters: 100 MB, and next to nothing."""
NUM_CLIENTS, HORIZON = 3, 24
ROLES: dict[str, Callable[..., None]] = {
    "server": server.run_server,
    "courier": courier.run_courier,
    "client": client.run_client,
}


def memory(printer: Printer, *, quick: bool) -> None:
    large = LARGE // 10 if quick else LARGE
    megabytes = large * 4 / 1e6
    head = [f"peak MB, {megabytes:,.0f} MB model", *ROLES]
    rows = []
    payloads: tuple[Payload, ...] = ("parcel", "sum")
    for payload in payloads:
        printer.tell(f"memory, {payload}")
        without, peak = (peaks(size, payload) for size in (SMALL, large))
        cells = (
            f"{peak[role]:,.0f} ({(peak[role] - without[role]) / megabytes:.1f} models)"
            for role in ROLES
        )
        rows.append([f"{NUM_CLIENTS} clients, K = 1, {payload}", *cells])
    printer.table(head, rows, [34, *(22 for _ in ROLES)])


def peaks(num_params: int, payload: Payload) -> dict[str, float]:
    """Of each role in a mission of a few tours, in megabytes; of clients, the largest."""
    with TemporaryDirectory() as folder:
        kits = make_small_kits(Path(folder) / "kits", num_params, payload)
        return fly(kits, num_params)


def make_small_kits(folder: Path, num_params: int, payload: Payload) -> Path:
    network = {"blocks": [1, 1], "clients_per_block": NUM_CLIENTS}
    fleet = {"speeds": [10.0], "budgets": None}
    run = {"horizon": HORIZON, "eval_every": HORIZON}
    scenario = Scenario.preset("paper").replace(network=network, fleet=fleet, run=run)
    tours = [list(range(1, NUM_CLIENTS + 1))]
    plan = Plan.of(scenario, "minmax", tours, solver="search", seed=0, seconds=0.0)
    make_up(num_params)
    first = free_ports(1 + NUM_CLIENTS)
    return provisioning.provision(
        scenario,
        plan,
        out=folder,
        clock="plan",
        payload=payload,
        server=f"127.0.0.1:{first}",
        clients=f"127.0.0.1:{first + 1}",
        patience=600.0,
        speedup=1e6,
    )


def make_up(num_params: int) -> None:
    """All programs of this process have a learner of this size, which learns nothing."""

    def learner(*_: Any, **__: Any) -> MadeUp:
        return MadeUp(num_params)

    for module, name in (
        (provisioning, "learner_of"),
        (trainer, "learner_of"),
        (server, "make_learner"),
    ):
        setattr(module, name, learner)


def fly(kits: Path, num_params: int) -> dict[str, float]:
    context = multiprocessing.get_context("spawn")
    folders = [kits / "server", kits / "courier-1", *sorted(kits.glob("client-*"))]
    crew: list[tuple[str, Any, Any]] = []
    try:
        for folder in folders:
            ours, theirs = context.Pipe()
            process = context.Process(
                target=perform, args=(folder, num_params, theirs), daemon=True
            )
            process.start()
            theirs.close()
            crew.append((folder.name.partition("-")[0], process, ours))
        until_over([said for _, _, said in crew])
        found = [(role, peak_megabytes_of(process.pid)) for role, process, _ in crew]
        return {role: max(peak for of, peak in found if of == role) for role in ROLES}
    finally:
        for _, process, _ in crew:
            process.terminate()
        for _, process, _ in crew:
            process.join(60.0)


def until_over(said: Sequence[Any]) -> None:
    while True:
        for one in connection.wait(said):
            assert isinstance(one, connection.Connection)
            entry = one.recv()
            assert entry["event"] not in ("missed", "unproven", "refused", "diverged"), entry
            if (entry["program"], entry["event"]) == ("server", "mission-over"):
                return


def perform(folder: Path, num_params: int, says: Any) -> None:
    make_up(num_params)
    ROLES[folder.name.partition("-")[0]](folder, log=Log(folder.name, sink=says.send))
