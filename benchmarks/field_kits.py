"""Kits of a large mission, made up at once: real keys and certificates, and nobody's samples."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from flexpress import Job, Metrics, Plan, Scenario
from flexpress.field.identity import issue, make_authority, make_seal_key
from flexpress.field.kit import Entry, ServerKit, save_kit
from flexpress.field.messages import Payload
from flexpress.files.disk import PLAN, SCENARIO, write_file
from flexpress.learning import Vector
from flexpress.planning import plan_to_json
from flexpress.scenario import Algorithm

LONG = 10**6
"""Slots: no mission ends, and none is evaluated, while it is measured."""
SPEEDUP = 4.0
"""A courier that is told to wait asks again after half a second."""


class MadeUp:
    """A learner of any size that learns nothing, at once."""

    def __init__(self, num_params: int) -> None:
        self._num_params = num_params

    def initial_model(self) -> Vector:
        return np.zeros(self._num_params, np.float32)

    def train(self, jobs: Sequence[Job]) -> Vector:
        return np.stack([job.model - self.local_model(job) for job in jobs])

    def local_model(self, job: Job) -> Vector:
        """Another one, in which all numbers are other numbers."""
        model: Vector = job.model + np.float32(1e-3 * job.num_steps)
        return model

    def evaluate(self, model: Vector) -> Metrics:
        return Metrics(1.0, 0.5)


@dataclass(frozen=True)
class Load:
    """How large a mission is, and how it merges."""

    num_clients: int
    num_couriers: int
    num_params: int
    payload: Payload = "parcel"
    algorithm: Algorithm = "async"

    @property
    def label(self) -> str:
        size = f"N = {self.num_clients:,}, K = {self.num_couriers}"
        return f"{size}, {self.payload}, {self.algorithm}"


@dataclass(frozen=True)
class Kits:
    """Folders of the server and of each courier, and the keys of the clients of each."""

    run: str
    server: Path
    port: int
    seal_key: str
    couriers: dict[str, Path]
    clients: dict[str, dict[str, Ed25519PrivateKey]]


def make_kits(load: Load, folder: Path, port: int) -> Kits:
    scenario, plan = scenario_of(load), plan_of(load)
    authority = make_authority(folder / "authority")
    server = folder / "server"
    issue(authority, "server", "server", server)
    seal_key = make_seal_key(server)
    couriers = {f"courier-{k}": folder / f"courier-{k}" for k in range(1, load.num_couriers + 1)}
    roster: list[Entry] = []
    clients: dict[str, dict[str, Ed25519PrivateKey]] = {}
    for number, (courier, tour) in enumerate(zip(couriers, plan.transporters, strict=True), 1):
        member = issue(authority, courier, "courier", couriers[courier])
        roster.append(Entry(courier, "courier", member.public_key, number, seconds=tour.round_trip))
        keys = {f"client-{client}": Ed25519PrivateKey.generate() for client in tour.clients}
        clients[courier] = keys
        for order, client in enumerate(tour.clients):
            name = f"client-{client}"
            public = keys[name].public_key().public_bytes_raw().hex()
            address = {"host": "127.0.0.1", "port": 1, "seconds": tour.arrivals[order]}
            roster.append(
                Entry(name, "client", public, order, client, courier, order=order, **address)  # type: ignore[arg-type]  # of the right types by name
            )
    run = secrets.token_hex(16)
    kit = ServerKit(
        run,
        "server",
        load.payload,
        load.num_params,
        "float32",
        SPEEDUP,
        "127.0.0.1",
        port,
        "wall",
        tuple(roster),
    )
    save_kit(server, kit)
    write_file(server / SCENARIO, scenario.to_toml())
    write_file(server / PLAN, f"{plan_to_json(plan)}\n")
    return Kits(run, server, port, seal_key, couriers, clients)


def scenario_of(load: Load) -> Scenario:
    network = {"blocks": [1, 1], "clients_per_block": load.num_clients}
    fleet = {"speeds": [10.0] * load.num_couriers, "budgets": None}
    run = {"algorithm": load.algorithm, "horizon": LONG, "eval_every": LONG}
    return Scenario.preset("paper").replace(network=network, fleet=fleet, run=run)


def plan_of(load: Load) -> Plan:
    """Everybody has as many clients, in no good order: nothing is flown."""
    nodes = range(1, load.num_clients + 1)
    tours = [list(nodes[k :: load.num_couriers]) for k in range(load.num_couriers)]
    return Plan.of(scenario_of(load), "minmax", tours, solver="search", seed=0, seconds=0.0)
