"""Names on a map: every client's id beside its tour, the transporter's number at its far end."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from numpy.typing import NDArray

from flexpress.planning.plan import ClientId
from flexpress.report.theme import LIGHT, Theme

FloatArray = NDArray[np.float64]

NEAR, FAR = 6.0, 19.0  # points from a place to its label, and to one beyond that


def label_clients(
    ax: Axes, legs: Sequence[FloatArray], clients: Sequence[ClientId], theme: Theme = LIGHT
) -> None:
    """Ids of the clients of one tour, away from the legs that lead to each and onwards."""
    for client, (arriving, leaving) in zip(clients, pairwise(legs), strict=True):
        here = leaving[0]
        direction = away_from(here, arriving[-2], leaving[1])
        write(ax, str(client), here, NEAR * direction, theme, size=7.5, colour=theme.ink)


def label_tour(
    ax: Axes, route: FloatArray, number: int, colour: str, theme: Theme, *, beyond_ids: bool
) -> None:
    """The transporter's number, where its tour is farthest from the server."""
    if len(route) == 0:
        return
    server = route[0]
    farthest = route[np.argmax(((route - server) ** 2).sum(axis=1))]
    offset = (FAR if beyond_ids else NEAR) * unit(farthest - server)
    write(ax, str(number), farthest, offset, theme, size=8.0, colour=colour, weight="bold")


def away_from(here: FloatArray, before: FloatArray, after: FloatArray) -> FloatArray:
    """The direction that leaves the lines to both neighbours behind."""
    to_before, to_after = unit(before - here), unit(after - here)
    towards = to_before + to_after
    if np.hypot(*towards) < 0.2:  # nearly straight on: step aside
        return np.array([-to_after[1], to_after[0]]) * (1 if to_after[0] >= 0 else -1)
    return -unit(towards)


def unit(vector: FloatArray) -> FloatArray:
    """Of length 1; upward if it has no direction."""
    length = np.hypot(*vector)
    return vector / length if length > 0 else np.array([0.0, 1.0])


def write(
    ax: Axes,
    text: str,
    place: FloatArray,
    offset: FloatArray,
    theme: Theme,
    *,
    size: float,
    colour: str,
    weight: str = "normal",
) -> None:
    """Text beside a place, `offset` points away."""
    dx, dy = unit(offset)
    ax.annotate(
        text,
        tuple(place),
        xytext=tuple(offset),
        textcoords="offset points",
        ha="center" if abs(dx) < 0.4 else "left" if dx > 0 else "right",
        va="center" if abs(dy) < 0.4 else "bottom" if dy > 0 else "top",
        fontsize=size,
        fontweight=weight,
        color=colour,
        path_effects=[withStroke(linewidth=2.0, foreground=theme.paper)],
        parse_math=False,
        zorder=6,
    )
