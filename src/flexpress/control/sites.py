"""Server, sensors and zones of a draft: as they stand in it, and as points of the map's plane.

A draft may be incomplete or wrong. What can be read of it is drawn; the rest is left out, and the
faults of the draft say why.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from flexpress.errors import InputError
from flexpress.scenario.fields import Place, as_array, is_geographic, place_of, ring
from flexpress.scenario.inputs import read_inputs
from flexpress.scenario.network import Network
from flexpress.scenario.projection import Flat, Globe, Projection

Point = tuple[float, float]

_DEGREE_DIGITS, _METRE_DIGITS = 7, 2
"""A centimetre."""

_GENERATED = ("area", "blocks", "clients_per_block")


@dataclass(frozen=True)
class Sites:
    """Places as the draft gives them; ids, names and altitudes only if it has them."""

    server: Place | None = None
    clients: tuple[Place, ...] = ()
    ids: tuple[int | str, ...] = ()
    names: tuple[str, ...] = ()
    altitudes: tuple[float | str, ...] = ()
    zones: tuple[tuple[Place, ...], ...] = ()
    zone_names: tuple[str, ...] = ()
    generated: bool = field(default=False)

    @classmethod
    def of(cls, data: Mapping[str, Any], base: Path) -> Sites:
        """Everything that can be read."""
        try:
            network: Any = read_inputs(data, base, "draft").get("network")
        except InputError:
            network = {}
        if not isinstance(network, Mapping):
            network = {}
        seed = data.get("seed", 0)
        sites = _generated(network, seed if isinstance(seed, int) else 0)
        clients = _readable(network.get("clients"))
        server = _place(network.get("server"))
        found = cls(
            server=sites.server if server is None else server,
            clients=sites.clients or clients,
            ids=_column(network, "ids", len(clients)),
            names=_column(network, "names", len(clients)),
            altitudes=_column(network, "altitudes", len(clients)),
            zones=tuple(_rings(network.get("no_fly"))),
            generated=sites.generated,
        )
        return replace(found, zone_names=_column(network, "no_fly_names", len(found.zones)))

    @property
    def geographic(self) -> bool:
        """Whether places are latitudes and longitudes."""
        first = next(iter((*self.clients, *(c for zone in self.zones for c in zone))), None)
        return is_geographic(first if self.server is None else self.server)

    @property
    def projection(self) -> Projection:
        if not self.geographic:
            return Flat()
        origin = self.server or next(iter(self.clients), None) or self.zones[0][0]
        lat, lon = as_array([origin])[0].tolist()
        return Globe((lat, lon))

    def plane(self, places: Iterable[Place]) -> list[list[float]]:
        """Points of the map, in metres."""
        alike = [place for place in places if is_geographic(place) == self.geographic]
        if not alike:
            return []
        points: list[list[float]] = self.projection.to_plane(as_array(alike)).tolist()
        return points

    def place_at(self, point: Point) -> Place:
        """The place below a point of the map, to a centimetre."""
        if not self.geographic:
            return round(point[0], _METRE_DIGITS), round(point[1], _METRE_DIGITS)
        return self.own(self.projection.to_places(np.array([point]))[0].tolist())

    def own(self, pair: Iterable[float]) -> Place:
        """A pair of numbers as a place of the draft's own kind."""
        first, second = pair
        if not self.geographic:
            return first, second
        lat, lon = round(first, _DEGREE_DIGITS), round(second, _DEGREE_DIGITS)
        return place_of({"lat": lat, "lon": lon})

    def moved(self, node: int, place: Place) -> Sites:
        """Node 0 is the server."""
        if node == 0:
            return replace(self, server=place)
        clients = list(self.clients)
        clients[node - 1] = place
        return replace(self, clients=tuple(clients), generated=False)

    def added(self, place: Place) -> Sites:
        """One sensor more, with the next free number if sensors have ids."""
        number = 1 + max((i for i in self.ids if isinstance(i, int)), default=len(self.ids))
        taken = {str(each) for each in self.ids}
        while str(number) in taken:
            number += 1
        return replace(
            self,
            clients=(*self.clients, place),
            ids=(*self.ids, number) if self.ids else (),
            names=(*self.names, "") if self.names else (),
            altitudes=(*self.altitudes, "") if self.altitudes else (),
            generated=False,
        )

    def without(self, nodes: Iterable[int]) -> Sites:
        """The server is node 0."""
        gone = set(nodes)

        def rest(column: tuple[Any, ...]) -> tuple[Any, ...]:
            return tuple(each for i, each in enumerate(column, start=1) if i not in gone)

        return replace(
            self,
            server=None if 0 in gone else self.server,
            clients=rest(self.clients),
            ids=rest(self.ids),
            names=rest(self.names),
            altitudes=rest(self.altitudes),
            generated=False,
        )

    def with_zone(self, corners: tuple[Place, ...]) -> Sites:
        names = (*self.zone_names, "") if self.zone_names else ()
        return replace(self, zones=(*self.zones, corners), zone_names=names)

    def without_zone(self, number: int) -> Sites:
        def rest(column: tuple[Any, ...]) -> tuple[Any, ...]:
            return column[:number] + column[number + 1 :]

        return replace(self, zones=rest(self.zones), zone_names=rest(self.zone_names))

    def changes(self, before: Sites) -> dict[str, dict[str, object]]:
        """The keys of `[network]` that differ from before."""
        keys: dict[str, object] = {}
        if self.server != before.server:
            keys["server"] = None if self.server is None else _raw(self.server)
        columns = ("clients", "ids", "names", "altitudes")
        if any(getattr(self, name) != getattr(before, name) for name in columns):
            if before.generated:
                keys |= dict.fromkeys(_GENERATED)
                keys["server"] = None if self.server is None else _raw(self.server)
            keys["clients"] = [_raw(place) for place in self.clients] or None
            keys |= {name: list(getattr(self, name)) or None for name in columns[1:]}
        if (self.zones, self.zone_names) != (before.zones, before.zone_names):
            keys["no_fly"] = [[_raw(c) for c in zone] for zone in self.zones] or None
            keys["no_fly_names"] = list(self.zone_names) or None
            if not self.zones:
                keys["no_fly_margin"] = None
        return {"network": keys} if keys else {}


