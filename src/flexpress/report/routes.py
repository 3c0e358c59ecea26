"""Tours as lines in the plane of metres: from stop to stop, around the no-fly zones between."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from flexpress.arrays import FloatArray
from flexpress.planning import Plan, Tour
from flexpress.scenario import Point, Scenario

MOST_COMPARED = 400
NEARLY = 2e-3  # of the longest line: what the eye takes for one


def visited_nodes(scenario: Scenario, plan: Plan) -> Iterator[list[int]]:
    """Of every transporter the nodes it passes, the server first and last; none if it is idle."""
    node_of = {client: node for node, client in enumerate(scenario.client_ids, start=1)}
    for tour in plan.transporters:
        nodes = [node_of[client] for client in tour.clients]
        yield [0, *nodes, 0] if nodes else []


def route(scenario: Scenario, tour: Tour, stops: Sequence[int]) -> FloatArray:
    """All points of a tour, stops and corners, in the order in which they are passed."""
    places = scenario.positions[stops]
    if not tour.corners:
        return places
    return np.vstack([places[:1], *(leg[1:] for leg in legs(scenario, tour, stops))])


def legs(scenario: Scenario, tour: Tour, stops: Sequence[int]) -> list[FloatArray]:
    """From stop to stop: (points, 2) metres of each leg, both stops and the corners between."""
    places = scenario.positions[stops]
    corners = tour_corners(scenario, tour) or [np.empty((0, 2))] * (len(stops) - 1)
    ends = zip(places, corners, places[1:], strict=False)
    return [np.vstack([start, way, end]) for start, way, end in ends]


def tour_corners(scenario: Scenario, tour: Tour) -> list[FloatArray]:
    """For every leg the (corners, 2) metres it passes; empty if the whole tour flies straight."""
    ends = np.cumsum([len(leg) for leg in tour.corners])
    points = in_plane(scenario, [point for leg in tour.corners for point in leg])
    return np.split(points, ends[:-1]) if tour.corners else []


def hidden_below(ways: Sequence[FloatArray]) -> list[int]:
    """Of every way, how many later ones lie on a stretch of it and would hide it.

    Where there are too many lines to compare, none: no eye would follow one of them either.
    """
    owner = np.array([k for k, way in enumerate(ways) for _ in way[1:]], dtype=int)
    if len(owner) > MOST_COMPARED:
        return [0] * len(ways)
    starts, ends = (np.vstack([way[some] for way in ways]) for some in (np.s_[:-1], np.s_[1:]))
    covered = share_a_stretch(starts, ends) if len(owner) else np.empty((0, 0), dtype=bool)
    return [
        len({int(j) for j in owner[covered[owner == k].any(axis=0)] if j > k})
        for k in range(len(ways))
    ]


def share_a_stretch(starts: FloatArray, ends: FloatArray) -> NDArray[np.bool_]:
    """(lines, lines): whether the one lies along the other for more than a point."""
    ways = ends - starts
    lengths = np.hypot(*ways.T)
    along = np.divide(ways, lengths[:, None], out=np.zeros_like(ways), where=lengths[:, None] > 0)
    across = np.column_stack([-along[:, 1], along[:, 0]])
    near = NEARLY * lengths.max()
    off = [
        abs(np.einsum("jid,id->ij", points[:, None] - starts[None], across))
        for points in (starts, ends)
    ]
    first, last = (
        np.einsum("jid,id->ij", points[:, None] - starts[None], along) for points in (starts, ends)
    )
    common = np.minimum(np.maximum(first, last), lengths[:, None]) - np.maximum(
        np.minimum(first, last), 0.0
    )
    return np.asarray((np.maximum(*off) < near) & (common > near))


def zones(scenario: Scenario) -> list[FloatArray]:
    """The no-fly zones, each its (corners, 2) metres."""
    return [in_plane(scenario, zone) for zone in scenario.no_fly]


def in_plane(scenario: Scenario, points: Sequence[Point]) -> FloatArray:
    """Metres east and north of points that are given as the scenario gives its positions."""
    given = np.array(points, dtype=float).reshape(-1, 2)
    if scenario.coordinates is None or len(given) == 0:
        return given
    from flexpress.scenario.projection import to_plane

    latitude, longitude = scenario.coordinates[0].tolist()
    return to_plane(given, (latitude, longitude))
