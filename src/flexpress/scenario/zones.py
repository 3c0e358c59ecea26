"""No-fly zones: the region that no path may enter, and whether server and clients lie outside it.

A path may touch the region's edge. Zones that overlap or touch count as one, and a gap between
them that is narrower than a millimetre counts as closed. Needs shapely, the extra `geo`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from flexpress.arrays import BoolArray, FloatArray
from flexpress.errors import InputError
from flexpress.scenario.projection import Projection
from flexpress.scenario.section import KeyedError

Region = Any
"""One or several polygons of shapely, which has no types."""

_NARROWEST_GAP = 1e-3
_SMALLEST_AREA = 1e-6
_MITRE_LIMIT = 5.0
"""Corners of the margin reach out to this many times the margin; sharper ones are cut there."""

_MOST_CORNERS = 2_000
"""Limit for all zones together: paths between all corners are kept in a table."""

_LONGEST_NAME = 60
"""Letters of a zone's name in a message."""

_ShowPoint = Callable[[float, float], str]


@dataclass(frozen=True)
class Airspace:
    """Zones in the plane, and the region that no path may enter: zones and margin."""

    rings: tuple[FloatArray, ...]
    margin: float
    region: Region
    names: tuple[str, ...] = ()  # of the zones, blank for those without

    @property
    def encloses(self) -> bool:
        """Whether zones enclose a place that is free."""
        return _pieces(self.region)[1] > 0

    def check_nodes(self, positions: FloatArray, client_ids: Sequence[int | str]) -> None:
        """KeyedError for the first node that lies in the region."""
        for node in np.flatnonzero(_inside(self.region, positions)).tolist():
            key = "network.clients" if node else "network.server"
            who = f"client {client_ids[node - 1]}" if node else "the server"
            raise KeyedError(key, f"{who} {self._where(positions[node])}")

    def _where(self, point: FloatArray) -> str:
        number, metres = self._nearest_zone(point)
        zone = _zone_title(number, self.names)
        if metres < _NARROWEST_GAP:
            return f"lies in no-fly {zone}: move one of them"
        return (
            f"lies {metres:.3g} m from no-fly {zone}, within its margin of {self.margin:g} m "
            "(more at corners): move one of them, or lower network.no_fly_margin"
        )

    def _nearest_zone(self, point: FloatArray) -> tuple[int, float]:
        """Its number, counted from 1, and metres away; 0 m if the point lies in it."""
        shapely = load_shapely()
        zones = [shapely.Polygon(ring) for ring in self.rings]
        metres = shapely.distance(zones, shapely.Point(point))
        return int(np.argmin(metres)) + 1, float(metres.min())


def make_airspace(
    zones: Sequence[FloatArray], margin: float, projection: Projection, names: tuple[str, ...] = ()
) -> Airspace:
    """Zones are given as places; KeyedError if one of them is not a proper polygon."""

    def show(x: float, y: float) -> str:
        return projection.show(projection.to_places(np.array([[x, y]]))[0])

    rings = tuple(projection.to_plane(zone) for zone in zones)
    with KeyedError.under("network.no_fly"):
        region = _find_region(rings, margin, show, names)
        corners = len(region_corners(region))
        if corners > _MOST_CORNERS:
            raise ValueError(
                f"{corners} corners in all: must be at most {_MOST_CORNERS}; simplify the zones"
            )
    return Airspace(rings, margin, region, names)


def region_corners(region: Region) -> FloatArray:
    """(corners, 2): where a path around the region may turn."""
    return np.unique(load_shapely().get_coordinates(region), axis=0)


def load_shapely() -> Any:
    try:
        import shapely  # type: ignore[import-untyped]  # see Region
    except ImportError:
        raise InputError(
            "no-fly zones need the package shapely: pip install 'flexpress[geo]'"
        ) from None
    return shapely


def _find_region(
    rings: Sequence[FloatArray], margin: float, show: _ShowPoint, names: Sequence[str]
) -> Region:
    """All zones and the margin around them; ValueError if one of them is not a proper polygon."""
    shapely = load_shapely()
    zones = [shapely.Polygon(ring) for ring in rings]
    for number, zone in enumerate(zones, start=1):
        _check_zone(zone, _zone_title(number, names), show)
    region = shapely.union_all(zones)
    if margin > 0:
        return _grown(region, margin)
    closed = _grown(_grown(region, _NARROWEST_GAP / 2), -_NARROWEST_GAP / 2)
    return region if _pieces(closed) == _pieces(region) else closed


def _check_zone(zone: Region, title: str, show: _ShowPoint) -> None:
    shapely = load_shapely()
    if zone.convex_hull.area < _SMALLEST_AREA:  # not its own: the halves of an 8 cancel out
        raise ValueError(f"{title} has no area: give corners that do not lie on one line")
    if not shapely.is_valid(zone):
        spot = re.search(r"\[(\S+) (\S+)\]", shapely.is_valid_reason(zone))
        place = f" at {show(float(spot[1]), float(spot[2]))}" if spot else ""
        raise ValueError(f"{title} crosses itself{place}: give its corners in order")


def _zone_title(number: int, names: Sequence[str]) -> str:
    """The name of a zone in a message: "zone 2", or "zone 2 (Airport)"."""
    name = names[number - 1] if names else ""
    short = name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"
    return f"zone {number} ({short})" if name else f"zone {number}"


def _inside(region: Region, points: FloatArray) -> BoolArray:
    """Which of the (points, 2) lie in the region; its edge is outside."""
    shapely = load_shapely()
    found: BoolArray = shapely.contains_properly(region, shapely.points(points))
    return found


def _grown(region: Region, metres: float) -> Region:
    """Mitred joins add no corners: one for each corner of the zone."""
    return region.buffer(metres, join_style="mitre", mitre_limit=_MITRE_LIMIT)


def _pieces(region: Region) -> tuple[int, int]:
    """The number of separate parts, and of holes in them."""
    shapely = load_shapely()
    parts = shapely.get_parts(region)
    return len(parts), int(shapely.get_num_interior_rings(parts).sum())
