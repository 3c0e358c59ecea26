"""Missions fly at one altitude above home: no client's ground may reach up to it."""

from __future__ import annotations

from collections.abc import Iterable

from flexpress.errors import InputError


def check_clearance(
    altitude: float, home: float | None, clients: Iterable[tuple[str, float | None]]
) -> None:
    """InputError if the ground at a client is as high as the flight.

    `altitude` counts from home; `home` and the clients' heights, each with the client's name,
    are above sea level, None if unknown. Without home's nothing is known about the flight's.
    """
    known = [(height, name) for name, height in clients if height is not None]
    if not known or home is None:
        return
    height, name = max(known)
    if height >= home + altitude:
        raise InputError(
            f"client {name} lies at {height:g} m, the flight at {home + altitude:g} m "
            f"({altitude:g} m above the server): raise link.altitude above "
            f"{height - home:g} m"
        )
