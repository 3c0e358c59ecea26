"""Server and clients in networks without a route between them learn, by a courier that flies."""

from __future__ import annotations

import errno
import gc
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from besieged import running
from callers import until
from namespaces import HOSTS, Networks, inside, process_inside, three_networks
from small_run import FOUR, RESULTS, contents

from flexpress.callbacks import ignore_note
from flexpress.field.client import run_client
from flexpress.field.courier import run_courier
from flexpress.field.kit import STATE
from flexpress.field.provisioning import provision
from flexpress.field.server import RUN, run_server
from flexpress.planning import make_plan
from flexpress.simulation import simulate

TWO = FOUR.replace(
    network={"clients": [[3.0, 0.0], [3.0, 4.0]]},
    fleet={"speeds": [1.0]},
    run={"horizon": 3, "eval_every": 2},
)
"""One courier, two clients."""

SERVER, CLIENTS = f"{HOSTS['server']}:7600", f"{HOSTS['clients']}:7601"


@pytest.fixture
def networks() -> Iterator[Networks]:
    with three_networks() as networks:
        yield networks
    with warnings.catch_warnings():  # nobody can close a connection whose wire is unplugged
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


@dataclass(frozen=True)
class Mission:
    """Kits whose addresses are in the three networks."""

    networks: Networks
    kits: Path

    @property
    def clients(self) -> list[Path]:
        return sorted(self.kits.glob("client-*"))

    def run_folder(self) -> dict[str, bytes]:
        return contents(self.kits / "server" / RUN, RESULTS)

    @contextmanager
    def threads(self) -> Iterator[tuple[Any, Any]]:
        """Server and courier; all run in threads, each in its network."""
        names = self.networks.names
        with ExitStack() as stack:
            for kit in self.clients:
                stack.enter_context(running(inside(names["clients"], run_client), kit))
            run_home = inside(names["server"], run_server)
            server = stack.enter_context(running(run_home, self.kits / "server"))
            fly, over = inside(names["courier"], run_courier), {"event": "mission-over"}
            courier = stack.enter_context(running(fly, self.kits / "courier-1", **over))
            yield server, courier

    @contextmanager
    def processes(self) -> Iterator[tuple[Any, Any]]:
        """Server and courier; all are processes of the command line."""
        names = self.networks.names
        with ExitStack() as stack:
            for kit in self.clients:
                stack.enter_context(process_inside(names["clients"], "client", kit))
            home = process_inside(names["server"], "server", self.kits / "server")
            server = stack.enter_context(home)
            flight = process_inside(names["courier"], "courier", self.kits / "courier-1")
            yield server, stack.enter_context(flight)


@pytest.fixture
def mission(networks: Networks, tmp_path: Path) -> Mission:
    kits = tmp_path / "kits"
    plan = make_plan(TWO)
    provision(
        TWO, plan, out=kits, clock="plan", server=SERVER, clients=CLIENTS, patience=600, speedup=600
    )
    return Mission(networks, kits)


def simulated(folder: Path) -> dict[str, bytes]:
    simulate(TWO, make_plan(TWO), out=folder, tell=ignore_note)
    return contents(folder, RESULTS)


def connected(source: Networks, role: str, address: str) -> int:
    """The error of an attempt to connect from there; 0: it was reached."""
    host, _, port = address.partition(":")
    code = (
        "import socket, sys; s = socket.socket(); s.settimeout(60); "
        f"print(s.connect_ex(({host!r}, {port})))"
    )
    return int(source.inside(role, "python3", "-c", code))


def test_there_is_no_route(networks: Networks) -> None:
    """From the courier both can be reached, and neither from the other."""
    for end in HOSTS:
        networks.wire(end)
    assert connected(networks, "courier", SERVER) == errno.ECONNREFUSED  # nobody listens there
    assert connected(networks, "courier", CLIENTS) == errno.ECONNREFUSED
    assert connected(networks, "clients", SERVER) == errno.ENETUNREACH
    assert connected(networks, "server", CLIENTS) == errno.ENETUNREACH


