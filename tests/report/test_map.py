"""The map shows the plan: its lines are the tours, its legend the figures."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from detours import WAYS, ZONES, alps_with_detours, in_metres, plane_with_detours
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from flexpress import Plan, Scenario, make_plan
from flexpress.report.figures.map import _draw_map, map_png

FOUR = Scenario.preset("four")
VALLEY = Scenario.preset("valley")
PAPER = Scenario.preset("paper")
SECTORS = [list(range(1 + k, 41, 4)) for k in range(4)]


def plan_of(scenario: Scenario, tours: list[list[int]]) -> Plan:
    return Plan.of(scenario, "sws", tours, solver="search", seed=0, seconds=1.0)


def crowd(num_clients: int, num_transporters: int) -> tuple[Scenario, Plan]:
    rng = np.random.default_rng(0)
    clients = (1000 * rng.random((num_clients, 2))).tolist()
    scenario = Scenario.from_dict(
        {
            "network": {"server": [500, 500], "clients": clients},
            "fleet": {"speeds": [10.0] * num_transporters},
            "link": {"transfer_time": 1.0},
        }
    )
    nodes = range(1, num_clients + 1)
    return scenario, plan_of(
        scenario, [list(nodes[k::num_transporters]) for k in range(num_transporters)]
    )


def legend(ax: Axes) -> list[str]:
    found = ax.get_legend()
    assert found is not None
    return [text.get_text() for text in found.get_texts()]


def size_of(png: bytes) -> tuple[int, int]:
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    return int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")


def test_lines_are_the_tours() -> None:
    ax = _draw_map(PAPER, plan_of(PAPER, SECTORS))
    assert len(ax.lines) == 4
    for line, nodes in zip(ax.lines, SECTORS, strict=True):
        assert np.array_equal(line.get_xydata(), PAPER.positions[[0, *nodes, 0]])


def test_lines_go_around_zones_and_zones_are_hatched() -> None:
    scenario, plan = plane_with_detours()
    ax = _draw_map(scenario, plan)
    places = scenario.positions
    around = [places[0], *WAYS[0, 1], *places[[1, 2]], *WAYS[2, 0], places[0]]
    assert np.array_equal(ax.lines[0].get_xydata(), around)
    assert np.array_equal(ax.lines[1].get_xydata(), places[[0, 3, 0]])
    for patch, zone in zip(ax.patches, ZONES, strict=True):
        assert np.array_equal(patch.get_xy()[:-1], zone)  # type: ignore[attr-defined]  # polygons
        assert patch.get_hatch()


def test_degrees_become_metres_around_the_server() -> None:
    scenario, plan = alps_with_detours()
    ax = _draw_map(scenario, plan)
    assert scenario.coordinates is not None
    for line, tour in zip(ax.lines, plan.transporters, strict=True):
        nodes = [scenario.client_ids.index(client) + 1 for client in tour.clients]
        points = [scenario.coordinates[0]]
        for i, j in pairwise([0, *nodes, 0]):
            points += [*scenario.corners(i, j), scenario.coordinates[j]]
        assert np.allclose(line.get_xydata(), in_metres(scenario, points), atol=0.01)
    assert [np.shape(line.get_xydata())[0] for line in ax.lines] == [7 + 2 + 2, 5 + 2, 4 + 2 + 1]
    for patch, zone in zip(ax.patches, scenario.no_fly, strict=True):
        assert np.allclose(patch.get_xy()[:-1], in_metres(scenario, zone), atol=0.01)  # type: ignore[attr-defined]  # polygons
    assert (ax.get_xlabel(), legend(ax)[-1]) == ("km east of the server", "no-fly zone")
    assert size_of(map_png(scenario, plan))


def test_no_zone_is_cut() -> None:
    ax = _draw_map(*plane_with_detours())
    (west, _), (_, north) = ax.get_xlim(), ax.get_ylim()
    assert west < -1000 < min(x for x, _ in plane_with_detours()[0].positions)
    assert north > 1000


def test_the_legend_knows_zones_only_where_there_are_some() -> None:
    assert legend(_draw_map(*plane_with_detours()))[-2:] == ["server", "no-fly zone"]
    assert "no-fly zone" not in legend(_draw_map(FOUR, plan_of(FOUR, [[1, 2], [3, 4]])))


def test_a_detour_stays_on_the_map() -> None:
    scenario, plan = plane_with_detours()
    first, *others = plan.transporters
    far = replace(first, corners=(((9000.0, -500.0),), *first.corners[1:]))
    ax = _draw_map(scenario, replace(plan, transporters=(far, *others)))
    assert ax.get_xlim()[1] > 9000
    assert ax.get_ylim()[0] < -500


def test_every_client_and_the_server_are_drawn() -> None:
    ax = _draw_map(PAPER, plan_of(PAPER, SECTORS))
    clients, server = (np.asarray(points.get_offsets()) for points in ax.collections)
    assert np.array_equal(clients, PAPER.positions[1:])
    assert np.array_equal(server, PAPER.positions[:1])


def test_blocks_are_drawn() -> None:
    ax = _draw_map(PAPER, plan_of(PAPER, SECTORS))
    corners = [(*patch.get_xy(), *patch.get_bbox().max) for patch in ax.patches]  # type: ignore[attr-defined]  # rectangles
    assert corners == PAPER.blocks


def test_ids_label_the_clients() -> None:
    ax = _draw_map(VALLEY, make_plan(VALLEY, solver="exact"))
    labels = {text.get_text() for text in ax.texts if text.get_text()}
    assert labels == set(VALLEY.client_ids)


def test_the_legend_holds_round_trip_energy_and_budget() -> None:
    plan = make_plan(VALLEY, solver="exact")
    *rows, server = legend(_draw_map(VALLEY, plan))
    assert server == "server"
    for tour, row in zip(plan.transporters, rows, strict=True):
        assert f"{len(tour.clients)} clients" in row
        assert f"{tour.round_trip:.1f} s" in row
        assert f"{tour.energy / 1e3:.2f} of" in row
        assert f"{(tour.budget or 0) / 1e3:.2f} kJ" in row


def test_the_title_holds_scenario_objective_and_value() -> None:
    ax = _draw_map(FOUR, plan_of(FOUR, [[1, 2], [3, 4]]))
    assert ax.get_title(loc="left") == "four: sws 784 s² (search)"


def test_an_idle_transporter_is_in_the_legend() -> None:
    ax = _draw_map(FOUR, plan_of(FOUR, [[], [1, 2, 3, 4]]))
    assert legend(ax)[0] == "1:  idle"
    assert np.size(ax.lines[0].get_xydata()) == 0


def test_of_many_transporters_the_longest_round_trips_are_listed() -> None:
    scenario, plan = crowd(100, 30)
    *rows, rest, _ = legend(_draw_map(scenario, plan))
    assert len(rows) == 12
    assert rest == "and 18 with shorter round trips"
    longest = max(tour.round_trip for tour in plan.transporters)
    assert f"{longest:.1f} s" in rows[0]


def test_idle_transporters_that_are_not_listed_are_counted() -> None:
    scenario, plan = crowd(10, 20)
    assert legend(_draw_map(scenario, plan))[-2] == "and 8 idle"
    scenario, plan = crowd(15, 20)
    assert legend(_draw_map(scenario, plan))[-2] == "and 3 with shorter round trips, 5 idle"


def test_it_draws_into_axes_that_are_given() -> None:
    axes = Figure().subplots(1, 2)
    assert _draw_map(FOUR, plan_of(FOUR, [[1, 2], [3, 4]]), axes[1]) is axes[1]
    assert not axes[0].lines


def test_large_areas_have_kilometres() -> None:
    coast = Scenario.preset("coast")
    ax = _draw_map(coast, make_plan(coast, solver="exact"))
    assert ax.get_xlabel() == "x (km)"
    assert [ax.xaxis.get_major_formatter()(x) for x in (20e3, -500.0)] == ["20", "\u22120.5"]
    assert _draw_map(FOUR, plan_of(FOUR, [[1, 2], [3, 4]])).get_xlabel() == "x (m)"


@pytest.mark.parametrize(("num_clients", "num_transporters"), [(1, 1), (400, 50)])
def test_png_of_a_sensible_size(num_clients: int, num_transporters: int) -> None:
    width, height = size_of(map_png(*crowd(num_clients, num_transporters)))
    assert 500 < width < 3000
    assert 500 < height < 3000


def test_the_same_plan_gives_the_same_bytes() -> None:
    plan = make_plan(VALLEY, solver="exact")
    assert map_png(VALLEY, plan) == map_png(VALLEY, plan)


def test_names_in_any_script_and_with_any_sign() -> None:
    ids = ["$x^$", "泉", "_", "{"]
    odd = FOUR.replace(name="$\\frac", network={"ids": ids})
    assert size_of(map_png(odd, plan_of(odd, [[1, 2], [3, 4]])))


def test_everything_in_one_place() -> None:
    heap = FOUR.replace(network={"clients": [[0.0, 0.0]] * 4})
    assert size_of(map_png(heap, plan_of(heap, [[1, 2], [3, 4]])))
