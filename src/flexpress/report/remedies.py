"""What would make a plan possible, as a table for the terminal or as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from rich.console import Console
from rich.table import Table

from flexpress.planning.diagnosis import Remedy
from flexpress.planning.infeasible import percent_up

ENOUGH = "any one of these is enough, the least change first:"


def show_remedies(console: Console, remedies: Sequence[Remedy]) -> None:
    if not remedies:
        console.print("a longer search may find a plan: the budgets can be kept")
        return
    console.print(ENOUGH)
    table = Table(box=None, padding=(0, 1), show_header=False)
    table.add_column()
    table.add_column(justify="right")
    table.add_column()
    for remedy in remedies:
        table.add_row(remedy.change, factor_text(remedy.factor), remedy.text)
    console.print(table)


def factor_text(factor: float | None) -> str:
    """Per cent, rounded away from no change: less might not be enough."""
    if factor is None:
        return "-"
    percent = percent_up(factor) if factor > 1 else -percent_up(2 - factor)
    return f"{percent:+,} %"


def remedies_to_json(remedies: Sequence[Remedy]) -> str:
    return json.dumps({"remedies": [asdict(remedy) for remedy in remedies]}, indent=2)
