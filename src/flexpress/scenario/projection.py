"""Places and the plane of metres in which paths are found.

Places are as the scenario gives them: (points, 2) of x and y, or of latitude and longitude on the
WGS84 ellipsoid. For the latter the plane is azimuthal equidistant around the server: distance and
direction from its origin are true, x is east, y is north. This needs pyproj, the extra `geo`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from flexpress.arrays import FloatArray
from flexpress.errors import InputError

if TYPE_CHECKING:
    from pyproj import Geod

Coordinate = tuple[float, float]
"""Latitude and longitude in degrees, north and east positive."""


@dataclass(frozen=True)
class Flat:
    """Places are points of the plane."""

    def to_plane(self, places: FloatArray) -> FloatArray:
        return places

    def to_places(self, points: FloatArray) -> FloatArray:
        return points

    def lengths(self, starts: FloatArray, ends: FloatArray) -> FloatArray:
        """Metres from each start to its end."""
        x, y = (ends - starts).T
        return np.asarray(np.hypot(x, y))

    def show(self, place: FloatArray) -> str:
        return f"x = {place[0]:.6g}, y = {place[1]:.6g}"


@dataclass(frozen=True)
class Globe:
    """Places are latitudes and longitudes; the plane touches the ellipsoid at the origin."""

    origin: Coordinate

    def to_plane(self, places: FloatArray) -> FloatArray:
        return to_plane(places, self.origin)

    def to_places(self, points: FloatArray) -> FloatArray:
        return to_coordinates(points, self.origin)

    def lengths(self, starts: FloatArray, ends: FloatArray) -> FloatArray:
        """Metres along the ellipsoid from each start to its end."""
        return _geodesics(starts, ends)

    def show(self, place: FloatArray) -> str:
        return f"lat = {place[0]:.6f}, lon = {place[1]:.6f}"


Projection = Flat | Globe


def distance_table(projection: Projection, starts: FloatArray, ends: FloatArray) -> FloatArray:
    """(starts, ends): metres straight from each to each."""
    rows = [projection.lengths(np.broadcast_to(start, ends.shape), ends) for start in starts]
    return np.array(rows).reshape(len(starts), len(ends))


def distance_matrix(projection: Projection, places: FloatArray) -> FloatArray:
    """(places, places): metres straight from each to each, half of them measured."""
    distances = np.zeros((len(places), len(places)))
    for i, place in enumerate(places[:-1]):
        others = places[i + 1 :]
        distances[i, i + 1 :] = projection.lengths(np.broadcast_to(place, others.shape), others)
    return distances + distances.T


def to_plane(coordinates: FloatArray, origin: Coordinate) -> FloatArray:
    """Metres east and north of the origin for (points, 2) latitudes and longitudes."""
    latitudes, longitudes = coordinates.T
    start = np.full_like(latitudes, origin[0]), np.full_like(longitudes, origin[1])
    azimuths, _, lengths = _ellipsoid().inv(start[1], start[0], longitudes, latitudes)
    angles = np.radians(azimuths)
    return np.column_stack([lengths * np.sin(angles), lengths * np.cos(angles)])


def to_coordinates(points: FloatArray, origin: Coordinate) -> FloatArray:
    """Latitudes and longitudes of (points, 2) metres east and north of the origin."""
    x, y = points.T
    start = np.full_like(x, origin[0]), np.full_like(y, origin[1])
    azimuths = np.degrees(np.arctan2(x, y))
    longitudes, latitudes, _ = _ellipsoid().fwd(start[1], start[0], azimuths, np.hypot(x, y))
    return np.column_stack([latitudes, longitudes])


def _geodesics(starts: FloatArray, ends: FloatArray) -> FloatArray:
    """Metres along the ellipsoid between pairs of (points, 2) latitudes and longitudes."""
    lengths: FloatArray = _ellipsoid().inv(starts[:, 1], starts[:, 0], ends[:, 1], ends[:, 0])[2]
    return lengths


def _ellipsoid() -> Geod:
    try:
        from pyproj import Geod
    except ImportError:
        raise InputError(
            "latitudes and longitudes need the package pyproj: pip install 'flexpress[geo]'"
        ) from None
    return Geod(ellps="WGS84")
