"""Where the nodes of a network are, and how far it is from each to each."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from flexpress.arrays import FloatArray
from flexpress.scenario.airspace import Airspace, make_airspace
from flexpress.scenario.detours import Routes, find_routes
from flexpress.scenario.network import Network
from flexpress.scenario.places import LatLon, as_array
from flexpress.scenario.projection import Flat, Globe, Ground, distance_matrix
from flexpress.scenario.section import KeyedError

Point = tuple[float, float]
"""As the scenario gives positions: [x, y] in metres, or latitude and longitude in degrees."""


@dataclass(frozen=True)
class Terrain:
    """A network and the seed that draws it, if it is drawn. Everything is found when asked for."""

    network: Network
    seed: int

    @cached_property
    def places(self) -> FloatArray:
        """Server first, then the clients, as they are given: (nodes, 2), metres or degrees."""
        return _read_only(self.network.places(self.seed))

    @cached_property
    def positions(self) -> FloatArray:
        """The same in the plane of metres, x to the east, y to the north."""
        return _read_only(self.ground.to_plane(self.places))

    @cached_property
    def distances(self) -> FloatArray | None:
        """(nodes, nodes), metres: given, around zones, or along the Earth; None: straight lines."""
        if self.network.distances is not None:
            return self.network.distances.entries
        if self.routes is not None:
            return _read_only(self.routes.distances)
        if self.network.geographic:
            return _read_only(distance_matrix(self.ground, self.places))
        return None

    def corners(self, i: int, j: int) -> tuple[Point, ...]:
        """Way points around no-fly zones from node i to node j."""
        return () if self.routes is None else _points(self.routes.corners(i, j))

    @cached_property
    def no_fly(self) -> tuple[tuple[Point, ...], ...]:
        """The corners of each zone."""
        return tuple(_points(as_array(zone)) for zone in self.network.no_fly or ())

    @cached_property
    def ground(self) -> Ground:
        server = self.network.server
        return Globe((server.lat, server.lon)) if isinstance(server, LatLon) else Flat()

    @cached_property
    def airspace(self) -> Airspace | None:
        """None if all of it is free."""
        zones = [as_array(zone) for zone in self.network.no_fly or ()]
        margin = self.network.no_fly_margin or 0.0
        if not zones:
            return None
        return make_airspace(zones, margin, self.ground, self.network.zone_names())

    @cached_property
    def routes(self) -> Routes | None:
        """The ways around the no-fly zones; None if there are none."""
        if self.airspace is None:
            return None
        return find_routes(self.places, self.airspace.region, self.ground)

    def check(self) -> None:
        """KeyedError if a zone is no polygon, a node stands in one, or a client is shut in."""
        if self.airspace is None:
            return
        ids = self.network.client_ids()
        self.airspace.check_nodes(self.positions, ids)
        if not self.airspace.encloses or self.distances is None:
            return
        for client, metres in zip(ids, self.distances[0, 1:], strict=True):
            if not math.isfinite(metres):
                text = f"no way leads from the server to client {client}: leave a gap in the zones"
                raise KeyedError("network.no_fly", text)


def _read_only(array: FloatArray) -> FloatArray:
    array.setflags(write=False)
    return array


def _points(places: FloatArray) -> tuple[Point, ...]:
    return tuple((float(a), float(b)) for a, b in places)
