"""A rehearsal: server, couriers and clients as processes on this machine, with time compressed."""

from __future__ import annotations

import secrets
import socket
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from flexpress.arguments import check_callable, check_path
from flexpress.callbacks import ShouldStop, Tell, ignore_note, never
from flexpress.errors import InputError
from flexpress.field.crew import OnEntry, programs, watch
from flexpress.field.messages import Payload
from flexpress.field.provisioning import SERVER_KIT, provision
from flexpress.field.server import RUN
from flexpress.planning import Plan, make_plan
from flexpress.scenario import Algorithm, Scenario, check_scenario
from flexpress.simulation import simulate
from flexpress.simulation.run_files import MODEL
from flexpress.simulation.run_lines import METRICS, TRACE

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

    A second of the rehearsal is `speedup` seconds of the plan. KeyboardInterrupt if `should_stop`
    returns True before the end.
    """
    check_scenario(scenario)
    folder = check_path("out", out)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder}: exists already; name another folder, or delete it")
    check_callable(on_entry=on_entry, should_stop=should_stop, tell=tell)
    changes = {"algorithm": algorithm, "horizon": horizon, "head_start": head_start}
    given = {key: value for key, value in changes.items() if value is not None}
    scenario = scenario.replace(run=given)
    chosen = plan or make_plan(scenario, should_stop=should_stop)
    _go_on(should_stop)
    kits = make_kits(scenario, chosen, folder / KITS, payload, speedup, tell)
    _go_on(should_stop)
    with programs(kits) as crew:
        watch(crew, on_entry, should_stop)
    field, simulated = kits / SERVER_KIT / RUN, folder / SIMULATED
    simulate(scenario, chosen, out=simulated, should_stop=should_stop, tell=tell)
    _go_on(should_stop)
    names = (TRACE, METRICS, MODEL)
    different = [n for n in names if (field / n).read_bytes() != (simulated / n).read_bytes()]
    return Rehearsal(field, simulated, tuple(different))


def _go_on(should_stop: ShouldStop) -> None:
    """Half a rehearsal says nothing."""
    if should_stop():
        raise KeyboardInterrupt


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
