"""What to tell those who will fly the files: nothing that forbids the export."""

from __future__ import annotations

from flexpress.planning.plan import Plan
from flexpress.scenario import Scenario

FLOWN = ("qgc", "wpl")
"""The formats that an autopilot follows."""


def export_notes(scenario: Scenario, plan: Plan, format: str) -> list[str]:
    """One line each; none if there is nothing to heed."""
    if format not in FLOWN or scenario.network.no_fly_margin:
        return []
    turning = [k for k, tour in enumerate(plan.transporters, start=1) if tour.corners]
    if not turning:
        return []
    who = "transporter" if len(turning) == 1 else "transporters"
    return [
        f"{who} {', '.join(map(str, turning))}: corners lie on the edge of no-fly zones, where "
        "a geofence trips: set network.no_fly_margin to keep clear of them, and plan anew"
    ]