def test_it_learns(mission: Mission, tmp_path: Path) -> None:
    for end in HOSTS:
        mission.networks.wire(end)
    with mission.threads() as (server, _):
        until(lambda: server.has_started() and server.said("mission-over"))
        assert server.said("merged", updates=2)
    assert mission.run_folder() == simulated(tmp_path / "simulated")


def test_the_courier_has_one_wire_and_takes_it_along(mission: Mission, tmp_path: Path) -> None:
    """It is at the server, or at the clients, and between them nowhere."""
    networks, places = mission.networks, ["server"]
    networks.wire("server")
    with mission.threads() as (server, courier):

        def moved() -> bool:
            """To where it has something to do."""
            events = [e["event"] for e in courier.entries if e["event"] in ("departed", "sealed")]
            here = "clients" if events[-1:] == ["departed"] else "server"
            if here != places[-1]:
                networks.cut(places[-1])
                networks.wire(here)
                places.append(here)
            return bool(server.said("mission-over"))

        until(moved)
    assert mission.run_folder() == simulated(tmp_path / "simulated")
    assert places[:4] == ["server", "clients", "server", "clients"]


@pytest.mark.slow
def test_processes(mission: Mission, tmp_path: Path) -> None:
    """As from the command line."""
    for end in HOSTS:
        mission.networks.wire(end)
    with mission.processes() as (server, _):
        until(lambda: server.said("mission-over"))
    assert mission.run_folder() == simulated(tmp_path / "simulated")


@pytest.mark.slow
def test_a_fifth_of_all_packets_is_lost(mission: Mission, tmp_path: Path) -> None:
    """Each way, on each wire."""
    for end in HOSTS:
        mission.networks.wire(end)
    mission.networks.lose(20)
    with mission.processes() as (server, _):
        until(lambda: server.said("mission-over"))
    assert all(mission.networks.sent_again(role) for role in mission.networks.names)
    assert mission.run_folder() == simulated(tmp_path / "simulated")


RATE = "80kbit"
"""A model takes three seconds."""

Parts = Callable[[], list[Path]]


def parts_in(*kits: Path) -> Parts:
    """Files that have arrived in part."""
    return lambda: [
        path
        for kit in kits
        for path in (kit / STATE).glob("*.part")
        if path.exists() and path.stat().st_size
    ]


def is_gone(part: Path) -> bool:
    """It has become a file."""
    return not part.exists()


def cut_off(networks: Networks, end: str, how: str, number: int) -> None:
    """And mend it."""
    if how == "down and up":
        networks.set_link(end, "down")
        networks.set_link(end, "up")
        return
    networks.cut(end)
    networks.wire(end, HOSTS[end].rpartition(".")[0] + f".{10 + number}")
    networks.slow_down(end, RATE)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["down and up", "gone, and back with another address"])
def test_links_that_go_in_mid_transfer(mission: Mission, tmp_path: Path, how: str) -> None:
    """In the model on its way to the courier and to a client, and in updates on their way back."""
    networks, kits = mission.networks, mission.kits
    for end in HOSTS:
        networks.wire(end)
        networks.slow_down(end, RATE)
    transfers = [
        ("server", parts_in(kits / "courier-1")),
        ("clients", parts_in(*mission.clients)),
        ("clients", parts_in(kits / "courier-1")),
        ("server", parts_in(kits / "server")),
    ]
    with mission.processes() as (server, courier):
        for number, (end, parts) in enumerate(transfers):

            def was_cut(end: str = end, parts: Parts = parts, number: int = number) -> list[Path]:
                """The parts that were on their way, and still are."""
                before = parts()
                if before:
                    cut_off(networks, end, how, number)
                assert not server.said("mission-over"), "all was over before a link was cut"
                return [part for part in before if part.exists()]

            (part, *_) = until(was_cut)
            until(partial(is_gone, part))
        until(lambda: server.said("mission-over"))
        assert not courier.said("missed")
    assert mission.run_folder() == simulated(tmp_path / "simulated")
