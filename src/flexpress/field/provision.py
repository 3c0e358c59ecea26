"""Kits for everybody: keys and certificates of an authority of our own, settings, samples."""

from __future__ import annotations

import re
import secrets
import shutil
from collections import Counter
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import msgspec

from flexpress.arguments import check_choice, check_number, check_path
from flexpress.callbacks import Tell, ignore_note
from flexpress.errors import InputError
from flexpress.field.flight_file import make_flight_file
from flexpress.field.identity import Authority, issue, make_authority, make_seal_key
from flexpress.field.kit import (
    FIRST_MODEL,
    FLIGHT,
    ClientKit,
    CourierKit,
    Entry,
    OperatorKit,
    Payload,
    ServerKit,
    save_kit,
)
from flexpress.field.training import MissionClock, trainings, write_samples
from flexpress.files.disk import PLAN, SCENARIO, make_folder, reason, write_file
from flexpress.learning import Engine, Learner, Task, make_task
from flexpress.learning.engines import choose_net, learner_of
from flexpress.learning.job import first_model
from flexpress.planning import Plan, make_plan, plan_to_json
from flexpress.planning.plan import ClientId
from flexpress.planning.plan_file import check_plan
from flexpress.scenario import Scenario, check_scenario
from flexpress.scenario.projection import Coordinate

AUTHORITY_KIT, SERVER_KIT, OPERATOR_KIT = "authority", "server", "operator"

_SAFE = re.compile("[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?")


@dataclass(frozen=True)
class Addresses:
    """Where everybody listens. "{name}" in `client_host` stands for the name of the client."""

    server_host: str = "127.0.0.1"
    server_port: int = 7600
    client_host: str = "127.0.0.1"
    client_port: int = 7601  # of the first client
    same_port: bool = False  # all clients listen at it; otherwise at one after the other

    def client(self, name: str, number: int) -> tuple[str, int]:
        port = self.client_port + (0 if self.same_port else number)
        return self.client_host.replace("{name}", name), port


@dataclass(frozen=True)
class Mission:
    """The settings that all kits share."""

    clock: MissionClock = "wall"
    payload: Payload = "parcel"
    speedup: float = 1.0
    patience: float = 120.0  # seconds that a courier tries to reach a client
    engine: Engine = "auto"
    longest_tour: float | None = None  # seconds after which a tour is void

    def __post_init__(self) -> None:
        check_choice("clock", self.clock, ("plan", "wall"))
        check_choice("payload", self.payload, ("parcel", "sum"))
        check_number("speedup", self.speedup, least=1e-9, most=1e9)
        check_number("patience", self.patience, least=1e-3, most=1e9)
        if self.longest_tour is not None:
            check_number("longest_tour", self.longest_tour, least=1e-3, most=1e9)


def provision(
    scenario: Scenario,
    plan: Plan | None = None,
    *,
    out: str | Path,
    mission: Mission | None = None,
    addresses: Addresses | None = None,
    origin: Coordinate | None = None,
    tell: Tell = ignore_note,
) -> Path:
    """Make the kits of server, operator, couriers and clients, in folders of `out`.

    Without a plan, one is made as [plan] says. The folder must not exist: keys are never replaced.
    """
    check_scenario(scenario)
    folder = check_path("out", out)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder}: exists already; name another folder, or delete it")
    if plan is not None:
        check_plan(scenario, plan)
    mission, addresses = mission or Mission(), addresses or Addresses()
    net = choose_net(scenario, mission.engine)
    task = make_task(scenario, tell)
    learner = learner_of(task, net, engine=mission.engine, tell=tell)
    chosen = plan or make_plan(scenario)
    draft = folder.with_name(f".{folder.name}.part")
    make_folder(folder.parent)
    shutil.rmtree(draft, ignore_errors=True)
    _Kits(scenario, chosen, task, learner, mission, addresses, origin, draft).make()
    try:
        if folder.exists():
            folder.rmdir()
        draft.rename(folder)
    except OSError as error:
        raise InputError(f"{folder}: cannot be written: {reason(error)}") from None
    return folder


def courier_name(transporter: int) -> str:
    return f"courier-{transporter}"


def client_name(client: ClientId) -> str:
    """Its name in certificates and addresses; ids that do not fit get a digest as well."""
    text = str(client)
    if _SAFE.fullmatch(text):
        return f"client-{text}"
    plain = re.sub("[^a-z0-9]+", "-", text.lower())[:24].strip("-")
    return "-".join(filter(None, ["client", plain, sha256(text.encode()).hexdigest()[:8]]))


