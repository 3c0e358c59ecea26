"""Numbers and names as people read them: fitting units, sensible decimals, a limited width."""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Sequence

from flexpress.planning import Plan
from flexpress.scenario import Objective, RoundTripUnit, Scenario

_KILOMETRES_FROM = 10e3
"""Metres from which lengths are given in kilometres."""

_TIME_UNITS = (("s", 1.0), ("min", 60.0), ("h", 3600.0), ("days", 86400.0))
_UNITS_AT_LEAST = 3
"""Shorter times are given in the next smaller unit."""

_POWERS_FROM = 1e12

OPTIMAL = 1e-6
"""Plans with a smaller gap count as optimal."""

_ELLIPSIS = "…"


def column(values: Sequence[float], digits: int = 4) -> list[str]:
    """The numbers of one column with equal decimals; the largest has this many digits.

    Very large numbers are powers of ten.
    """
    largest = max(map(abs, values), default=0.0)
    if _POWERS_FROM <= largest < math.inf:
        return [f"{value:.{digits - 1}e}" for value in values]
    places = decimals(largest, digits)
    return [f"{value:,.{places}f}" for value in values]


def decimals(largest: float, digits: int) -> int:
    """The decimals with which a number of this size shows that many digits; 6 at most."""
    if largest == 0 or not math.isfinite(largest):
        return 0
    return min(max(digits - 1 - math.floor(math.log10(largest)), 0), 6)


def length_unit(metres: float) -> tuple[str, float]:
    """The unit for lengths up to this one, and its size in metres."""
    return ("km", 1e3) if metres >= _KILOMETRES_FROM else ("m", 1.0)


def time_unit(seconds: float) -> tuple[str, float]:
    """The unit for times up to this one, and its size in seconds."""
    fits = (unit for unit in reversed(_TIME_UNITS) if seconds >= _UNITS_AT_LEAST * unit[1])
    return next(fits, _TIME_UNITS[0])


def cost_text(objective: Objective, cost: float, round_trips: RoundTripUnit = "seconds") -> str:
    """The objective's value with its unit: 27.2111 s, 5,963,412 s², 7 slots, 1,893 slots²."""
    text = column([cost], digits=6)[0]
    text = text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text
    unit = "s" if round_trips == "seconds" else "slot" if text == "1" else "slots"
    return f"{text} {unit}{'²' if objective == 'sws' else ''}"


def used_text(energy: float, budget: float | None) -> str:
    """Per cent of the budget, rounded down: 100 % means that nothing is left."""
    return "" if budget is None else f"{math.floor(100 * energy / budget * (1 + 1e-9))} %"


def energy_columns(plan: Plan) -> tuple[list[str], list[str]]:
    """Energies and budgets in kJ; no budgets if they are unlimited."""
    energies = [tour.energy / 1e3 for tour in plan.transporters]
    budgets = [tour.budget / 1e3 for tour in plan.transporters if tour.budget is not None]
    texts = column([*energies, *budgets])
    return texts[: len(energies)], texts[len(energies) :]


def gap_text(gap: float) -> str:
    """Per cent, rounded up: a gap smaller than the proven one must not be claimed."""
    return "0 %: optimal" if gap <= OPTIMAL else f"{math.ceil(1e4 * gap) / 100:.2f} %"


def client_names(scenario: Scenario) -> list[str]:
    """One name per client; clients with the same name have their id after it."""
    names = scenario.client_names
    number = Counter(names)
    pairs = zip(names, scenario.client_ids, strict=True)
    return [name if number[name] == 1 else f"{name} ({client})" for name, client in pairs]


def shortened(text: str, most: int) -> str:
    """The text cut to this many columns, with an ellipsis at the end if it was longer."""
    width = 0
    for end, character in enumerate(text):
        width += columns(character)
        if width > most:
            cut = text[:end]
            while cut and columns(cut) + 1 > most:
                cut = cut[:-1]
            return cut.rstrip() + _ELLIPSIS
    return text


def columns(text: str) -> int:
    """The width in columns: two for Chinese characters, one for others and for accents."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)