def _raw(place: Place) -> object:
    """As it stands in a file."""
    if isinstance(place, tuple):
        return [float(number) for number in place]
    return vars(place).copy()


def _place(value: object) -> Place | None:
    try:
        return place_of(value)
    except ValueError:
        return None


def _readable(values: object) -> tuple[Place, ...]:
    """All of them, or none: ids and names are told apart by their position."""
    places = [_place(value) for value in values] if isinstance(values, list | tuple) else []
    return tuple(place for place in places if place is not None) if None not in places else ()


def _rings(zones: object) -> Iterable[tuple[Place, ...]]:
    for zone in zones if isinstance(zones, list | tuple) else ():
        try:
            yield ring(zone)
        except ValueError:
            continue


def _column(network: Mapping[str, Any], key: str, length: int) -> tuple[Any, ...]:
    """A list with one entry each; otherwise none."""
    values = network.get(key)
    return tuple(values) if isinstance(values, list | tuple) and len(values) == length else ()


def _generated(network: Mapping[str, Any], seed: int) -> Sites:
    """Of a network that is drawn at random."""
    keys = {key: network[key] for key in (*_GENERATED, "server") if key in network}
    if "area" not in keys:
        return Sites()
    try:
        server, *clients = Network.model_validate(keys).places(seed).tolist()
    except ValueError:
        return Sites()
    pairs = tuple((float(x), float(y)) for x, y in clients)
    return Sites(server=tuple(server), clients=pairs, generated=True)
