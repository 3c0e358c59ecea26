"""A rehearsal on the terminal: where each courier is, what was merged, the accuracy."""

from __future__ import annotations

import sys
import time
from typing import Any

from rich.live import Live
from rich.table import Table

from flexpress.cli.console import PlainConsole

_BAR = 24
"""Characters of the line that shows how far a courier is on its tour."""


class LiveView:
    """Takes the events of all programs, and shows a table of what they mean."""

    def __init__(self) -> None:
        self._started = time.time()
        self._couriers: dict[str, dict[str, Any]] = {}
        self._clients: dict[str, int] = {}
        self._server: dict[str, Any] = {"version": 0, "slot": 0, "accuracy": None, "merged": 0}
        console = PlainConsole(sys.stderr)
        self._live = Live(get_renderable=self._table, console=console, refresh_per_second=10)

    def __enter__(self) -> LiveView:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.refresh()
        self._live.stop()

    def hear(self, entry: dict[str, Any]) -> None:
        """Bring the picture up to date."""
        program, event = entry["program"], entry["event"]
        if program == "server":
            self._hear_server(event, entry)
        elif program.startswith("courier-"):
            self._hear_courier(self._couriers.setdefault(program, _at_home()), event, entry)
        elif event == "visited":
            self._clients[program] = self._clients.get(program, 0) + 1
        elif event == "started":
            self._clients.setdefault(program, 0)

    def _hear_server(self, event: str, entry: dict[str, Any]) -> None:
        if event == "merged":
            self._server["merged"] += entry["updates"]
        for key in ("version", "slot", "accuracy"):
            if event in ("merged", "evaluated") and key in entry:
                self._server[key] = entry[key]

    def _hear_courier(self, courier: dict[str, Any], event: str, entry: dict[str, Any]) -> None:
        if event == "departed":
            courier.update(_at_home(), where="on its way", stops=entry["stops"])
            courier.update(tour=entry["tour"], version=entry["version"])
        elif event == "arrived":
            courier["where"] = entry["client"]
        elif event in ("visited", "missed"):
            courier["done"] += 1
        elif event == "sealed":
            courier["where"] = "at the server"
        elif event == "returned":
            courier.update(where="at the server", home=True)

    def _table(self) -> Table:
        server = self._server
        accuracy = "" if server["accuracy"] is None else f", accuracy {server['accuracy']:.1%}"
        ready = f"{len(self._clients)} clients ready"
        table = Table(
            title=f"{time.time() - self._started:.0f} s: slot {server['slot']}, version "
            f"{server['version']}, {server['merged']} updates merged{accuracy}; {ready}",
            title_justify="left",
            box=None,
            padding=(0, 2),
        )
        for column in ("courier", "tour", "version", "", "where"):
            table.add_column(column)
        for name, courier in sorted(self._couriers.items(), key=lambda each: _number(each[0])):
            table.add_row(
                name,
                str(courier["tour"]),
                str(courier["version"]),
                _bar(courier["done"], courier["stops"]),
                courier["where"],
            )
        return table


def _at_home() -> dict[str, Any]:
    return {"where": "at the server", "tour": "", "version": "", "done": 0, "stops": 0}


def _number(name: str) -> tuple[int, str]:
    digits = name.rpartition("-")[2]
    return int(digits) if digits.isdecimal() else 0, name


def _bar(done: int, stops: int) -> str:
    filled = round(_BAR * done / stops) if stops else 0
    return "━" * filled + "·" * (_BAR - filled)
