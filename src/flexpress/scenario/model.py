"""The scenario: everything that is given before a plan is made, as one frozen value."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path, PurePath
from typing import Self

import numpy as np
from pydantic import Field, ValidationError, model_validator

from flexpress.arguments import (
    LARGEST_SEED,
    LONGEST_TIME,
    check_kind,
    check_path,
    check_text,
    plain,
    refusal,
)
from flexpress.arrays import FloatArray
from flexpress.errors import InputError
from flexpress.files.disk import parse_toml, read_text, write_file
from flexpress.scenario.fields import Label, LatLonAltitude, PositiveTime, WholeNumber
from flexpress.scenario.inputs import read_inputs
from flexpress.scenario.network import Block, Network
from flexpress.scenario.preset import preset_text
from flexpress.scenario.section import KeyedError, Section
from flexpress.scenario.settings import (
    MOST_WATTS,
    TRANSMIT_POWER,
    Fleet,
    LearningSettings,
    Link,
    PlanSettings,
    Power,
    RunSettings,
)
from flexpress.scenario.terrain import Point, Terrain
from flexpress.scenario.toml import write_document
from flexpress.scenario.validation_errors import explain, explain_each

_SHORTEST_SLOT = 1e-3


class Scenario(Section):
    """Positions, fleet, link, power, in SI units. Made by `load`, `from_dict` or `preset`."""

    name: Label = "scenario"
    seed: WholeNumber = Field(default=0, ge=0, le=LARGEST_SEED, description="0 to 2^63 - 1")
    slot: PositiveTime = Field(
        default=60.0,
        ge=_SHORTEST_SLOT,
        le=LONGEST_TIME,
        description="seconds for one local training step",
    )
    network: Network = Field(description="the section [network]: server and clients")
    fleet: Fleet = Field(description="the section [fleet]: speeds, budgets")
    link: Link = Field(description="the section [link]: time to pass a model to a client")
    power: Power = Field(default=Power(), description="the section [power]")
    plan: PlanSettings = Field(default=PlanSettings(), description="the section [plan]")
    learning: LearningSettings = Field(
        default=LearningSettings(), description="the section [learning]"
    )
    run: RunSettings = Field(default=RunSettings(), description="the section [run]")

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """The scenario in a TOML file; InputError with one line if something is wrong."""
        path = check_path("path", path)
        data = parse_toml(read_text(path), str(path))
        return cls.from_dict(data, base_dir=path.parent, source=str(path))

    @classmethod
    def preset(cls, name: str, seed: int | None = None) -> Self:
        source = f"preset {name}"
        return cls.from_dict(parse_toml(preset_text(name, seed), source), source=source)

    @classmethod
    def from_dict(
        cls,
        data: Mapping[str, object],
        base_dir: str | Path | None = None,
        source: str = "scenario",
    ) -> Self:
        """The scenario in nested mappings shaped like the file; errors begin with `source`."""
        if not isinstance(data, Mapping):
            raise refusal("data", data, "a mapping of keys, shaped like the scenario file")
        folder = Path() if base_dir is None else check_path("base_dir", base_dir)
        check_text("source", source)
        data = _plain_values(data)
        complete = read_inputs(data, folder, source)
        try:
            return cls.model_validate(complete)
        except ValidationError as error:
            raise InputError(f"{source}: {explain(error, data, cls)}") from None

    @classmethod
    def faults(
        cls, data: Mapping[str, object], base_dir: str | Path = ".", source: str = "scenario"
    ) -> list[tuple[str, str]]:
        """Everything wrong with such data: the key of each fault, and its line; empty if valid."""
        data = _plain_values(data)
        try:
            complete = read_inputs(data, Path(base_dir), source)
            cls.model_validate(complete)
        except InputError as error:
            return [("network", str(error).removeprefix(f"{source}: "))]
        except ValidationError as error:
            return explain_each(error, data, cls)
        return []

    def replace(self, **changes: object) -> Self:
        """A changed copy: mappings are merged into their section, and None removes a key.

        Replacing the no-fly zones removes their names, too.
        """
        data = self.to_dict()
        for key, change in changes.items():
            section = data.get(key)
            if isinstance(section, dict) and isinstance(change, Mapping):
                if "no_fly" in change:
                    section = {**section, "no_fly_names": None}
                change = _without_none({**section, **change})
            data[key] = change
        return self.from_dict(_without_none(data), source=self.name)

    def to_dict(self) -> dict[str, object]:
        return self.model_dump(exclude_none=True)

    def to_toml(self) -> str:
        """Text that loads as an equal scenario, bit for bit; contents of files are included."""
        return write_document(self.to_dict())

    def save(self, path: str | Path) -> None:
        write_file(check_path("path", path), self.to_toml())

    @property
    def learning_seed(self) -> int:
        """The seed of the partition, the first model and the mini-batches."""
        return self.seed if self.learning.seed is None else self.learning.seed

    @cached_property
    def terrain(self) -> Terrain:
        """Where everything is, and the paths between."""
        return Terrain(self.network, self.seed)

    @property
    def positions(self) -> FloatArray:
        """Server first, then the clients in the order of `client_ids`: (N + 1, 2), read-only.

        Metres, x to the east, y to the north. For latitudes and longitudes this is the plane
        around the server in which distances and directions from the server are true.
        """
        return self.terrain.positions

    @property
    def coordinates(self) -> FloatArray | None:
        """Latitude and longitude of server and clients: (N + 1, 2); None if given in metres."""
        return self.terrain.places if self.network.geographic else None

    @property
    def distances(self) -> FloatArray | None:
        """Metres from node to node: (N + 1, N + 1), perhaps asymmetric; None: straight lines."""
        return self.terrain.distances

    def corners(self, i: int, j: int) -> tuple[Point, ...]:
        """Way points around no-fly zones from node i to node j; none if it is free."""
        return self.terrain.corners(i, j)

    @property
    def no_fly(self) -> tuple[tuple[Point, ...], ...]:
        """The no-fly zones: the corners of each, the first not repeated."""
        return self.terrain.no_fly

    @property
    def zone_names(self) -> tuple[str, ...]:
        """The names of the no-fly zones, blank for those without."""
        return self.network.zone_names()

    @property
    def client_names(self) -> tuple[str, ...]:
        """The name of each client, or else its id."""
        return self.network.client_names()

    @property
    def client_altitudes(self) -> tuple[float | None, ...]:
        """Metres above sea level of each client; None if not given."""
        given = self.network.altitudes or ("",) * self.num_clients
        return tuple(None if isinstance(metres, str) else metres for metres in given)

    @property
    def server_altitude(self) -> float | None:
        """Metres above sea level; None if not given."""
        server = self.network.server
        return server.altitude if isinstance(server, LatLonAltitude) else None

    @property
    def flight_altitude(self) -> float | None:
        """Metres above the ground; None if not given."""
        return self.link.altitude

    @cached_property
    def client_ids(self) -> tuple[int | str, ...]:
        return self.network.client_ids()

    @property
    def num_clients(self) -> int:
        """N of the paper."""
        return self.network.num_clients

    @property
    def num_transporters(self) -> int:
        """K of the paper."""
        return len(self.fleet.speeds)

    @property
    def speeds(self) -> tuple[float, ...]:
        """V_k of the paper, m/s."""
        return self.fleet.speeds

    def budget(self, k: int) -> float:
        """Joules that transporter k may spend on one round trip; inf if none is given."""
        return math.inf if self.fleet.budgets is None else self.fleet.budgets[k]

    @property
    def transfer_time(self) -> float:
        """T_trans of the paper, seconds per client."""
        return self.link.seconds_per_client

    def flight_power(self, k: int) -> float:
        """Watts of transporter k in flight at its speed."""
        return self.power.flight_at(self.speeds[k])

    @property
    def hover_power(self) -> float:
        return self.power.hover

    @property
    def transmit_power(self) -> float:
        """p of the paper, watts: from [power], else from [link], else the default."""
        given = (self.power.transmit, self.link.transmit_power)
        return next((watts for watts in given if watts is not None), TRANSMIT_POWER)

    @property
    def blocks(self) -> list[Block]:
        """Corners of the blocks of a generated network, for the map."""
        return self.network.block_corners()

    @model_validator(mode="after")
    def _check_transmit_power(self) -> Self:
        here, there = self.power.transmit, self.link.transmit_power
        if here is not None and there is not None and not math.isclose(here, there, rel_tol=1e-9):
            raise KeyedError("power.transmit", f"link.transmit_power is {there} W; give it once")
        return self

    @model_validator(mode="after")
    def _check_flight_power(self) -> Self:
        for k, speed in enumerate(self.speeds):
            watts = self.flight_power(k)
            if watts > MOST_WATTS:
                text = f"c1 V^3 + c2 / V is {watts:.3g} W at {speed} m/s"
                raise KeyedError("fleet.speeds", f"{text}: must be at most {plain(MOST_WATTS)} W")
        return self

    @model_validator(mode="after")
    def _check_partition(self) -> Self:
        if self.learning.partition == "location" and self.network.blocks is None:
            raise KeyedError("learning.partition", "needs network.blocks: use iid or dirichlet")
        return self

    @model_validator(mode="after")
    def _check_terrain(self) -> Self:
        self.terrain.check()
        return self

    def __eq__(self, other: object) -> bool:
        # By fields alone: pydantic would compare the cached positions too, which arrays refuse.
        return isinstance(other, Scenario) and self.to_dict() == other.to_dict()


def check_scenario(scenario: object) -> Scenario:
    """The scenario given to a public call; InputError if it is something else."""
    return check_kind("scenario", scenario, Scenario, "make one with Scenario.load or .preset")


def _plain_values(data: Mapping[str, object]) -> dict[str, object]:
    """The same data as a file would give it: without NumPy's numbers and arrays, and paths."""
    return {str(key): _plain(value) for key, value in data.items()}


def _plain(value: object) -> object:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, Mapping):
        return _plain_values(value)
    if isinstance(value, list | tuple) and any(map(_is_numpy, set(map(type, value)))):
        return [_plain(entry) for entry in value]
    return value


def _is_numpy(kind: type) -> bool:
    """Only the entries of a list are looked at: readers accept NumPy's numbers deeper within it."""
    return issubclass(kind, np.generic | np.ndarray)


def _without_none(data: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in data.items() if value is not None}
