"""Shortest paths around the no-fly zones, between all nodes.

A shortest path among polygons turns at their corners only (Lozano-Perez and Wesley, 1979). So we
find which points see each other, then the shortest paths between all corners (Floyd and Warshall),
and for two nodes that do not see each other the best pair of a corner that the one sees and a
corner that the other sees.

Two points see each other if the straight line between them is free. The test is exact, and fast
for most lines: a line that meets the region's core, the region shrunk by a millimetre, is not
free; one that misses the region is; only lines that graze its edge need the exact test.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexpress.arrays import BoolArray, FloatArray
from flexpress.scenario.projection import Projection, distance_matrix, distance_table
from flexpress.scenario.zones import Region, load_shapely, region_corners

_SHRINK = 1e-3
_LINES_AT_ONCE = 200_000


@dataclass(frozen=True)
class Detours:
    """Distances between all nodes, and the corners at which the paths between them turn."""

    distances: FloatArray  # (nodes, nodes), metres; inf where no path exists
    turns: FloatArray  # (corners, 2), places
    free: BoolArray  # (nodes, nodes): the straight line is free
    to_corner: FloatArray  # (nodes, corners): metres, inf if the node does not see the corner
    between: FloatArray  # (corners, corners): metres of the shortest path
    following: NDArray[np.intp]  # (corners, corners): the next corner on that path

    def corners(self, i: int, j: int) -> FloatArray:
        """(way points, 2) from node i to node j; the way back is its reverse."""
        if i > j:
            return self.corners(j, i)[::-1]
        if self.free[i, j]:
            return np.empty((0, 2))
        ways = self.to_corner[i, :, None] + self.between + self.to_corner[j, None, :]
        here, last = divmod(int(np.argmin(ways)), len(ways))
        path = [here]
        while here != last:
            here = int(self.following[here, last])
            path.append(here)
        at_a_node = (self.to_corner[i, path] == 0) | (self.to_corner[j, path] == 0)
        return np.asarray(self.turns[path][~at_a_node])


def find_detours(places: FloatArray, region: Region, projection: Projection) -> Detours:
    """Between all nodes, given as places; the region lies in the plane."""
    visibility = _Visibility(region)
    nodes, corners = projection.to_plane(places), region_corners(region)
    turns = projection.to_places(corners)
    free = visibility.among(nodes)
    seen = visibility.between(nodes, corners)
    to_corner = np.where(seen, distance_table(projection, places, turns), np.inf)
    links = np.where(visibility.among(corners), distance_matrix(projection, turns), np.inf)
    between, following = _shortest_paths(links)
    straight = distance_matrix(projection, places)
    distances = np.triu(np.where(free, straight, _around(to_corner, between)), 1)
    return Detours(distances + distances.T, turns, free, to_corner, between, following)


def _shortest_paths(links: FloatArray) -> tuple[FloatArray, NDArray[np.intp]]:
    """Lengths of the shortest paths between all corners, and the next corner on each of them."""
    lengths = links.copy()
    following = np.broadcast_to(np.arange(len(links)), links.shape).copy()
    for middle in range(len(links)):
        detour = lengths[:, middle, None] + lengths[None, middle, :]
        better = detour < lengths
        np.copyto(lengths, detour, where=better)
        np.copyto(following, following[:, middle, None], where=better)
    return lengths, following


def _around(to_corner: FloatArray, between: FloatArray) -> FloatArray:
    """(nodes, nodes): metres of the shortest path by one corner or more."""
    reach = np.array([(row[:, None] + between).min(axis=0) for row in to_corner])
    return np.array([(row + to_corner).min(axis=1) for row in reach])


class _Visibility:
    """The region, prepared for many tests. Points must not lie inside it."""

    def __init__(self, region: Region) -> None:
        shapely = load_shapely()
        self._region = region
        self._core = region.buffer(-_SHRINK, join_style="mitre")
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
        for first in range(0, len(i), _LINES_AT_ONCE):
            some = slice(first, first + _LINES_AT_ONCE)
            here, there = i[some], j[some]
            seen = self._free(np.stack([points[here], points[there]], axis=1))
            free[here, there] = free[there, here] = seen
        return free

    def _free(self, lines: FloatArray) -> BoolArray:
        """(lines,) for (lines, 2, 2) end points. The line from a point to itself is free."""
        shapely = load_shapely()
        drawn = shapely.linestrings(lines)
        free = ~shapely.intersects(self._core, drawn)
        doubtful = np.flatnonzero(free)
        doubtful = doubtful[shapely.intersects(self._region, drawn[doubtful])]
        free[doubtful] = shapely.touches(self._region, drawn[doubtful])
        return np.asarray(free | (lines[:, 0] == lines[:, 1]).all(axis=1))


def _slices(rows: int, columns: int) -> Iterator[slice]:
    step = max(1, _LINES_AT_ONCE // max(1, columns))
    return (slice(first, first + step) for first in range(0, rows, step))
