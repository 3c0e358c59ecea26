"""Shortest ways around the no-fly zones, between all nodes.

A shortest path among polygons turns at their corners only (Lozano-Perez and Wesley, 1979). So:
who sees whom, the shortest ways between all corners (Floyd and Warshall), and for two nodes that
do not see each other the best pair of a corner that the one sees and a corner that the other sees.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexpress.arrays import BoolArray, FloatArray
from flexpress.scenario.projection import Ground, distance_matrix, distance_table
from flexpress.scenario.visibility import Sight
from flexpress.scenario.zones import Region, region_corners

IntArray = NDArray[np.intp]


@dataclass(frozen=True)
class Routes:
    """Distances between all nodes, and the corners at which the ways between them turn."""

    distances: FloatArray  # (nodes, nodes), metres; inf where no way leads
    turns: FloatArray  # (corners, 2), places
    free: BoolArray  # (nodes, nodes): the straight line is free
    to_corner: FloatArray  # (nodes, corners): metres, inf if the node does not see the corner
    between: FloatArray  # (corners, corners): metres of the shortest way
    following: IntArray  # (corners, corners): the next corner on that way

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


def find_routes(places: FloatArray, region: Region, ground: Ground) -> Routes:
    """Between all nodes, given as places on the ground; the region lies in its plane."""
    sight = Sight(region)
    nodes, corners = ground.to_plane(places), region_corners(region)
    turns = ground.to_places(corners)
    free = sight.among(nodes)
    seen = sight.between(nodes, corners)
    to_corner = np.where(seen, distance_table(ground, places, turns), np.inf)
    links = np.where(sight.among(corners), distance_matrix(ground, turns), np.inf)
    between, following = shortest_ways(links)
    straight = distance_matrix(ground, places)
    distances = np.triu(np.where(free, straight, _around(to_corner, between)), 1)
    return Routes(distances + distances.T, turns, free, to_corner, between, following)


def shortest_ways(links: FloatArray) -> tuple[FloatArray, IntArray]:
    """Lengths of the shortest ways between all corners, and the next corner on each of them."""
    lengths = links.copy()
    following = np.broadcast_to(np.arange(len(links)), links.shape).copy()
    for middle in range(len(links)):
        detour = lengths[:, middle, None] + lengths[None, middle, :]
        better = detour < lengths
        np.copyto(lengths, detour, where=better)
        np.copyto(following, following[:, middle, None], where=better)
    return lengths, following


def _around(to_corner: FloatArray, between: FloatArray) -> FloatArray:
    """(nodes, nodes): the shortest way by one corner or more."""
    reach = np.array([(row[:, None] + between).min(axis=0) for row in to_corner])
    return np.array([(row + to_corner).min(axis=1) for row in reach])
