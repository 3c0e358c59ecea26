"""A rehearsal: server, couriers and clients as processes on this machine, with time compressed."""

from __future__ import annotations

import multiprocessing
import secrets
import signal
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import connection
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from flexpress.arguments import check_callable, check_path
from flexpress.callbacks import ShouldStop, Tell, ignore_note, never
from flexpress.errors import FlexpressError, InputError
from flexpress.field.client import run_client
from flexpress.field.courier import run_courier
from flexpress.field.kit import Payload
from flexpress.field.log import Log
from flexpress.field.provisioning import SERVER_KIT, provision
from flexpress.field.server import RUN, run_server
from flexpress.planning import Plan, make_plan
from flexpress.scenario import Algorithm, Scenario, check_scenario
from flexpress.simulation import simulate
from flexpress.simulation.run_files import MODEL
from flexpress.simulation.run_lines import METRICS, TRACE

Entry = dict[str, Any]
"""An event of a program, as it logs it."""

OnEntry = Callable[[Entry], None]

KITS, SIMULATED = "kits", "simulated"
"""Folders of a rehearsal: the kits, the server's with its run; and the run to compare it with."""

_PORTS = range(10_000, 30_000)
"""Below those that the system gives to outgoing connections."""

_PATIENCE = 600.0
"""Seconds that a courier waits for a client: on a busy machine it may take long to start."""


@dataclass(frozen=True)
class Rehearsal:
    """What came out: the field's run, the simulator's, and whether their bytes are the same."""

    field: Path
    simulated: Path
    different: tuple[str, ...]  # names of files

    @property
    def identical(self) -> bool:
        return not self.different


def rehearse(
    scenario: Scenario,
    plan: Plan | None = None,
    *,
    out: str | Path,
    algorithm: Algorithm | None = None,
    horizon: int = 60,
    head_start: float | None = None,
    payload: Payload = "parcel",
    speedup: float = 600.0,
    on_entry: OnEntry = lambda entry: None,
    should_stop: ShouldStop = never,
    tell: Tell = ignore_note,
) -> Rehearsal:
    """Fly the scenario to its horizon with real programs, then simulate it, and compare.

    A second of the rehearsal is `speedup` seconds of the plan.
    """
    check_scenario(scenario)
    folder = check_path("out", out)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder}: exists already; name another folder, or delete it")
    check_callable(on_entry=on_entry, should_stop=should_stop, tell=tell)
    changes = {"algorithm": algorithm, "horizon": horizon, "head_start": head_start}
    given = {key: value for key, value in changes.items() if value is not None}
    scenario = scenario.replace(run=given)
    chosen = plan or make_plan(scenario)
    kits = make_kits(scenario, chosen, folder / KITS, payload, speedup, tell)
    with programs(kits) as crew:
        watch(crew, on_entry, should_stop)
    field, simulated = kits / SERVER_KIT / RUN, folder / SIMULATED
    simulate(scenario, chosen, out=simulated, tell=tell)
    names = (TRACE, METRICS, MODEL)
    different = [n for n in names if (field / n).read_bytes() != (simulated / n).read_bytes()]
    return Rehearsal(field, simulated, tuple(different))


def make_kits(
    scenario: Scenario, plan: Plan, folder: Path, payload: Payload, speedup: float, tell: Tell
) -> Path:
    """Kits for this machine, by the plan's clock."""
    first = free_ports(1 + scenario.num_clients)
    return provision(
        scenario,
        plan,
        out=folder,
        clock="plan",
        payload=payload,
        server=f"127.0.0.1:{first}",
        clients=f"127.0.0.1:{first + 1}",
        patience=_PATIENCE,
        speedup=speedup,
        tell=tell,
    )


def free_ports(count: int) -> int:
    """The first of so many ports in a row that nobody uses now."""
    for _ in range(1000):
        first = _PORTS.start + secrets.randbelow(len(_PORTS) - count)
        with ExitStack() as stack, suppress(OSError):
            for port in range(first, first + count):
                each = stack.enter_context(socket.socket())
                each.bind(("127.0.0.1", port))
            return first
    raise InputError(f"127.0.0.1: no {count} free ports in a row; end some other programs")


@dataclass(frozen=True)
class Program:
    """A process, and where it says what it does."""

    name: str
    process: BaseProcess
    said: Connection


_ROLES: dict[str, Callable[..., None]] = {
    "client": run_client,
    "server": run_server,
    "courier": run_courier,
}
"""In the order in which they are started: clients take longest to be ready."""


@contextmanager
def programs(kits: Path) -> Iterator[list[Program]]:
    """All programs of these kits as processes, which end with the block."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    crew: list[Program] = []
    try:
        for role in _ROLES:
            for folder in sorted(kits.iterdir()):
                if _role_of(folder) == role:
                    crew.append(start(context, folder))
        yield crew
    finally:
        end(crew)


def _role_of(folder: Path) -> str:
    return folder.name.partition("-")[0]


def start(context: Any, folder: Path) -> Program:
    """The program of this kit, in a process of its own."""
    said, says = context.Pipe(duplex=False)
    process = context.Process(target=_perform, args=(folder, says), daemon=True)
    process.start()
    says.close()
    return Program(folder.name, process, said)


def _perform(folder: Path, says: Connection) -> None:
    """In the process. Ctrl-C is for the one that the user started, which then ends this one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    log = Log(folder.name, sink=says.send)
    try:
        _ROLES[_role_of(folder)](folder, log=log)
    except FlexpressError as error:
        log("failed", reason=str(error))


def watch(crew: Sequence[Program], on_entry: OnEntry, should_stop: ShouldStop) -> None:
    """Pass on what they say, until the server says that the mission is over."""
    of = {program.said: program for program in crew}
    while not should_stop():
        for said in connection.wait(list(of), timeout=0.2):
            assert isinstance(said, Connection)
            try:
                entry: Entry = said.recv()
            except EOFError:
                raise FlexpressError(f"{of[said].name} has ended; nothing is lost") from None
            on_entry(entry)
            if entry["event"] == "failed":
                raise FlexpressError(f"{of[said].name}: {entry['reason']}")
            if entry["event"] == "mission-over":
                if entry["program"] == SERVER_KIT:
                    return
                del of[said]  # a courier that ends now, before all that the server said is read
    raise KeyboardInterrupt


def end(crew: Sequence[Program]) -> None:
    """Ask them to stop; end those that do not."""
    for program in crew:
        program.process.terminate()
    for program in crew:
        program.process.join(10.0)
        if program.process.is_alive():
            program.process.kill()
            program.process.join()
        program.said.close()
