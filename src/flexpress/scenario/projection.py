"""What lies under the plane of metres: nothing but itself, or the WGS84 ellipsoid.

Places are as the scenario gives them: (points, 2) of x and y, or of latitude and longitude.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flexpress.arrays import FloatArray
from flexpress.scenario.geodesy import Coordinate, geodesics, to_coordinates, to_plane


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
        return geodesics(starts, ends)

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
