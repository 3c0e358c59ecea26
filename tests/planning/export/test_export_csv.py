"""The table of stops, read back with the standard library."""

from __future__ import annotations

import csv
import io

import pytest
from flights import ODD_NAMES, origin_of, preset_plan, same_length, walled, walled_plan

from flexpress import Plan, Scenario
from flexpress.planning.export import export_plan


def table(scenario: Scenario, plan: Plan) -> dict[int, list[dict[str, str]]]:
    """Transporter (from 0) and its rows."""
    files = export_plan(scenario, plan, "csv", origin=origin_of(scenario))
    rows: dict[int, list[dict[str, str]]] = {}
    for row in csv.DictReader(io.StringIO(files["plan.csv"])):
        assert None not in row.values()
        rows.setdefault(int(row["transporter"]) - 1, []).append(row)
    return rows


@pytest.mark.parametrize("preset", ["paper", "alps"])
def test_the_rows_add_up_to_the_tours(preset: str) -> None:
    scenario, plan = preset_plan(preset, "minmax")
    found = table(scenario, plan)
    assert set(found) == set(range(scenario.num_transporters))
    for k, rows in found.items():
        tour = plan.transporters[k]
        places = [(float(row["latitude"]), float(row["longitude"])) for row in rows]
        assert same_length(places, tour.length)
        assert {float(row["altitude"]) for row in rows} == {scenario.flight_altitude}
        rows = [row for row in rows if row["kind"] != "corner"]
        start, *stops, end = rows
        assert (start["kind"], end["kind"]) == ("take-off", "return")
        assert [int(row["order"]) for row in rows] == list(range(len(tour.clients) + 2))
        assert [row["id"] for row in stops] == [str(client) for client in tour.clients]
        assert sum(float(row["leg"]) for row in rows[1:]) == pytest.approx(tour.length, abs=0.02)
        assert [float(row["arrival"]) for row in stops] == pytest.approx(tour.arrivals, abs=6e-4)
        for row in stops:
            stay = float(row["departure"]) - float(row["arrival"])
            assert stay == pytest.approx(scenario.transfer_time, abs=2e-3)
        assert float(end["arrival"]) == pytest.approx(tour.round_trip, abs=6e-4)
        assert float(end["energy"]) == pytest.approx(tour.energy, abs=6e-4)
        energies = [float(row["energy"]) for row in rows]
        assert energies == sorted(energies)


def test_corners_and_names_have_their_rows() -> None:
    scenario = walled()
    rows = table(scenario, walled_plan(scenario))
    kinds = [row["kind"] for row in rows[0]]
    assert kinds == ["take-off", "client", "client", "corner", "corner", "return"]
    assert [row["name"] for row in rows[0][1:3]] == [ODD_NAMES[1], ODD_NAMES[0]]
    assert rows[0][3]["arrival"] == rows[0][3]["id"] == ""
    assert float(rows[0][-1]["leg"]) == pytest.approx(100 + 2 * 12500**0.5, abs=6e-4)
