"""How figures are written for people: units chosen to fit, as many decimals as tell something."""

from __future__ import annotations

import math
from collections.abc import Sequence

from flexpress.planning import Plan
from flexpress.scenario import Objective

KILOMETRES_FROM = 10e3
"""Metres from which lengths are written in kilometres."""

TIME_UNITS = (("s", 1.0), ("min", 60.0), ("h", 3600.0), ("days", 86400.0))
UNITS_AT_LEAST = 3
"""Of a unit: shorter times are written in the unit below."""

POWERS_FROM = 1e12

OPTIMAL = 1e-6
"""A gap so small that a plan counts as optimal."""

COST_UNITS: dict[Objective, str] = {"minmax": "s", "sws": "s²", "total": "s"}


def column(values: Sequence[float], digits: int = 4) -> list[str]:
    """Numbers of one column, all with the decimals that give the largest so many digits.

    If that is longer than any figure that people read, all are powers of ten.
    """
    largest = max(map(abs, values), default=0.0)
    if POWERS_FROM <= largest < math.inf:
        return [f"{value:.{digits - 1}e}" for value in values]
    places = decimals(largest, digits)
    return [f"{value:,.{places}f}" for value in values]


def decimals(largest: float, digits: int) -> int:
    """Decimals of a number of that size that is to show so many digits, 6 at most."""
    if largest == 0 or not math.isfinite(largest):
        return 0
    return min(max(digits - 1 - math.floor(math.log10(largest)), 0), 6)


def length_unit(metres: float) -> tuple[str, float]:
    """The unit for lengths up to this one, and its metres."""
    return ("km", 1e3) if metres >= KILOMETRES_FROM else ("m", 1.0)


def time_unit(seconds: float) -> tuple[str, float]:
    """The unit for times up to this one, and its seconds."""
    fits = (unit for unit in reversed(TIME_UNITS) if seconds >= UNITS_AT_LEAST * unit[1])
    return next(fits, TIME_UNITS[0])


def cost_text(objective: Objective, cost: float) -> str:
    """The objective's value with its unit: 784 s², 27.2111 s, 5,963,412 s²."""
    text = column([cost], digits=6)[0]
    text = text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text
    return f"{text} {COST_UNITS[objective]}"


def used_text(energy: float, budget: float | None) -> str:
    """Percent of the budget; rounded down, since 100 % means that nothing is left."""
    return "" if budget is None else f"{math.floor(100 * energy / budget * (1 + 1e-9))} %"


def energy_columns(plan: Plan) -> tuple[list[str], list[str]]:
    """Energies and budgets in kJ; no budgets if they are unlimited."""
    energies = [tour.energy / 1e3 for tour in plan.transporters]
    budgets = [tour.budget / 1e3 for tour in plan.transporters if tour.budget is not None]
    texts = column([*energies, *budgets])
    return texts[: len(energies)], texts[len(energies) :]


def gap_text(gap: float) -> str:
    """Per cent, rounded up: a smaller gap than the proven one must not be claimed."""
    return "0 %: optimal" if gap <= OPTIMAL else f"{math.ceil(1e4 * gap) / 100:.2f} %"
