"""Server, couriers and clients as processes: a test starts them, ends them, and starts them again.

    with LiveField(nursery, kits) as field:
        field.start_all()
        field.until("courier-1", "visited")
        field.kill("courier-1")
        field.start("courier-1")
        field.until("server", "mission-over")

The processes are those of `live_nursery`. Their events come in the order in which they happened.
"""

from __future__ import annotations

import json
import os
import secrets
import select
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from signal import Signals
from typing import Any

import msgspec
import numpy as np
import pytest
from field_order import Order, role
from fleets import plan_of
from ledger import MOST_STEPS, Ledger, counts
from small_run import FOUR, environment

from flexpress.callbacks import ignore_note
from flexpress.field import provisioning
from flexpress.field.messages import Payload
from flexpress.field.provisioning import provision
from flexpress.field.rehearsal import free_ports
from flexpress.field.server import RUN
from flexpress.planning import Plan
from flexpress.scenario import Scenario
from flexpress.simulation import load_run, simulate

PATIENCE = 300.0
"""Seconds without any event: a machine may be busy."""

RESULTS = ("trace.jsonl", "metrics.csv", "model.npy")

Entry = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """A mission of four clients and two couriers, of which one has three clients and one has one.

    Their tours take 11 and 6 slots, or 11 both if they wait for each other.
    """

    algorithm: str = "sync"
    head_start: float = 0.0
    payload: Payload = "parcel"
    preloaded: bool = False
    horizon: int = 36
    slot: float = 2.0  # seconds

    def __str__(self) -> str:
        name = f"{self.algorithm}-{self.payload}"
        return name + "-head-start" * bool(self.head_start) + "-preloaded" * self.preloaded

    @property
    def scenario(self) -> Scenario:
        return FOUR.replace(
            slot=self.slot,
            learning={"samples_per_client": 1, "batch_size": 1},
            run={
                "algorithm": self.algorithm,
                "head_start": self.head_start,
                "preloaded": self.preloaded,
                "horizon": self.horizon,
                "eval_every": 10,
            },
        )

    @property
    def plan(self) -> Plan:
        return plan_of(self.scenario, [[1, 2, 3], [4]])


PLAIN = Case()
_PAYLOADS: tuple[Payload, ...] = ("parcel", "sum")
CASES = [
    *(Case(*each) for each in product(("sync", "async"), (0.0, 0.5), _PAYLOADS)),
    Case("async", 0.5, "parcel", preloaded=True),
]


def make_kits(case: Case, folder: Path, **settings: Any) -> Path:
    """For this machine. By default by the plan's clock, and nobody waits for a time of day."""
    scenario, ledger = case.scenario, Ledger.of(case.scenario.client_ids)
    host, first = _own_address(), free_ports(1 + scenario.num_clients)
    usual = {"clock": "plan", "payload": case.payload, "speedup": 1e9, "patience": PATIENCE}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(provisioning, "learner_of", lambda *_, **__: ledger)
        return provision(
            scenario,
            case.plan,
            out=folder,
            server=f"{host}:{first}",
            clients=f"{host}:{first + 1}",
            **{**usual, **settings},
        )


def _own_address() -> str:
    """Of this machine: nobody else takes its ports while the programs are not there.

    On Linux all of 127.0.0.0/8 is this machine.
    """
    if sys.platform != "linux":
        return "127.0.0.1"
    return "127." + ".".join(str(1 + secrets.randbelow(254)) for _ in range(3))


def simulated(case: Case, folder: Path) -> dict[str, bytes]:
    """What an undisturbed mission writes."""
    scenario = case.scenario
    simulate(scenario, case.plan, Ledger.of(scenario.client_ids), out=folder, tell=ignore_note)
    return results(folder)


def results(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in RESULTS}


@contextmanager
def nursery() -> Iterator[Nursery]:
    """Ends with all that it has started."""
    with subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("live_nursery.py"))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment(),
        start_new_session=True,
    ) as process:
        opened = Nursery(process)
        try:
            opened.next_entry()
            yield opened
        finally:
            opened.close()


