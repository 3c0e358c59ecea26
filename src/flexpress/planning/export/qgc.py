"""QGroundControl plan files: JSON, one per transporter, with the no-fly zones as geofence."""

from __future__ import annotations

import json

from flexpress.planning.export.flight_plan import FlightPlan, Mission
from flexpress.planning.export.mavlink import Item, mission_items

_PX4 = 12  # MAV_AUTOPILOT
_QUADROTOR = 2  # MAV_TYPE
_ABOVE_HOME = 3  # MAV_FRAME_GLOBAL_RELATIVE_ALT
_NO_PLACE = 2  # MAV_FRAME_MISSION
_RELATIVE = 1  # QGroundControl's altitude mode: above home


def write_qgc(flight: FlightPlan) -> dict[str, str]:
    return {
        f"transporter-{mission.transporter}.plan": json.dumps(_plan_file(flight, mission), indent=2)
        + "\n"
        for mission in flight.missions
    }


def _plan_file(flight: FlightPlan, mission: Mission) -> dict[str, object]:
    fence = [{"inclusion": False, "polygon": zone, "version": 1} for zone in flight.no_fly]
    return {
        "fileType": "Plan",
        "version": 1,
        "groundStation": "QGroundControl",
        "mission": _mission_part(flight, mission),
        "geoFence": {"circles": [], "polygons": fence, "version": 2},
        "rallyPoints": {"points": [], "version": 2},
    }


def _mission_part(flight: FlightPlan, mission: Mission) -> dict[str, object]:
    items = mission_items(flight, mission, flight.hold)
    return {
        "version": 2,
        "firmwareType": _PX4,
        "vehicleType": _QUADROTOR,
        "globalPlanAltitudeMode": _RELATIVE,
        "cruiseSpeed": mission.speed,
        "hoverSpeed": mission.speed,
        "plannedHomePosition": [*flight.home, flight.home_altitude or 0],
        "items": [_simple_item(number, item) for number, item in enumerate(items, start=1)],
    }


def _simple_item(number: int, item: Item) -> dict[str, object]:
    altitude: dict[str, object] = {
        "AMSLAltAboveTerrain": None,
        "Altitude": item.params[-1],
        "AltitudeMode": _RELATIVE,
    }
    return {
        "type": "SimpleItem",
        "doJumpId": number,
        "command": item.command,
        "frame": _ABOVE_HOME if item.has_place else _NO_PLACE,
        "params": item.params,
        "autoContinue": True,
        **(altitude if item.has_place else {}),
    }