class _Kits:
    """Makes all kits of one mission, in a folder that nobody uses yet."""

    def __init__(
        self,
        scenario: Scenario,
        plan: Plan,
        task: Task,
        learner: Learner,
        mission: Mission,
        addresses: Addresses,
        origin: Coordinate | None,
        folder: Path,
    ) -> None:
        self._scenario, self._plan, self._task = scenario, plan, task
        self._mission, self._addresses, self._origin = mission, addresses, origin
        self._folder = folder
        self._run = secrets.token_hex(16)
        self._model = first_model(learner)
        self._trainings = trainings(
            scenario,
            plan,
            task,
            learner,
            clock=mission.clock,
            speedup=mission.speedup,
            engine=mission.engine,
        )

    def make(self) -> None:
        names = Counter(client_name(client) for client in self._trainings)
        twice = next((name for name, times in names.items() if times > 1), None)
        if twice:
            raise InputError(f"{twice}: two clients would have this name; give them other ids")
        authority = make_authority(self._folder / AUTHORITY_KIT)
        (self._folder / AUTHORITY_KIT).chmod(0o700)
        server_key = issue(authority, "server", "server", self._folder / SERVER_KIT).public_key
        seal_key = make_seal_key(self._folder / SERVER_KIT)
        roster = []
        for transporter, tour in enumerate(self._plan.transporters, start=1):
            if tour.clients:
                roster.append(self._courier(authority, transporter))
            for order, (client, seconds) in enumerate(
                zip(tour.clients, tour.arrivals, strict=True)
            ):
                entry = self._client(authority, client, server_key, seal_key)
                courier = courier_name(transporter)
                roster.append(
                    msgspec.structs.replace(entry, courier=courier, seconds=seconds, order=order)
                )
        self._server(tuple(roster))
        self._operator(authority)

    def _settings(self, name: str) -> dict[str, object]:
        return {
            "run": self._run,
            "name": name,
            "payload": self._mission.payload,
            "num_params": self._model.size,
            "dtype": str(self._model.dtype),
            "speedup": self._mission.speedup,
        }

    def _server(self, roster: tuple[Entry, ...]) -> None:
        folder, addresses = self._folder / SERVER_KIT, self._addresses
        kit = ServerKit(
            **self._settings("server"),  # type: ignore[arg-type]  # of the right types by name
            host=addresses.server_host,
            port=addresses.server_port,
            clock=self._mission.clock,
            roster=roster,
            engine=self._mission.engine,
            longest_tour=self._mission.longest_tour,
        )
        save_kit(folder, kit)
        write_file(folder / SCENARIO, self._scenario.to_toml())
        write_file(folder / PLAN, f"{plan_to_json(self._plan)}\n")

    def _operator(self, authority: Authority) -> None:
        folder, addresses = self._folder / OPERATOR_KIT, self._addresses
        issue(authority, "operator", "operator", folder)
        host, port = addresses.server_host, addresses.server_port
        save_kit(folder, OperatorKit(self._run, "operator", host, port))

    def _courier(self, authority: Authority, transporter: int) -> Entry:
        name = courier_name(transporter)
        folder = self._folder / name
        member = issue(authority, name, "courier", folder)
        kit = CourierKit(
            **self._settings(name),  # type: ignore[arg-type]  # of the right types by name
            server_host=self._addresses.server_host,
            server_port=self._addresses.server_port,
            patience=self._mission.patience,
        )
        save_kit(folder, kit)
        if self._origin is not None or self._scenario.network.geographic:
            flight = make_flight_file(
                self._scenario,
                self._plan,
                transporter,
                origin=self._origin,
                name_of=client_name,
            )
            write_file(folder / FLIGHT, msgspec.json.format(msgspec.json.encode(flight)))
        duration = self._plan.transporters[transporter - 1].round_trip
        return Entry(name, "courier", member.public_key, transporter, seconds=duration)

    def _client(
        self, authority: Authority, client: ClientId, server_key: str, seal_key: str
    ) -> Entry:
        name, training = client_name(client), self._trainings[client]
        folder = self._folder / name
        member = issue(authority, name, "client", folder)
        host, port = self._addresses.client(name, training.number)
        kit = ClientKit(
            **self._settings(name),  # type: ignore[arg-type]  # of the right types by name
            host="0.0.0.0" if host != "127.0.0.1" else host,
            port=port,
            server_key=server_key,
            seal_key=seal_key,
            training=training,
        )
        save_kit(folder, kit)
        write_samples(folder / training.samples, self._task, client)
        if training.preloaded:
            little = self._model.dtype.newbyteorder("<")
            write_file(folder / FIRST_MODEL, self._model.astype(little).tobytes())
        return Entry(
            name, "client", member.public_key, training.number, client, host=host, port=port
        )
