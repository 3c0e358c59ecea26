"""The status of a mission on the terminal."""

from __future__ import annotations

import time
from typing import Any

from rich.console import Console
from rich.table import Table

import flexpress


def show_mission(console: Console, status: flexpress.field.Status) -> None:
    """How far it is, where couriers are, and how old the news of clients are."""
    state = "over" if status.over else "under way"
    accuracy = "" if status.accuracy is None else f", accuracy {status.accuracy:.1%}"
    console.print(
        f" mission {status.run[:8]}, {status.clock} clock: {state}, slot {status.slot:,} of "
        f"{status.horizon:,}, version {status.version}{accuracy}; refused updates: {status.refused}"
    )
    couriers = _table("courier", "state", "round", "tour", "version")
    for each in status.couriers:
        number = "" if each.round < 0 else each.round
        _add(couriers, each.name, each.state, number, each.tour, each.version)
    console.print(couriers)
    clients = _table("client", "courier", "updates", "last tour", "seconds ago", "")
    for client in status.clients:
        ago = "" if client.seen is None else f"{max(0.0, time.time() - client.seen):,.0f}"
        revoked = "revoked" if client.revoked else ""
        _add(clients, client.name, client.courier, client.updates, client.tour, ago, revoked)
    console.print(clients)


def _table(*names: str) -> Table:
    table = Table(box=None, padding=(0, 2))
    for name in names:
        table.add_column(name)
    return table


def _add(table: Table, *values: Any) -> None:
    table.add_row(*("" if value is None else str(value) for value in values))
