"""Way points for ArduPilot, "QGC WPL 110": one line per item, tab-separated, home in row 0."""

from __future__ import annotations

import math

from flexpress.errors import InputError
from flexpress.planning.export.flight_plan import DECIMALS, FlightPlan, Mission
from flexpress.planning.export.mavlink import NAV_WAYPOINT, Params, mission_items
from flexpress.planning.problem import BUDGET_TOLERANCE
from flexpress.scenario.units import ENERGY

_ABOVE_SEA = 0  # MAV_FRAME_GLOBAL
_ABOVE_HOME = 3  # MAV_FRAME_GLOBAL_RELATIVE_ALT, which Mission Planner writes for all but home


def write_wpl(flight: FlightPlan) -> dict[str, str]:
    return {
        f"transporter-{mission.transporter}.waypoints": _way_points(flight, mission)
        for mission in flight.missions
    }


def _way_points(flight: FlightPlan, mission: Mission) -> str:
    hold = _whole_seconds(flight.hold)
    _check_budget(flight, mission, hold)
    home = (0, 0, 0, 0, *flight.home, flight.home_altitude or 0)
    rows = [_row(0, _ABOVE_SEA, NAV_WAYPOINT, home)]
    for number, item in enumerate(mission_items(flight, mission, hold), start=1):
        rows.append(_row(number, _ABOVE_HOME, item.command, item.params))
    return "\n".join(["QGC WPL 110", *rows]) + "\n"


def _row(number: int, frame: int, command: int, params: Params) -> str:
    """Number, current, frame, command, seven parameters, continue."""
    numbers = [f"{value or 0:.{DECIMALS}f}" for value in params]
    return "\t".join([str(number), str(int(number == 0)), str(frame), str(command), *numbers, "1"])


def _whole_seconds(hold: float) -> int:
    """ArduPilot cuts off fractions of a second: rounded up, so that the transfer is complete."""
    return math.ceil(round(hold, 6))


def _check_budget(flight: FlightPlan, mission: Mission, hold: int) -> None:
    """Longer holds cost energy that the plan did not count."""
    tour, energy = mission.tour, flight.energy(mission, hold)
    if tour.budget is not None and energy > tour.budget * (1 + BUDGET_TOLERANCE):
        raise InputError(
            f"transporter {mission.transporter}: ArduPilot holds whole seconds, {hold} s at each "
            f"client for {flight.hold:.3f} s: that takes "
            f"{ENERGY.rounded_up(energy, tour.budget)}, and the budget is "
            f"{ENERGY.text(tour.budget, tour.budget)}; raise it and plan again, or export qgc for "
            "PX4, which holds fractions"
        )