class Nursery:
    """Takes orders, and passes on what the programs say."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self._unread = bytearray()

    def order(self, order: Order) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(msgspec.json.encode(order) + b"\n")
        self.process.stdin.flush()

    def next_entry(self, patience: float = PATIENCE) -> Entry:
        """TimeoutError if nobody says anything."""
        assert self.process.stdout is not None
        source, deadline = self.process.stdout.fileno(), time.monotonic() + patience
        while b"\n" not in self._unread:
            ready, _, _ = select.select([source], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError("nothing has happened")
            content = os.read(source, 2**16)
            if not content:
                raise EOFError("the nursery has ended")
            self._unread += content
        line, _, self._unread = self._unread.partition(b"\n")
        entry: Entry = json.loads(line)
        return entry

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()


@dataclass
class LiveField:
    """The programs of these kits. They are in the state in which `folder` is."""

    nursery: Nursery
    folder: Path
    counts: bool = True
    entries: list[Entry] = field(default_factory=list)  # all that have happened
    unheard: deque[Entry] = field(default_factory=deque)  # of these
    pids: dict[str, int] = field(default_factory=dict)  # of those that live
    codes: dict[str, int] = field(default_factory=dict)  # of those that have ended
    ended: set[int] = field(default_factory=set)  # by the test, or at least asked to end
    killed: set[str] = field(default_factory=set)  # perhaps before they could say what they did
    token: str = field(default_factory=lambda: secrets.token_hex(8))

    @property
    def names(self) -> list[str]:
        kits = [path.name for path in self.folder.iterdir()]
        return sorted(name for name in kits if role(name) in ("client", "courier", "server"))

    @property
    def run(self) -> Path:
        """The server's run folder."""
        return self.folder / "server" / RUN

    @property
    def operator(self) -> Path:
        """The operator's kit."""
        return self.folder / "operator"

    def __enter__(self) -> LiveField:
        return self

    def __exit__(self, *_: object) -> None:
        for name in list(self.pids):
            self.send(name, Signals.SIGKILL)
        while self.pids:
            self._receive(PATIENCE)

    def start_all(self, but: Collection[str] = ()) -> None:
        for name in self.names:
            if name not in but:
                self.start(name)

    def start(
        self,
        name: str,
        dies_at: int | None = None,
        step: str = "",
        by: Signals = Signals.SIGKILL,
        **trouble: Any,
    ) -> None:
        """It dies at its n-th durable step, or the n-th of this name; or it has other trouble."""
        assert name not in self.pids
        kit = str(self.folder / name)
        order = Order(self.token, name, kit, dies_at, step, by, counts=self.counts, **trouble)
        self.nursery.order(order)
        while self._receive(PATIENCE)["event"] != "born":  # the others are listened to later
            pass

    def send(self, name: str, number: Signals) -> None:
        """Nothing happens to one that has just ended."""
        self.ended.add(self.pids[name])
        if number == Signals.SIGKILL:
            self.killed.add(name)
        with suppress(ProcessLookupError):
            os.kill(self.pids[name], number)

    def kill(self, name: str) -> None:
        """kill -9, unless it has ended already."""
        if name in self.pids:
            self.stop(name, Signals.SIGKILL)

    def stop(self, name: str, number: Signals = Signals.SIGTERM) -> int:
        """Its exit code."""
        self.send(name, number)
        return self.wait_for_end(name)

    def wait_for_end(self, name: str) -> int:
        while name in self.pids:
            self._receive(PATIENCE)
        return self.codes[name]

    def until(self, name: str, event: str, **details: object) -> Entry:
        """Wait for an event from now on. Nobody may end meanwhile but with success."""

        def is_it(entry: Entry) -> bool:
            found = {key: entry.get(key) for key in details}
            return (entry["program"], entry["event"]) == (name, event) and found == details

        return self.wait(is_it)

    def wait(self, is_it: Callable[[Entry], bool]) -> Entry:
        while True:
            entry = self.listen()
            if is_it(entry):
                return entry
            self.check_unharmed(entry)

    def check_unharmed(self, entry: Entry) -> None:
        """Whoever ends does so with success, or is ended by the test."""
        bad = entry["event"] == "ended" and entry["code"] and entry["pid"] not in self.ended
        assert not bad, self.entries[-30:]

    def listen(self, patience: float = PATIENCE) -> Entry:
        """The next event of this field."""
        if not self.unheard:
            self._receive(patience)
        return self.unheard.popleft()

    def _receive(self, patience: float) -> Entry:
        """What has happened is known at once; the test hears of it when it listens."""
        while True:
            entry = self.nursery.next_entry(patience)
            if entry.get("field") == self.token:
                break
        self.entries.append(entry)
        self.unheard.append(entry)
        name = entry["program"]
        if entry["event"] == "born":
            self.pids[name] = entry["pid"]
        elif entry["event"] == "dies":
            self.ended.add(self.pids[name])
        elif entry["event"] == "ended":
            del self.pids[name]
            self.codes[name] = entry["code"]
        return entry

    def events(self, name: str, event: str) -> list[Entry]:
        """All that have happened."""
        return [e for e in self.entries if (e["program"], e["event"]) == (name, event)]

    def counted(self) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
        """How often each step of each client is in the model: at the end, or when it stopped."""
        model = load_run(self.run).trace.model
        return counts(model, model.size // MOST_STEPS)
