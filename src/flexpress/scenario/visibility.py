"""Which points see each other past the no-fly zones: the straight line between them is free.

Exact, and quick for the many: a line that meets the region's core, the region shrunk by a
millimetre, is not free; one that misses the region is; only those that graze its edge are looked
at closely.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from flexpress.arrays import BoolArray, FloatArray
from flexpress.scenario.zones import Region, load_shapely

SHRINK = 1e-3
LINES_AT_ONCE = 200_000


class Sight:
    """The region, prepared for many questions. Points must not lie inside it."""

    def __init__(self, region: Region) -> None:
        shapely = load_shapely()
        self._region = region
        self._core = region.buffer(-SHRINK, join_style="mitre")
        shapely.prepare(self._region)
        shapely.prepare(self._core)

    def between(self, starts: FloatArray, ends: FloatArray) -> BoolArray:
        """(starts, ends): whether the line from each start to each end is free."""
        free = np.empty((len(starts), len(ends)), dtype=bool)
        for rows in _slices(len(starts), len(ends)):
            block = np.broadcast_arrays(starts[rows, None], ends[None, :])
            lines = np.stack(block, axis=2).reshape(-1, 2, 2)
            free[rows] = self._free(lines).reshape(-1, len(ends))
        return free

    def among(self, points: FloatArray) -> BoolArray:
        """(points, points), symmetric: whether the line between each two is free."""
        free = np.ones((len(points), len(points)), dtype=bool)
        i, j = np.triu_indices(len(points), 1)
        for first in range(0, len(i), LINES_AT_ONCE):
            some = slice(first, first + LINES_AT_ONCE)
            here, there = i[some], j[some]
            seen = self._free(np.stack([points[here], points[there]], axis=1))
            free[here, there] = free[there, here] = seen
        return free

    def _free(self, lines: FloatArray) -> BoolArray:
        """(lines,) for (lines, 2, 2) end points. From a point to itself the way is free."""
        shapely = load_shapely()
        drawn = shapely.linestrings(lines)
        free = ~shapely.intersects(self._core, drawn)
        doubtful = np.flatnonzero(free)
        doubtful = doubtful[shapely.intersects(self._region, drawn[doubtful])]
        free[doubtful] = shapely.touches(self._region, drawn[doubtful])
        return np.asarray(free | (lines[:, 0] == lines[:, 1]).all(axis=1))


def _slices(rows: int, columns: int) -> Iterator[slice]:
    step = max(1, LINES_AT_ONCE // max(1, columns))
    return (slice(first, first + step) for first in range(0, rows, step))
