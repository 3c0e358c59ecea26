"""Missions fly at one altitude above home: no client's ground may reach up to it."""

from __future__ import annotations

from collections.abc import Iterable

from flexpress.errors import InputError


def check_clearance(
    altitude: float, home: float | None, clients: Iterable[tuple[str, float | None]]
) -> None:
    """InputError if the ground at a client is as high as the flight.

    `altitude` counts from home; `home` and the clients' heights, each with the client's name,
    are above sea level, None if unknown.
    """
    known = [(height, name) for name, height in clients if height is not None]
    if not known:
        return
    height, name = max(known)
    if home is None:
        raise InputError(
            f"client {name} lies at {height:g} m and the server's altitude is unknown: flights "
            "are measured from the server's ground; give its altitude as well"
        )
    if height >= home + altitude:
        raise InputError(
            f"client {name} lies at {height:g} m, the flight at {home + altitude:g} m "
            f"({altitude:g} m above the server): raise the flight altitude above "
            f"{height - home:g} m"
        )
