"""Shortest ways around polygons the plain way: rational numbers, every pair of points, Dijkstra."""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, pairwise

Exact = tuple[Fraction, Fraction]
Polygon = Sequence[Exact]


def shortest_lengths(nodes: Sequence[Exact], zones: Sequence[Polygon]) -> list[list[float]]:
    """Metres from each node to each; nothing may pass through the inside of a zone."""
    corners = [point for point in turning_points(zones) if not in_any(point, zones)]
    points = [*nodes, *corners]
    roads: list[list[tuple[float, int]]] = [[] for _ in points]
    for a, b in combinations(range(len(points)), 2):
        if is_free(points[a], points[b], zones):
            length = math.dist(points[a], points[b])
            roads[a].append((length, b))
            roads[b].append((length, a))
    return [dijkstra(roads, start)[: len(nodes)] for start in range(len(nodes))]


def dijkstra(roads: list[list[tuple[float, int]]], start: int) -> list[float]:
    best = [math.inf] * len(roads)
    queue = [(0.0, start)]
    while queue:
        length, here = heapq.heappop(queue)
        if length >= best[here]:
            continue
        best[here] = length
        for step, there in roads[here]:
            heapq.heappush(queue, (length + step, there))
    return best


def turning_points(zones: Sequence[Polygon]) -> set[Exact]:
    """All corners, and all points where the edges of two zones meet."""
    points = {corner for zone in zones for corner in zone}
    for one, other in combinations(zones, 2):
        for a, b in edges(one):
            for c, d in edges(other):
                points.update(along(a, b, t) for t in meetings(a, b, c, d))
    return points


def is_free(p: Exact, q: Exact, zones: Sequence[Polygon]) -> bool:
    """Cut the line wherever it meets an edge; the middle of every piece must not be inside."""
    cuts = {Fraction(0), Fraction(1)}
    for zone in zones:
        for c, d in edges(zone):
            cuts.update(meetings(p, q, c, d))
    middles = [along(p, q, (s + t) / 2) for s, t in pairwise(sorted(cuts))]
    return p == q or not any(in_any(middle, zones) for middle in middles)


def meetings(p: Exact, q: Exact, c: Exact, d: Exact) -> list[Fraction]:
    """Where on p-q, from 0 to 1, it meets the edge c-d."""
    across = cross(p, q, c), cross(p, q, d)
    if across[0] == across[1] == 0:
        axis = 0 if p[0] != q[0] else 1
        found = [(end[axis] - p[axis]) / (q[axis] - p[axis]) for end in (c, d)]
        return [t for t in found if 0 <= t <= 1]
    if across[0] * across[1] > 0:
        return []
    ahead = cross(c, d, p), cross(c, d, q)
    if ahead[0] == ahead[1]:
        return []
    t = ahead[0] / (ahead[0] - ahead[1])
    return [t] if 0 <= t <= 1 else []


def in_any(point: Exact, zones: Sequence[Polygon]) -> bool:
    return any(is_inside(point, zone) for zone in zones)


def is_inside(point: Exact, zone: Polygon) -> bool:
    """Strictly: not on the edge."""
    odd = False
    for a, b in edges(zone):
        turn = cross(a, b, point)
        if turn == 0 and min(a, b) <= point <= max(a, b):
            return False
        if (a[1] > point[1]) != (b[1] > point[1]) and (turn > 0) == (b[1] > a[1]):
            odd = not odd
    return odd


def edges(zone: Polygon) -> list[tuple[Exact, Exact]]:
    return [(zone[i - 1], zone[i]) for i in range(len(zone))]


def along(p: Exact, q: Exact, t: Fraction) -> Exact:
    return p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1])


def cross(a: Exact, b: Exact, c: Exact) -> Fraction:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
