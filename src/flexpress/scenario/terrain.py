"""Where the nodes of a network are, and the distances between them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from flexpress.arrays import FloatArray
from flexpress.scenario.detours import Detours, find_detours
from flexpress.scenario.fields import LatLon, as_array
from flexpress.scenario.network import Network
from flexpress.scenario.projection import Flat, Globe, Projection, distance_matrix
from flexpress.scenario.section import KeyedError
from flexpress.scenario.zones import Airspace, make_airspace

Point = tuple[float, float]
"""A position as the scenario gives it: x and y in metres, or latitude and longitude in degrees."""


@dataclass(frozen=True)
class Terrain:
    """A network, and the seed if it is generated. Everything is computed on first use."""

    network: Network
    seed: int

    @cached_property
    def places(self) -> FloatArray:
        """Server first, then the clients, as they are given: (nodes, 2), metres or degrees."""
        return _read_only(self.network.places(self.seed))

    @cached_property
    def positions(self) -> FloatArray:
        """The same places in the plane, in metres, x to the east, y to the north."""
        return _read_only(self.projection.to_plane(self.places))

    @cached_property
    def distances(self) -> FloatArray | None:
        """(nodes, nodes), metres: given, around zones, or along the Earth; None: straight lines."""
        if self.network.distances is not None:
            return self.network.distances.entries
        if self.detours is not None:
            return _read_only(self.detours.distances)
        if self.network.geographic:
            return _read_only(distance_matrix(self.projection, self.places))
        return None

    def corners(self, i: int, j: int) -> tuple[Point, ...]:
        """Way points around no-fly zones from node i to node j."""
        return () if self.detours is None else _points(self.detours.corners(i, j))

    @cached_property
    def no_fly(self) -> tuple[tuple[Point, ...], ...]:
        """The corners of each zone."""
        return tuple(_points(as_array(zone)) for zone in self.network.no_fly or ())

    @cached_property
    def projection(self) -> Projection:
        server = self.network.server
        return Globe((server.lat, server.lon)) if isinstance(server, LatLon) else Flat()

    @cached_property
    def airspace(self) -> Airspace | None:
        """None if the scenario has no zones."""
        zones = [as_array(zone) for zone in self.network.no_fly or ()]
        margin = self.network.no_fly_margin or 0.0
        if not zones:
            return None
        return make_airspace(zones, margin, self.projection, self.network.zone_names())

    @cached_property
    def detours(self) -> Detours | None:
        """The paths around the no-fly zones; None if the scenario has no zones."""
        if self.airspace is None:
            return None
        return find_detours(self.places, self.airspace.region, self.projection)

    def check(self) -> None:
        """KeyedError if a zone is not a polygon, a node lies in one, or zones enclose a client."""
        if self.airspace is None:
            return
        ids = self.network.client_ids()
        self.airspace.check_nodes(self.positions, ids)
        if not self.airspace.encloses or self.distances is None:
            return
        for client, metres in zip(ids, self.distances[0, 1:], strict=True):
            if not math.isfinite(metres):
                text = f"no path leads from the server to client {client}: leave a gap in the zones"
                raise KeyedError("network.no_fly", text)


def _read_only(array: FloatArray) -> FloatArray:
    array.setflags(write=False)
    return array


def _points(places: FloatArray) -> tuple[Point, ...]:
    return tuple((float(a), float(b)) for a, b in places)
