"""No-fly zones as one region of the plane that no path may enter. Needs shapely, the extra `geo`.

A path may touch the region's edge. Zones that overlap or touch count as one, and a gap between
them that is narrower than a millimetre is none: nothing flies through it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexpress.arrays import FloatArray
from flexpress.errors import InputError

Region = Any
"""A polygon or several, of shapely, which has no types."""

NARROWEST_GAP = 1e-3
SMALLEST_AREA = 1e-6
MITRE_LIMIT = 5.0
"""Corners of the margin reach out to this many times the margin; sharper ones are cut there."""

LONGEST_NAME = 60
"""Letters of a zone's name in a message."""

ShowPoint = Callable[[float, float], str]


def find_region(
    rings: Sequence[FloatArray], margin: float, show: ShowPoint, names: Sequence[str] = ()
) -> Region:
    """All zones and the margin around them; ValueError if one of them is no proper polygon."""
    shapely = load_shapely()
    zones = [shapely.Polygon(ring) for ring in rings]
    for number, zone in enumerate(zones, start=1):
        _check(zone, zone_title(number, names), show)
    region = shapely.union_all(zones)
    if margin > 0:
        return _grown(region, margin)
    closed = _grown(_grown(region, NARROWEST_GAP / 2), -NARROWEST_GAP / 2)
    return region if _pieces(closed) == _pieces(region) else closed


def region_corners(region: Region) -> FloatArray:
    """(corners, 2): where a path around the region may turn."""
    return np.unique(load_shapely().get_coordinates(region), axis=0)


def count_corners(region: Region) -> int:
    return len(region_corners(region))


def has_holes(region: Region) -> bool:
    """Whether zones close around a place that is free."""
    return _pieces(region)[1] > 0


def inside(region: Region, points: FloatArray) -> NDArray[np.bool_]:
    """Which of the (points, 2) lie in the region; its edge is outside."""
    shapely = load_shapely()
    found: NDArray[np.bool_] = shapely.contains_properly(region, shapely.points(points))
    return found


def zone_title(number: int, names: Sequence[str]) -> str:
    """What a message calls a zone: "zone 2", or "zone 2 (Airport)" if it has a name."""
    name = names[number - 1] if names else ""
    short = name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"
    return f"zone {number} ({short})" if name else f"zone {number}"


def nearest_zone(rings: Sequence[FloatArray], point: FloatArray) -> tuple[int, float]:
    """Number, counted from 1, and metres away; 0 m if the point lies in it."""
    shapely = load_shapely()
    metres = shapely.distance([shapely.Polygon(ring) for ring in rings], shapely.Point(point))
    return int(np.argmin(metres)) + 1, float(metres.min())


def load_shapely() -> Any:
    try:
        import shapely  # type: ignore[import-untyped]  # see Region
    except ImportError:
        raise InputError(
            "no-fly zones need the package shapely: pip install 'flexpress[geo]'"
        ) from None
    return shapely


def _check(zone: Region, title: str, show: ShowPoint) -> None:
    shapely = load_shapely()
    if zone.convex_hull.area < SMALLEST_AREA:  # not its own: the halves of an 8 cancel out
        raise ValueError(f"{title} has no area: give corners that do not lie on one line")
    if not shapely.is_valid(zone):
        spot = re.search(r"\[(\S+) (\S+)\]", shapely.is_valid_reason(zone))
        place = f" at {show(float(spot[1]), float(spot[2]))}" if spot else ""
        raise ValueError(f"{title} crosses itself{place}: give its corners in order")


def _grown(region: Region, metres: float) -> Region:
    """Mitred joins keep the corners few: one for each corner of the zone."""
    return region.buffer(metres, join_style="mitre", mitre_limit=MITRE_LIMIT)


def _pieces(region: Region) -> tuple[int, int]:
    """The number of separate parts, and of holes in them."""
    shapely = load_shapely()
    parts = shapely.get_parts(region)
    return len(parts), int(shapely.get_num_interior_rings(parts).sum())
