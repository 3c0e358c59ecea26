"""Maps with a remote group: clients near the server, and others together far away."""

from __future__ import annotations

import numpy as np

from flexpress.arrays import FloatArray

_NEAR, _FAR = 30, 10  # clients
_NEAR_RADIUS, _FAR_RADIUS = 800.0, 300.0  # metres


def remote_clients(network: int, kilometres: float) -> list[list[float]]:
    """Positions in metres around the server: 30 clients near it, 10 this far to the east.

    Network 0 at 3 km is preset `remote`.
    """
    rng = np.random.default_rng(network)
    near, far = _disc(rng, _NEAR, _NEAR_RADIUS), _disc(rng, _FAR, _FAR_RADIUS)
    far[:, 0] += 1000.0 * kilometres
    positions: list[list[float]] = np.round(np.vstack([near, far]), 1).tolist()
    return positions


def _disc(rng: np.random.Generator, number: int, radius: float) -> FloatArray:
    """Uniform in a disc around the origin."""
    distances, angles = radius * np.sqrt(rng.random(number)), 2 * np.pi * rng.random(number)
    return np.column_stack([distances * np.cos(angles), distances * np.sin(angles)])
