"""Tours as lines in the plane, in metres: from stop to stop, around the no-fly zones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from flexpress.arrays import BoolArray, FloatArray
from flexpress.planning import Plan, Tour
from flexpress.scenario import Point, Scenario

_MOST_COMPARED = 400
_NEARLY = 2e-3  # of the longest line; closer lines look like one


def visited_nodes(scenario: Scenario, plan: Plan) -> Iterator[list[int]]:
    """The nodes each transporter visits, the server first and last; empty if it is idle."""
    node_of = {client: node for node, client in enumerate(scenario.client_ids, start=1)}
    for tour in plan.transporters:
        nodes = [node_of[client] for client in tour.clients]
        yield [0, *nodes, 0] if nodes else []


def tour_lines(scenario: Scenario, plan: Plan) -> list[FloatArray]:
    """The (points, 2) metres of each tour: stops and corners in their order."""
    both = zip(plan.transporters, visited_nodes(scenario, plan), strict=True)
    return [_tour_line(scenario, tour, stops) for tour, stops in both]


def _tour_line(scenario: Scenario, tour: Tour, stops: Sequence[int]) -> FloatArray:
    places = scenario.positions[stops]
    if not tour.corners:
        return places
    return np.vstack([places[:1], *(leg[1:] for leg in legs(scenario, tour, stops))])


def legs(scenario: Scenario, tour: Tour, stops: Sequence[int]) -> list[FloatArray]:
    """The (points, 2) metres of each leg: both stops and the corners between them."""
    places = scenario.positions[stops]
    corners = tour_corners(scenario, tour) or [np.empty((0, 2))] * (len(stops) - 1)
    ends = zip(places, corners, places[1:], strict=False)
    return [np.vstack([start, passed, end]) for start, passed, end in ends]


def tour_corners(scenario: Scenario, tour: Tour) -> list[FloatArray]:
    """The (corners, 2) metres of each leg; empty if the tour has no detours."""
    ends = np.cumsum([len(leg) for leg in tour.corners])
    points = _in_plane(scenario, [point for leg in tour.corners for point in leg])
    return np.split(points, ends[:-1]) if tour.corners else []


def hidden_below(lines: Sequence[FloatArray]) -> list[int]:
    """For each tour line, how many later ones lie on a part of it and would hide it.

    Returns zeros if there are too many legs to compare: no reader could follow them anyway.
    """
    owner = np.array([k for k, line in enumerate(lines) for _ in line[1:]], dtype=int)
    if len(owner) > _MOST_COMPARED:
        return [0] * len(lines)
    starts, ends = (np.vstack([line[some] for line in lines]) for some in (np.s_[:-1], np.s_[1:]))
    covered = _coincide(starts, ends) if len(owner) else np.empty((0, 0), dtype=bool)
    return [
        len({int(j) for j in owner[covered[owner == k].any(axis=0)] if j > k})
        for k in range(len(lines))
    ]


def _coincide(starts: FloatArray, ends: FloatArray) -> BoolArray:
    """(lines, lines): whether two lines coincide in more than a point."""
    ways = ends - starts
    lengths = np.hypot(*ways.T)
    along = np.divide(ways, lengths[:, None], out=np.zeros_like(ways), where=lengths[:, None] > 0)
    across = np.column_stack([-along[:, 1], along[:, 0]])
    near = _NEARLY * lengths.max()
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
    """The (corners, 2) metres of each no-fly zone."""
    return [_in_plane(scenario, zone) for zone in scenario.no_fly]


def _in_plane(scenario: Scenario, points: Sequence[Point]) -> FloatArray:
    """Metres east and north, for points in the coordinates of the scenario."""
    given = np.array(points, dtype=float).reshape(-1, 2)
    if scenario.coordinates is None or len(given) == 0:
        return given
    from flexpress.scenario.projection import to_plane

    latitude, longitude = scenario.coordinates[0].tolist()
    return to_plane(given, (latitude, longitude))
