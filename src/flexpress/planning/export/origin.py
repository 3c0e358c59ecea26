"""Where on the Earth the points of a scenario lie: its own coordinates, or a plane put there."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from flexpress.arguments import check_number, refusal
from flexpress.errors import InputError
from flexpress.scenario import Point, Scenario
from flexpress.scenario.projection import Coordinate, to_coordinates

FARTHEST = 100e3
"""Metres from the origin of a plane: there it is 0.004 % too wide for the Earth."""

DECIMALS = 9
"""Of a degree: 0.1 mm on the ground. MAVLink itself carries 7, which is 1 cm."""

Locate = Callable[[Sequence[Point]], tuple[Coordinate, ...]]
"""From a scenario's own points to latitudes and longitudes."""


def parse_origin(text: str) -> Coordinate:
    """Latitude and longitude in "47.3769,8.5417"; InputError if it is anything else."""
    try:
        latitude, longitude = (float(part) for part in text.split(","))
    except ValueError:
        raise InputError(
            f"origin {text!r}: must be LAT,LON in degrees, such as 47.3769,8.5417"
        ) from None
    return check_origin((latitude, longitude))


def check_origin(origin: Coordinate) -> Coordinate:
    if not isinstance(origin, Sequence) or isinstance(origin, str) or len(origin) != 2:
        raise refusal("origin", origin, "(latitude, longitude), such as (47.3769, 8.5417)")
    for name, degrees, limit in zip(("latitude", "longitude"), origin, (90, 180), strict=True):
        check_number(f"origin: {name}", degrees)
        if abs(degrees) > limit:
            raise InputError(
                f"origin: {name} is {degrees}: must lie between -{limit} and {limit} degrees; "
                "give LAT,LON in this order"
            )
    return origin


def locator(scenario: Scenario, origin: Coordinate | None) -> Locate:
    """How to place the points of this scenario; a planar one needs to know where (0, 0) lies."""
    if scenario.coordinates is not None:
        if origin is not None:
            raise InputError(
                f"origin {origin[0]},{origin[1]}: the scenario has latitudes and longitudes "
                "of its own; leave --origin out"
            )
        return rounded
    if origin is None:
        raise InputError(
            "the scenario is in metres and says not where on the Earth; "
            "give --origin LAT,LON, where x = 0, y = 0 lies"
        )
    start = check_origin(origin)
    return lambda points: on_earth(points, start)


def on_earth(points: Sequence[Point], origin: Coordinate) -> tuple[Coordinate, ...]:
    """The points of a plane whose (0, 0) lies at the origin, x to the east, y to the north."""
    if not points:
        return ()
    metres = np.array(points, dtype=np.float64)
    away = np.hypot(*metres.T)
    if away.max() > FARTHEST:
        x, y = metres[away.argmax()]
        raise InputError(
            f"({x:.0f}, {y:.0f}) m lies {away.max() / 1e3:.0f} km from the origin: a plane fits "
            f"the Earth within {FARTHEST / 1e3:.0f} km; count x and y from a nearer point, or "
            "give latitudes and longitudes"
        )
    return rounded(to_coordinates(metres, origin).tolist())


def rounded(points: Sequence[Point]) -> tuple[Coordinate, ...]:
    return tuple((round(a, DECIMALS) + 0.0, round(b, DECIMALS) + 0.0) for a, b in points)
