"""The `[network]` section: where the server and the clients are, listed or generated."""

from __future__ import annotations

from typing import Self

import numpy as np
from pydantic import Field, field_validator, model_validator

from flexpress.arrays import FloatArray
from flexpress.scenario.fields import (
    Area,
    BlockCounts,
    ClientId,
    ClientPlace,
    Height,
    LatLon,
    Margin,
    Name,
    Place,
    ServerPlace,
    WholeNumber,
    Zone,
    as_array,
    is_geographic,
)
from flexpress.scenario.matrix import Distances
from flexpress.scenario.section import KeyedError, Section, check_form, present

_LISTED = ("clients",)
_GENERATED = ("area", "blocks", "clients_per_block")
_OF_LISTED = ("ids", "names", "altitudes")
_MOST_CLIENTS = 1_000_000
_MOST_WITH_MATRIX = 5_000
"""Clients whose distances fit into a matrix of 200 MB."""

Block = tuple[float, float, float, float]
"""x0, y0, x1, y1 in metres: the south-west and north-east corners."""


class Network(Section):
    """Clients either listed by position, or drawn at random in the blocks of an area."""

    server: ServerPlace | None = Field(
        default=None, description="[x, y] in metres, or { lat, lon }"
    )
    clients: tuple[ClientPlace, ...] | None = Field(
        default=None,
        description='a list of [x, y] in metres or of { lat, lon }, or a file: "sensors.csv"',
    )
    ids: tuple[ClientId, ...] | None = Field(default=None, description="one id per client")
    names: tuple[Name, ...] | None = Field(
        default=None, description='one name per client, "" for none'
    )
    altitudes: tuple[Height, ...] | None = Field(
        default=None, description='metres above sea level, one entry per client, "" if unknown'
    )
    distances: Distances | None = Field(default=None, description="metres from node to node")
    no_fly: tuple[Zone, ...] | None = Field(
        default=None, description='a list of zones, each a list of corners, or "zones.geojson"'
    )
    no_fly_names: tuple[Name, ...] | None = Field(
        default=None, description='one name per zone, "" for none'
    )
    no_fly_margin: Margin | None = Field(default=None, description="metres kept from the zones")
    area: Area | None = Field(default=None, description="[width, height] in metres")
    blocks: BlockCounts | None = Field(default=None, description="[columns, rows]")
    clients_per_block: WholeNumber | None = Field(
        default=None, ge=1, description="one number for all"
    )

    @field_validator("ids")
    @classmethod
    def _check_unique(cls, ids: tuple[int | str, ...] | None) -> tuple[int | str, ...] | None:
        seen: dict[str, int] = {}
        for i, client_id in enumerate(ids or ()):
            first = seen.setdefault(str(client_id), i)
            if first != i:
                raise ValueError(f"id {client_id} stands at [{first}] and [{i}]: each id once")
        return ids

    @model_validator(mode="after")
    def _check(self) -> Self:
        form = check_form(self, (_LISTED, _GENERATED))
        if form == _LISTED and self.server is None:
            raise KeyedError("server", "is missing: give [x, y] in metres, or { lat, lon }")
        if not 1 <= self.num_clients <= _MOST_CLIENTS:
            key = "clients" if form == _LISTED else "clients_per_block"
            text = f"gives {self.num_clients} clients: must be 1 to {_MOST_CLIENTS}"
            raise KeyedError(key, text)
        for key in self.given(*_OF_LISTED):
            self._check_one_per_client(key)
        return self

    @model_validator(mode="after")
    def _check_kinds(self) -> Self:
        """Metres everywhere, or degrees everywhere."""
        kinds = {True: "latitude and longitude", False: "metres"}
        if self.geographic and self.area is not None:
            raise KeyedError("server", "must be [x, y] in metres, as the area is")
        zones = (corner for zone in self.no_fly or () for corner in zone)
        for key, places in (("clients", self.clients or ()), ("no_fly", zones)):
            if any(is_geographic(place) is not self.geographic for place in places):
                ours, theirs = kinds[self.geographic], kinds[not self.geographic]
                raise KeyedError(key, f"in {theirs}, but the server is in {ours}: give both alike")
        return self

    @model_validator(mode="after")
    def _check_distances(self) -> Self:
        if self.distances is not None and self.no_fly is not None:
            raise KeyedError("no_fly", "not with network.distances: give one of them")
        nodes = self.num_clients + 1
        if self.distances is not None and len(self.distances) != nodes:
            found = len(self.distances)
            text = f"{found} x {found} entries: must be {nodes} x {nodes}, server and clients"
            raise KeyedError("distances", text)
        if self.num_clients > _MOST_WITH_MATRIX and self.needs_matrix:
            key = "clients" if self.clients is not None else "clients_per_block"
            text = (
                f"gives {self.num_clients} clients: must be at most {_MOST_WITH_MATRIX} with "
                "latitudes, no_fly or distances"
            )
            raise KeyedError(key, text)
        return self

    @model_validator(mode="after")
    def _check_no_fly(self) -> Self:
        if self.no_fly == ():
            raise KeyedError("no_fly", "has no zones: give one, or omit the key")
        for key in self.given("no_fly_margin", "no_fly_names") if self.no_fly is None else ():
            raise KeyedError(key, "has no meaning without no_fly: omit it")
        zones, names = len(self.no_fly or ()), self.no_fly_names
        if names is not None and len(names) != zones:
            raise KeyedError("no_fly_names", f"{len(names)} names for {zones} zones")
        return self

    def _check_one_per_client(self, key: str) -> None:
        found = len(getattr(self, key))
        if self.clients is None:
            raise KeyedError(key, "only with listed clients: generated ones are 1, 2, 3, ...")
        if found != self.num_clients:
            raise KeyedError(key, f"{found} {key} for {self.num_clients} clients")

    @property
    def geographic(self) -> bool:
        """Whether places are latitudes and longitudes."""
        return isinstance(self.server, LatLon)

    @property
    def needs_matrix(self) -> bool:
        return self.geographic or self.no_fly is not None or self.distances is not None

    @property
    def num_clients(self) -> int:
        if self.clients is not None:
            return len(self.clients)
        columns, rows = present(self.blocks)
        return columns * rows * present(self.clients_per_block)

    def client_ids(self) -> tuple[int | str, ...]:
        return self.ids or tuple(range(1, self.num_clients + 1))

    def client_names(self) -> tuple[str, ...]:
        names = self.names or ("",) * self.num_clients
        pairs = zip(names, self.client_ids(), strict=True)
        return tuple(name or str(client) for name, client in pairs)

    def zone_names(self) -> tuple[str, ...]:
        """One per no-fly zone, blank for those without."""
        return self.no_fly_names or ("",) * len(self.no_fly or ())

    def places(self, seed: int) -> FloatArray:
        """(nodes, 2): server first, then the clients, in metres or degrees as they are given.

        Generated clients are drawn with the seed.
        """
        clients = self._draw(seed) if self.clients is None else as_array(self.clients)
        return np.vstack([as_array([self._server_position()]), clients])

    def block_corners(self) -> list[Block]:
        """Rows south to north, in each the columns west to east; empty if not generated."""
        if self.blocks is None:
            return []
        (columns, rows), (width, height) = self.blocks, self._block_size()
        return [
            (width * column, height * row, width * (column + 1), height * (row + 1))
            for row in range(rows)
            for column in range(columns)
        ]

    def _server_position(self) -> Place:
        if self.server is not None:
            return self.server
        width, height = present(self.area)
        return width / 2, height / 2

    def _block_size(self) -> tuple[float, float]:
        (width, height), (columns, rows) = present(self.area), present(self.blocks)
        return width / columns, height / rows

    def _draw(self, seed: int) -> FloatArray:
        """Uniform in each block: u = rng.random((n, 2)), block after block as `block_corners`."""
        columns, rows = present(self.blocks)
        corners = np.array([(column, row) for row in range(rows) for column in range(columns)])
        u = np.random.default_rng(seed).random((len(corners), present(self.clients_per_block), 2))
        in_blocks = corners[:, None, :] + u  # (blocks, clients, 2), in units of a block
        return np.reshape(in_blocks * np.array(self._block_size()), (-1, 2))
