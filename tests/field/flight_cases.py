"""A small plan on the Earth, and the orders of a courier that flies it."""

from __future__ import annotations

from flexpress import Plan, Scenario
from flexpress.field.flight_file import FlightFile, make_flight_file
from flexpress.field.messages import Orders, SignedSnapshot, Stop

ORIGIN = (47.3769, 8.5417)
CLIENTS = ("client-3", "client-1", "client-2")
"""In the order of the tour."""


def scenario(**network: object) -> Scenario:
    """Two transporters and three clients in metres; the second stays on the ground."""
    return Scenario.from_dict(
        {
            "name": "meadow",
            "network": {
                "server": (0.0, 0.0),
                "clients": [(300.0, 0.0), (300.0, 400.0), (-200.0, 50.0)],
                **network,
            },
            "fleet": {"speeds": [10, 8], "budgets": ["900 kJ", "6 kJ"]},
            "link": {"transfer_time": 5.25, "altitude": 120.0},
        }
    )


def plan_of(case: Scenario, tours: list[list[int]] | None = None) -> Plan:
    orders = [[3, 1, 2], []] if tours is None else tours
    return Plan.of(case, "sws", orders, solver="exact", seed=0, seconds=0.0)


def flight_file(**options: object) -> FlightFile:
    case = scenario()
    return make_flight_file(case, plan_of(case), 1, origin=ORIGIN, **options)  # type: ignore[arg-type]  # whatever a test varies


def orders(*clients: str) -> Orders:
    """These clients, or all of them; 10 s between two."""
    return Orders(
        snapshot=SignedSnapshot("{}", "0" * 128),
        stops=tuple(
            Stop(client, "10.0.0.1", 8443, 10.0 * number)
            for number, client in enumerate(clients or CLIENTS, start=1)
        ),
        model_size=1,
        duration=100.0,
    )
