"""The label mix of every transporter as a table for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from flexpress.planning import Plan
from flexpress.report.tables.columns import Column, print_columns
from flexpress.scenario import Scenario
from flexpress.theory.label_mixes import Counts, LabelMix, label_mix, label_mixes

_NOTHING = "-"
_EXPLANATION = (
    "off: how many of the samples would need another label for the mix to be that of all",
    "     (total variation), for the clients together, and for each by itself on average",
)


def show_label_mix(console: Console, scenario: Scenario, plan: Plan, counts: Counts) -> None:
    """Print how biased each transporter's data are; the last row is all clients."""
    everyone = label_mix(range(len(counts)), counts)
    columns = _mix_columns([*label_mixes(scenario, plan, counts), everyone])
    print_columns(console, columns)
    console.print()
    for line in _EXPLANATION:
        console.print(f" {line}", soft_wrap=True)


def _mix_columns(mixes: Sequence[LabelMix]) -> list[Column]:
    transporters = [str(k) for k in range(1, len(mixes))]
    return [
        ("transporter", "", [*transporters, "all"]),
        ("clients", "", [f"{len(mix.rows):,}" for mix in mixes]),
        ("samples", "", [f"{mix.samples:,}" for mix in mixes]),
        (
            "main label",
            "",
            [str(mix.shares.argmax()) if mix.samples else _NOTHING for mix in mixes],
        ),
        ("its share", "", [_percent(mix, float(mix.shares.max())) for mix in mixes]),
        ("off", "together", [_percent(mix, mix.distance) for mix in mixes]),
        ("", "by client", [_percent(mix, mix.alone) for mix in mixes]),
    ]


def _percent(mix: LabelMix, share: float) -> str:
    return f"{100 * share:.1f} %" if mix.samples else _NOTHING
