"""Ways around no-fly zones: closed forms, a slow exact oracle, paths that keep their distance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import shapely  # type: ignore[import-untyped]  # it has no types
from visibility_oracle import Exact, is_free, is_inside, shortest_lengths

from flexpress.scenario import Scenario
from flexpress.scenario.projection import _geodesics, to_coordinates, to_plane

Ring = list[list[float]]
Place = list[float] | dict[str, float]

SQUARE: Ring = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]


def scenario(
    nodes: Sequence[Place], zones: Sequence[Sequence[Place]], **network: object
) -> Scenario:
    """Server first."""
    places = {"server": nodes[0], "clients": nodes[1:], "no_fly": zones}
    return Scenario.from_dict(
        {
            "network": {**places, **network},
            "fleet": {"speeds": [1.0]},
            "link": {"transfer_time": 0.0},
        }
    )


def distance(nodes: list[list[float]], zones: list[Ring], **network: object) -> float:
    distances = scenario(nodes, zones, **network).distances
    assert distances is not None
    assert distances.shape == (len(nodes), len(nodes))
    assert np.array_equal(distances, distances.T)
    return float(distances[0, 1])


def test_a_square_in_the_way() -> None:
    around = scenario([[-3.0, 0.0], [3.0, 0.0]], [SQUARE])
    assert around.distances is not None
    assert around.distances[0, 1] == pytest.approx(2 + 2 * math.sqrt(5), rel=1e-12)
    assert around.corners(0, 1) in [
        ((-1.0, -1.0), (1.0, -1.0)),
        ((-1.0, 1.0), (1.0, 1.0)),
    ]
    assert around.corners(1, 0) == around.corners(0, 1)[::-1]


def test_a_margin_around_the_square() -> None:
    nodes = [[-3.0, 0.0], [3.0, 0.0]]
    assert distance(nodes, [SQUARE], no_fly_margin=0.5) == pytest.approx(
        3 + 2 * math.hypot(1.5, 1.5), rel=1e-9
    )


@pytest.mark.parametrize("half", [0.01, 1e-4, 1e-6])
def test_a_thin_wall(half: float) -> None:
    wall: Ring = [[-half, -3.0], [half, -3.0], [half, 4.0], [-half, 4.0]]
    expected = 2 * half + 2 * math.hypot(1 - half, 3.0)
    assert distance([[-1.0, 0.0], [1.0, 0.0]], [wall]) == pytest.approx(expected, rel=1e-12)


def test_a_free_way_is_straight() -> None:
    free = scenario([[-3.0, 2.0], [3.0, 2.5]], [SQUARE])
    assert free.corners(0, 1) == ()
    assert free.distances is not None
    assert free.distances[0, 1] == math.hypot(6.0, 0.5)


@pytest.mark.parametrize(
    ("here", "there"),
    [
        ([-3.0, 1.0], [3.0, 1.0]),  # along an edge
        ([-3.0, -1.0], [1.0, 3.0]),  # over a corner
        ([-1.0, 1.0], [1.0, 1.0]),  # from corner to corner
        ([-1.0, 0.0], [-1.0, 0.5]),  # along an edge, both on it
        ([1.0, 1.0], [1.0, 1.0]),  # nowhere, at a corner
    ],
)
def test_a_way_may_touch_a_zone(here: list[float], there: list[float]) -> None:
    touching = scenario([here, there], [SQUARE])
    assert touching.corners(0, 1) == ()
    assert touching.distances is not None
    assert touching.distances[0, 1] == math.dist(here, there)


def test_a_way_through_the_inside_from_corner_to_corner_is_none() -> None:
    assert distance([[-1.0, -1.0], [1.0, 1.0]], [SQUARE]) == pytest.approx(4.0)
    across = scenario([[-1.0, -1.0], [1.0, 1.0]], [SQUARE]).corners(0, 1)
    assert across in [((-1.0, 1.0),), ((1.0, -1.0),)]


def test_nothing_passes_between_zones_that_touch() -> None:
    upper: Ring = [[-1.0, 0.0], [1.0, 0.0], [1.0, 5.0], [-1.0, 5.0]]
    lower: Ring = [[-1.0, 0.0], [1.0, 0.0], [1.0, -4.0], [-1.0, -4.0]]
    expected = 2 + 2 * math.hypot(2.0, 4.0)
    assert distance([[-3.0, 0.0], [3.0, 0.0]], [upper, lower]) == pytest.approx(expected)


def test_nothing_slips_through_a_seam_that_only_rounding_opens() -> None:
    """Two zones lean on the long edge of a third; their common corner lies on it, but for 1e-16."""
    left, middle, right = [-1.0, -0.3], [0.1, 0.03], [1.0, 0.3]
    above: Ring = [left, right, [1.0, 5.0], [-1.0, 5.0]]
    below: list[Ring] = [
        [left, middle, [0.1, -4.0], [-1.0, -4.0]],
        [middle, right, [1.0, -4.0], [0.1, -4.0]],
    ]
    expected = 2 + math.hypot(2.0, 3.7) + math.hypot(2.0, 4.3)
    nodes = [[-3.0, -0.3], [3.0, 0.3]]
    assert distance(nodes, [above, *below]) == pytest.approx(expected, rel=1e-6)


def test_out_of_a_bay() -> None:
    bay: Ring = [
        [0.0, 0.0],
        [10.0, 0.0],
        [10.0, 10.0],
        [9.0, 10.0],
        [9.0, 1.0],
        [1.0, 1.0],
        [1.0, 10.0],
        [0.0, 10.0],
    ]
    expected = math.hypot(4.0, 8.0) + 1 + math.hypot(4.0, 7.0)
    around = scenario([[5.0, 2.0], [-4.0, 3.0]], [bay])
    assert around.distances is not None
    assert around.distances[0, 1] == pytest.approx(expected)
    assert around.corners(0, 1) == ((1.0, 10.0), (0.0, 10.0))


def random_zones(rng: np.random.Generator, num_zones: int) -> list[Ring]:
    """Polygons on whole numbers, some concave, some overlapping."""
    zones: list[Ring] = []
    while len(zones) < num_zones:
        angles = np.sort(rng.random(rng.integers(3, 7))) * 2 * np.pi
        reach = rng.uniform(30, 200, len(angles))
        centre = rng.uniform(100, 900, 2)
        ring = np.rint(centre + (reach * [np.cos(angles), np.sin(angles)]).T)
        if shapely.Polygon(ring).is_valid and shapely.Polygon(ring).area > 500:
            zones.append(ring.tolist())
    return zones


def exact(points: Ring) -> list[Exact]:
    return [(Fraction(x), Fraction(y)) for x, y in points]


def random_case(seed: int) -> tuple[Ring, list[Ring]]:
    rng = np.random.default_rng(seed)
    zones = random_zones(rng, int(rng.integers(1, 5)))
    candidates = np.rint(rng.uniform(0, 1000, (60, 2))).tolist()
    walls = [exact(zone) for zone in zones]
    outside = [p for p in candidates if not any(is_inside(exact([p])[0], w) for w in walls)]
    return outside[:6], zones


@pytest.mark.parametrize("seed", range(8))
def test_ways_are_as_short_as_an_exact_search_finds(seed: int) -> None:
    nodes, zones = random_case(seed)
    found = np.array(scenario(nodes, zones).distances)
    expected = np.array(shortest_lengths(exact(nodes), [exact(zone) for zone in zones]))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_the_cases_have_ways_that_are_blocked() -> None:
    """Else the comparison would show nothing."""
    blocked = 0
    for seed in range(8):
        nodes, zones = random_case(seed)
        walls = [exact(zone) for zone in zones]
        blocked += not all(is_free(p, q, walls) for p, q in pairwise(exact(nodes)))
    assert blocked >= 4


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("margin", [0.0, 15.0])
def test_way_points_make_the_length_and_keep_the_margin(seed: int, margin: float) -> None:
    rng = np.random.default_rng(100 + seed)
    zones = random_zones(rng, 4)
    walls = shapely.union_all([shapely.Polygon(zone) for zone in zones])
    candidates = rng.uniform(0, 1000, (60, 2))
    far = shapely.distance(walls, shapely.points(candidates)) > 6 * margin
    world = scenario(candidates[far][:8].tolist(), zones, no_fly_margin=margin)
    assert world.distances is not None
    turns = 0
    for i in range(8):
        for j in range(8):
            path = [tuple(world.positions[i]), *world.corners(i, j), tuple(world.positions[j])]
            length = sum(math.dist(a, b) for a, b in pairwise(path))
            assert world.distances[i, j] == pytest.approx(length, rel=1e-12)
            assert world.corners(j, i) == world.corners(i, j)[::-1]
            if len(path) > 2:
                turns += 1
                line = shapely.LineString(path)
                assert line.distance(walls) >= margin * (1 - 1e-9)
                inner = walls.buffer(-1e-6)
                assert not line.intersects(inner)
    assert turns > 0


@pytest.mark.parametrize("sharpness", [0.5, 5.0, 20.0])
def test_the_margin_is_kept_at_sharp_corners(sharpness: float) -> None:
    """The tip of a needle: a mitre would reach out far, and a plain cut would come too near."""
    needle: Ring = [[0.0, 0.0], [-100.0, -100.0 / sharpness], [-100.0, 100.0 / sharpness]]
    world = scenario([[-20.0, 200.0], [-20.0, -200.0]], [needle], no_fly_margin=10.0)
    path = shapely.LineString([world.positions[0], *world.corners(0, 1), world.positions[1]])
    assert path.distance(shapely.Polygon(needle)) >= 10.0 - 1e-9


def test_a_generated_network_flies_around_zones_too() -> None:
    paper = Scenario.preset("paper")
    zone = [[980.0, 1010.0], [1020.0, 1010.0], [1000.0, 1030.0]]  # just north of the server
    world = paper.replace(network={"no_fly": [zone]})
    assert world.distances is not None
    assert paper.distances is None
    straight = np.hypot(*(world.positions[:, None] - world.positions[None, :]).T)
    assert (world.distances >= straight - 1e-9).all()
    assert (world.distances > straight + 1e-9).any()


ORIGIN = (46.5, 8.0)


@pytest.mark.parametrize("origin", [ORIGIN, (-17.0, 179.999), (89.99, 30.0)])
def test_on_the_ellipsoid_ways_are_geodesics_from_corner_to_corner(
    origin: tuple[float, float],
) -> None:
    def degrees(points: Ring) -> list[dict[str, float]]:
        return [{"lat": a, "lon": b} for a, b in to_coordinates(np.array(points), origin).tolist()]

    plane = [[0.0, 0.0], [3000.0, 100.0], [100.0, 2500.0]]
    square = [[1000.0, -900.0], [1800.0, -900.0], [1800.0, 900.0], [1000.0, 900.0]]
    world = scenario(degrees(plane), [degrees(square)])
    flat = scenario(plane, [square])
    assert world.distances is not None
    assert world.coordinates is not None
    np.testing.assert_allclose(world.distances, np.array(flat.distances), rtol=1e-6)
    np.testing.assert_allclose(world.positions, plane, atol=1e-6)
    way = np.array([world.coordinates[0], *world.corners(0, 1), world.coordinates[1]])
    assert len(way) == 4
    assert world.distances[0, 1] == pytest.approx(_geodesics(way[:-1], way[1:]).sum(), rel=1e-12)
    np.testing.assert_allclose(to_plane(way[1:-1], origin), flat.corners(0, 1), atol=1e-6)


def test_a_zone_across_the_antimeridian_may_be_cut_there() -> None:
    """RFC 7946 asks for two parts; their seam at 180 degrees must not be a way through."""
    east = [(-17.01, 179.99), (-17.01, 180.0), (-16.99, 180.0), (-16.99, 179.99)]
    west = [(-17.01, -180.0), (-17.01, -179.99), (-16.99, -179.99), (-16.99, -180.0)]
    whole = [(-17.01, 179.99), (-17.01, -179.99), (-16.99, -179.99), (-16.99, 179.99)]

    def ring(corners: list[tuple[float, float]]) -> list[dict[str, float]]:
        return [{"lat": lat, "lon": lon} for lat, lon in corners]

    nodes = ring([(-17.05, 180.0), (-16.95, -180.0)])
    cut = scenario(nodes, [ring(east), ring(west)])
    one = scenario(nodes, [ring(whole)])
    assert cut.distances is not None
    assert one.distances is not None
    assert len(cut.corners(0, 1)) >= 2
    assert cut.distances[0, 1] == pytest.approx(one.distances[0, 1], rel=1e-9)
