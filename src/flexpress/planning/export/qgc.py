"""QGroundControl plan files: JSON, one per transporter, with the no-fly zones as geofence."""

from __future__ import annotations

import json

from flexpress.planning.export.flight import Flight, Mission
from flexpress.planning.export.mavlink import Item, mission_items

PX4 = 12  # MAV_AUTOPILOT
QUADROTOR = 2  # MAV_TYPE
ABOVE_HOME = 3  # MAV_FRAME_GLOBAL_RELATIVE_ALT
NO_PLACE = 2  # MAV_FRAME_MISSION
RELATIVE = 1  # QGroundControl's altitude mode: above home


def write_qgc(flight: Flight) -> dict[str, str]:
    return {
        f"transporter-{mission.transporter}.plan": json.dumps(plan_file(flight, mission), indent=2)
        + "\n"
        for mission in flight.missions
    }


def plan_file(flight: Flight, mission: Mission) -> dict[str, object]:
    fence = [{"inclusion": False, "polygon": zone, "version": 1} for zone in flight.no_fly]
    return {
        "fileType": "Plan",
        "version": 1,
        "groundStation": "QGroundControl",
        "mission": mission_part(flight, mission),
        "geoFence": {"circles": [], "polygons": fence, "version": 2},
        "rallyPoints": {"points": [], "version": 2},
    }


def mission_part(flight: Flight, mission: Mission) -> dict[str, object]:
    items = mission_items(flight, mission, flight.hold)
    return {
        "version": 2,
        "firmwareType": PX4,
        "vehicleType": QUADROTOR,
        "globalPlanAltitudeMode": RELATIVE,
        "cruiseSpeed": mission.speed,
        "hoverSpeed": mission.speed,
        "plannedHomePosition": [*flight.home, flight.home_altitude or 0],
        "items": [simple_item(number, item) for number, item in enumerate(items, start=1)],
    }


def simple_item(number: int, item: Item) -> dict[str, object]:
    altitude: dict[str, object] = {
        "AMSLAltAboveTerrain": None,
        "Altitude": item.params[-1],
        "AltitudeMode": RELATIVE,
    }
    return {
        "type": "SimpleItem",
        "doJumpId": number,
        "command": item.command,
        "frame": ABOVE_HOME if item.has_place else NO_PLACE,
        "params": item.params,
        "autoContinue": True,
        **(altitude if item.has_place else {}),
    }
