"""The no-fly zones of a scenario, and whether server and clients keep away from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from flexpress.arrays import FloatArray
from flexpress.scenario.projection import Ground
from flexpress.scenario.section import KeyedError
from flexpress.scenario.zones import (
    NARROWEST_GAP,
    Region,
    count_corners,
    find_region,
    has_holes,
    inside,
    nearest_zone,
    zone_title,
)

MOST_CORNERS = 2_000
"""Of all zones together: ways between all of them are kept in a table."""


@dataclass(frozen=True)
class Airspace:
    """Zones in the plane, and the region that no path may enter: zones and margin."""

    rings: tuple[FloatArray, ...]
    margin: float
    region: Region
    names: tuple[str, ...] = ()  # of the zones, blank for those without

    @property
    def encloses(self) -> bool:
        """Whether a place is shut in by zones."""
        return has_holes(self.region)

    def check_nodes(self, positions: FloatArray, client_ids: Sequence[int | str]) -> None:
        """KeyedError for the first node that stands where nothing may fly."""
        for node in np.flatnonzero(inside(self.region, positions)).tolist():
            key = "network.clients" if node else "network.server"
            who = f"client {client_ids[node - 1]}" if node else "the server"
            raise KeyedError(key, f"{who} {self._where(positions[node])}")

    def _where(self, point: FloatArray) -> str:
        number, metres = nearest_zone(self.rings, point)
        zone = zone_title(number, self.names)
        if metres < NARROWEST_GAP:
            return f"lies in no-fly {zone}: move one of them"
        return (
            f"lies {metres:.3g} m from no-fly {zone}, within its margin of {self.margin:g} m "
            "(more at corners): move one of them, or lower network.no_fly_margin"
        )


def make_airspace(
    zones: Sequence[FloatArray], margin: float, ground: Ground, names: tuple[str, ...] = ()
) -> Airspace:
    """Zones given as places on the ground; KeyedError if one of them is no proper polygon."""

    def show(x: float, y: float) -> str:
        return ground.show(ground.to_places(np.array([[x, y]]))[0])

    rings = tuple(ground.to_plane(zone) for zone in zones)
    with KeyedError.under("network.no_fly"):
        region = find_region(rings, margin, show, names)
        if count_corners(region) > MOST_CORNERS:
            raise ValueError(
                f"{count_corners(region)} corners in all: must be at most {MOST_CORNERS}; "
                "simplify the zones"
            )
    return Airspace(rings, margin, region, names)
