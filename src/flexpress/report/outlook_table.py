"""What the theory promises, as a table for the terminal, and the sentence that it comes to."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from flexpress.report.numbers import column
from flexpress.report.table import WIDEST, Column, across, down
from flexpress.scenario import Scenario
from flexpress.theory import Estimate, Estimates, Forecast, Outlook

MOST_TOURS = 6
"""Whose lengths are listed one by one."""


def show_outlook(
    console: Console, scenario: Scenario, outlook: Outlook, estimates: Estimates
) -> None:
    """A row per plan and algorithm; below it the constants, the skew of data, and the advice."""
    columns = outlook_columns(outlook)
    table = across(columns)
    if console.measure(table, options=console.options.update(width=WIDEST)).maximum > console.width:
        table = down(columns)
    console.print(table)
    console.print()
    for line in [*explanation(outlook), *constant_lines(estimates), skew_line(outlook)]:
        console.print(f" {line}", soft_wrap=True)
    console.print()
    for line in [*cautions(scenario, outlook), outlook.advice.sentence]:
        console.print(f" {line}", soft_wrap=True)


def outlook_columns(outlook: Outlook) -> list[Column]:
    rows = outlook.forecasts
    bounds = [row.bound for row in rows]
    return [
        ("plan", "", [row.objective for row in rows]),
        ("algorithm", "", [row.algorithm for row in rows]),
        ("tours", "slots", [tours_text(row) for row in rows]),
        ("best", "rate", [f"{row.rate:.2e}" for row in rows]),
        ("start", "", short([bound.start + bound.first_tour for bound in bounds])),
        ("delay", "", short([bound.delay for bound in bounds])),
        ("noise", "", short([bound.noise for bound in bounds])),
        ("bound", "", short([bound.total for bound in bounds])),
        (f"until {outlook.target:.3g}", "slots", [f"{row.slots:,}" for row in rows]),
        ("alike", "slots", [f"{row.slots_alike:,}" for row in rows]),
    ]


def tours_text(row: Forecast) -> str:
    """All of them, or of many the shortest and the longest."""
    slots = row.tours.slots
    if len(slots) > MOST_TOURS:
        return f"{min(slots):.3g} to {max(slots):.3g}"
    return " ".join(f"{each:.3g}" for each in slots)


def short(values: Sequence[float]) -> list[str]:
    return column(values, digits=4)


def explanation(outlook: Outlook) -> list[str]:
    return [
        f"bound: of the mean of |grad f|² over {outlook.horizon:,} slots, with the rate that makes "
        "it smallest: Theorem 1 for sync, Theorem 2 for async",
        f"until {outlook.target:.3g}: slots after which that bound can be at the target; alike: by "
        "Theorem 2 for both, as Theorem 1 has smaller factors",
    ]


def constant_lines(estimates: Estimates) -> list[str]:
    named = [
        ("L", estimates.smoothness, "Hessian-vector products"),
        ("G", estimates.gradient, "mini-batches"),
        ("sigma", estimates.noise, "mini-batches"),
    ]
    return [
        *(f"{name} {estimate_text(each, what)}" for name, each, what in named),
        f"f(x⁰) - f* at most {estimates.start_gap:.3g}, "
        f"|grad f(x⁰)|² {estimates.start_gradient:.3g}",
    ]


def estimate_text(estimate: Estimate, what: str) -> str:
    spread = f"on average {estimate.mean:.3g} ± {estimate.deviation:.2g}"
    return f"{estimate.value:.3g} at most, {spread}, over {estimate.samples:,} {what}"


def skew_line(outlook: Outlook) -> str:
    plans = ", ".join(f"{name} {skew.mean:.2f}" for name, skew in outlook.skews.items())
    return f"skew of labels from transporter to transporter (total variation): {plans}"


def cautions(scenario: Scenario, outlook: Outlook) -> list[str]:
    """What the theorems do not say."""
    lines = []
    limit, rate = outlook.constants.largest_rate, outlook.learning_rate
    if rate > limit:
        lines.append(f"learning.learning_rate {rate:g} is above 1/L = {limit:.3g}: not covered.")
    if min(row.bound.total for row in outlook.forecasts) > outlook.trivial:
        lines.append(
            f"After {outlook.horizon:,} slots all bounds are above G² = {outlook.trivial:.3g}, "
            "which no gradient exceeds: compare them, do not rely on them."
        )
    return lines
