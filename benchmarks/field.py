"""A server of the field under load: couriers that all come home at once, at one real process.

Updates per second that are accepted and merged, what an update costs the server, and on what it
spends its time. The server's learner is made up and learns nothing; all the rest is as it is.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from field_costs import Costs
from field_couriers import Times, drive
from field_kits import Kits, Load, make_kits
from field_memory import memory
from field_server import cpu_seconds, free_port, peak_megabytes_of, serving
from machine import every_core
from printer import Printer
from spread import spread, three_digits, whole

LENET = 62_006
"""Parameters, 248 KB: LeNet-5 for 32 x 32 x 3."""
FEW = 1_000
ROUNDS = 3
LABEL, FIGURE = 34, 22


@dataclass(frozen=True)
class Loaded:
    """What a server did with a load, in so many rounds after the first."""

    updates: int
    wall: float
    cpu: float
    driver_cpu: float
    megabytes: float
    snapshot: int  # bytes
    times: Times
    costs: Costs


def field(printer: Printer, *, repeats: int, quick: bool) -> None:
    with every_core():
        size = (100, 5) if quick else (1_000, 50)
        loads = [
            Load(*size, LENET, "parcel", "async"),
            Load(*size, LENET, "parcel", "sync"),
            Load(*size, LENET, "sum", "async"),
            Load(*size, LENET, "sum", "sync"),
        ]
        found = measured(printer, loads, repeats)
        show_rates(printer, found, "LeNet, 248 KB")
        show_calls(printer, found)
        sizes = [(100, 5), (400, 20)] if quick else [(100, 5), (1_000, 50), (4_000, 200)]
        growing = [Load(n, k, FEW, "parcel", "async") for n, k in sizes]
        show_rates(printer, measured(printer, growing, repeats), "1,000 parameters, 4 KB")
        for load in loads[::2]:
            printer.tell(f"costs, {load.label}")
            show_costs(printer, load, in_field(load, metered=True))
        memory(printer, quick=quick)


def measured(printer: Printer, loads: Sequence[Load], repeats: int) -> dict[Load, list[Loaded]]:
    found: dict[Load, list[Loaded]] = {load: [] for load in loads}
    for _ in range(repeats):
        for load in loads:
            printer.tell(load.label)
            found[load].append(in_field(load))
    return found


def show_rates(printer: Printer, found: dict[Load, list[Loaded]], what: str) -> None:
    head = [what, "updates per wall s", "server CPU ms per update", "server CPU / wall", "peak MB"]
    rows = [
        [
            load.label,
            spread([each.updates / each.wall for each in of_load], three_digits),
            spread([1e3 * each.cpu / each.updates for each in of_load], three_digits),
            spread([each.cpu / each.wall for each in of_load], three_digits),
            spread([each.megabytes for each in of_load], whole),
        ]
        for load, of_load in found.items()
    ]
    printer.table(head, rows, [LABEL, *(FIGURE for _ in head[1:])])


def show_calls(printer: Printer, found: dict[Load, list[Loaded]]) -> None:
    """Of the median repeat; a call waits for those of all other couriers."""
    names = ["depart", "model", "manifest", "content", "return"]
    head = ["median / longest ms of a call", *names, "snapshot KB"]
    rows = []
    for load, of_load in found.items():
        one = sorted(of_load, key=lambda each: each.wall)[len(of_load) // 2]
        cells = [
            f"{1e3 * np.median(one.times[name]):,.0f} / {1e3 * max(one.times[name]):,.0f}"
            for name in names
        ]
        rows.append([load.label, *cells, three_digits(one.snapshot / 1e3)])
    printer.table(head, rows, [LABEL, *(16 for _ in head[1:])])


def show_costs(printer: Printer, load: Load, one: Loaded) -> None:
    head = [load.label, "CPU ms per update", "share", "wall ms per update", "calls per update"]
    known = sorted(one.costs.items(), key=lambda item: -item[1][1])
    rest = one.cpu - sum(cpu for _, (_, cpu, _) in known)
    rows = [
        [
            name,
            f"{1e3 * cpu / one.updates:.3f}",
            f"{cpu / one.cpu:.0%}",
            f"{1e3 * wall / one.updates:.3f}",
            f"{calls / one.updates:.2f}",
        ]
        for name, (calls, cpu, wall) in known
    ]
    last = ["the rest: aiohttp, asyncio, Python", f"{1e3 * rest / one.updates:.3f}"]
    rows.append([*last, f"{rest / one.cpu:.0%}", "", ""])
    printer.table(head, rows, [LABEL, *(FIGURE for _ in head[1:])])


def in_field(load: Load, *, metered: bool = False) -> Loaded:
    rounds = ROUNDS if load.num_clients <= 1_000 else 1
    with TemporaryDirectory() as name:
        folder = Path(name)
        kits = make_kits(load, folder, free_port())
        with serving(load, kits, metered) as (pid, orders):
            return asyncio.run(under_load(load, kits, folder, pid, orders, rounds))


async def under_load(
    load: Load, kits: Kits, folder: Path, pid: int, orders: Connection, rounds: int
) -> Loaded:
    """The first round is not measured: connections are made in it."""
    async with drive(load, kits, folder) as driver:
        await driver.depart()
        wall = cpu = own = 0.0
        for number in range(rounds + 1):
            driver.prepare()
            if number == 1:
                driver.times.clear()
                orders.send("reset")
                orders.recv()
                wall = cpu = own = 0.0
            begun, used, mine = time.perf_counter(), cpu_seconds(pid), time.process_time()
            await driver.deliver()
            wall += time.perf_counter() - begun
            cpu += cpu_seconds(pid) - used
            own += time.process_time() - mine
        orders.send("costs")
        costs = orders.recv()
        snapshot = driver.couriers[-1].orders
        assert snapshot is not None
        length = len(snapshot.snapshot.snapshot)
        updates = rounds * load.num_clients
        return Loaded(
            updates, wall, cpu, own, peak_megabytes_of(pid), length, dict(driver.times), costs
        )
