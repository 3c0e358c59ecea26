"""Kits for everybody: keys and certificates of an authority of our own, settings, samples."""

from __future__ import annotations

import re
import secrets
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import msgspec

from flexpress.arguments import check_choice, check_number, check_path, check_text
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
    ServerKit,
    save_kit,
)
from flexpress.field.messages import Payload
from flexpress.field.training import MissionClock, trainings, write_samples
from flexpress.files.disk import PLAN, SCENARIO, make_folder, reason, write_file
from flexpress.learning import Engine, Learner, Task, make_task
from flexpress.learning.engines import choose_net, learner_of
from flexpress.learning.job import first_model
from flexpress.planning import Plan, make_plan, plan_to_json
from flexpress.planning.plan import ClientId
from flexpress.planning.plan_file import check_plan
from flexpress.scenario import Algorithm, Scenario, check_scenario
from flexpress.scenario.projection import Coordinate

AUTHORITY_KIT, SERVER_KIT, OPERATOR_KIT = "authority", "server", "operator"

_LAST_PORT = 65535

_SAFE = re.compile("[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?")


def provision(
    scenario: Scenario,
    plan: Plan | None = None,
    *,
    out: str | Path,
    algorithm: Algorithm | None = None,
    clock: MissionClock = "wall",
    payload: Payload = "parcel",
    server: str = "127.0.0.1:7600",
    clients: str = "127.0.0.1:7601",
    patience: float = 120.0,
    longest_tour: float | None = None,
    origin: Coordinate | None = None,
    speedup: float = 1.0,
    engine: Engine = "auto",
    tell: Tell = ignore_note,
) -> Path:
    """Make the kits of server, operator, couriers and clients, in folders of `out`.

    Without a plan, one is made as [plan] says. `server` and `clients` are addresses, HOST:PORT;
    "{name}" in the latter stands for the name of a client. Clients on the same host listen at
    PORT, PORT + 1, and so on. A courier tries for `patience` seconds to reach a client, and after
    `longest_tour` seconds it is given up; None: the operator decides. The folder must not exist:
    keys are never replaced.
    """
    check_scenario(scenario)
    folder = _free_folder(out)
    if algorithm is not None:
        scenario = scenario.replace(run={"algorithm": algorithm})
    if plan is not None:
        check_plan(scenario, plan)
    settings = _Mission(
        check_choice("clock", clock, ("wall", "plan")),
        check_choice("payload", payload, ("parcel", "sum")),
        check_number("speedup", speedup, least=1e-9, most=1e9),
        _seconds("patience", patience),
        None if longest_tour is None else _seconds("longest_tour", longest_tour),
        engine,
        parse_address("server", server),
        parse_address("clients", clients),
    )
    net = choose_net(scenario, engine)
    task = make_task(scenario, tell)
    learner = learner_of(task, net, engine=engine, tell=tell)
    chosen = plan or make_plan(scenario)
    with _whole_or_nothing(folder) as draft:
        _Kits(scenario, chosen, task, learner, settings, origin, draft).make()
    return folder


def _free_folder(out: str | Path) -> Path:
    """InputError if there is anything."""
    folder = check_path("out", out)
    if not folder.name:
        raise InputError(f"out = {folder}: name a folder that does not exist yet")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder}: exists already; name another folder, or delete it")
    return folder


def _seconds(name: str, value: float) -> float:
    return check_number(name, value, least=1e-3, most=1e9)


@contextmanager
def _whole_or_nothing(folder: Path) -> Iterator[Path]:
    """A draft to be filled; it becomes the folder at the end of the block."""
    draft = folder.with_name(f".{folder.name}.part")
    make_folder(folder.parent)
    shutil.rmtree(draft, ignore_errors=True)
    try:
        yield draft
        if folder.exists():
            folder.rmdir()
        draft.rename(folder)
    except OSError as error:
        raise InputError(f"{folder}: cannot be written: {reason(error)}") from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)  # half of the kits, with keys in them


def parse_address(name: str, text: str) -> tuple[str, int]:
    """Host and port of "HOST:PORT"; an IPv6 address is in brackets."""
    host, _, port = check_text(name, text).rpartition(":")
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    digits = port.isascii() and port.isdecimal() and len(port) < 6
    if not _is_host(bare) or (":" in host) != (bare != host) or not digits:
        raise _not_an_address(name, text)
    if not 1 <= int(port) <= _LAST_PORT:
        raise _not_an_address(name, text)
    return bare, int(port)


def _is_host(text: str) -> bool:
    """Whether it may be looked up at all: labels of 1 to 63 characters."""
    try:
        return 0 < len(text.encode("idna")) <= 253
    except UnicodeError:
        return False


def _not_an_address(name: str, text: str) -> InputError:
    return InputError(
        f"{name} = {text}: must be HOST:PORT, such as 192.168.4.1:7600 or [fd00::1]:7600"
    )


@dataclass(frozen=True)
class _Mission:
    """The settings that all kits share."""

    clock: MissionClock
    payload: Payload
    speedup: float
    patience: float
    longest_tour: float | None
    engine: Engine
    server: tuple[str, int]
    clients: tuple[str, int]

    def address(self, name: str, number: int) -> tuple[str, int]:
        """Of the client with this name and number."""
        host, port = self.clients
        if "{name}" in host:
            return host.replace("{name}", name), port
        if port + number > _LAST_PORT:
            raise InputError(
                f"clients = {host}:{port}: {name} would listen at {port + number}: the last port "
                f"is {_LAST_PORT}; begin with a lower one"
            )
        return host, port + number


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
        mission: _Mission,
        origin: Coordinate | None,
        folder: Path,
    ) -> None:
        self._scenario, self._plan, self._task = scenario, plan, task
        self._mission, self._origin = mission, origin
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
        folder, (host, port) = self._folder / SERVER_KIT, self._mission.server
        kit = ServerKit(
            **self._settings("server"),  # type: ignore[arg-type]  # of the right types by name
            host=_listening(host),
            port=port,
            clock=self._mission.clock,
            roster=roster,
            engine=self._mission.engine,
            longest_tour=self._mission.longest_tour,
        )
        save_kit(folder, kit)
        write_file(folder / SCENARIO, self._scenario.to_toml())
        write_file(folder / PLAN, f"{plan_to_json(self._plan)}\n")

    def _operator(self, authority: Authority) -> None:
        folder = self._folder / OPERATOR_KIT
        issue(authority, "operator", "operator", folder)
        save_kit(folder, OperatorKit(self._run, "operator", *self._mission.server))

    def _courier(self, authority: Authority, transporter: int) -> Entry:
        name = courier_name(transporter)
        folder = self._folder / name
        member = issue(authority, name, "courier", folder)
        kit = CourierKit(
            **self._settings(name),  # type: ignore[arg-type]  # of the right types by name
            server_host=self._mission.server[0],
            server_port=self._mission.server[1],
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
        host, port = self._mission.address(name, training.number)
        kit = ClientKit(
            **self._settings(name),  # type: ignore[arg-type]  # of the right types by name
            host=_listening(host),
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


def _listening(host: str) -> str:
    """Where to listen for callers of this host: on loopback only, or on all interfaces."""
    if host in ("127.0.0.1", "::1", "localhost"):
        return host
    return "::" if ":" in host else "0.0.0.0"
