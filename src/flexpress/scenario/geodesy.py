"""Latitudes and longitudes on the WGS84 ellipsoid, and the plane of metres around a point on it.

The plane is azimuthal equidistant: distance and direction from its origin are true, x is east, y
is north. Needs pyproj, the extra `geo`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexpress.arrays import FloatArray
from flexpress.errors import InputError

if TYPE_CHECKING:
    from pyproj import Geod


Coordinate = tuple[float, float]
"""Latitude and longitude in degrees, north and east positive."""


def to_plane(coordinates: FloatArray, origin: Coordinate) -> FloatArray:
    """Metres east and north of the origin for (points, 2) latitudes and longitudes."""
    latitudes, longitudes = coordinates.T
    start = np.full_like(latitudes, origin[0]), np.full_like(longitudes, origin[1])
    azimuths, _, lengths = ellipsoid().inv(start[1], start[0], longitudes, latitudes)
    angles = np.radians(azimuths)
    return np.column_stack([lengths * np.sin(angles), lengths * np.cos(angles)])


def to_coordinates(points: FloatArray, origin: Coordinate) -> FloatArray:
    """Latitudes and longitudes of (points, 2) metres east and north of the origin."""
    x, y = points.T
    start = np.full_like(x, origin[0]), np.full_like(y, origin[1])
    azimuths = np.degrees(np.arctan2(x, y))
    longitudes, latitudes, _ = ellipsoid().fwd(start[1], start[0], azimuths, np.hypot(x, y))
    return np.column_stack([latitudes, longitudes])


def geodesics(starts: FloatArray, ends: FloatArray) -> FloatArray:
    """Metres along the ellipsoid between pairs of (points, 2) latitudes and longitudes."""
    lengths: FloatArray = ellipsoid().inv(starts[:, 1], starts[:, 0], ends[:, 1], ends[:, 0])[2]
    return lengths


def ellipsoid() -> Geod:
    try:
        from pyproj import Geod
    except ImportError:
        raise InputError(
            "latitudes and longitudes need the package pyproj: pip install 'flexpress[geo]'"
        ) from None
    return Geod(ellps="WGS84")
