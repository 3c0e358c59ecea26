"""What clients are called in tables, and texts cut to a width."""

from __future__ import annotations

import unicodedata
from collections import Counter

from flexpress.scenario import Scenario

ELLIPSIS = "…"


def client_names(scenario: Scenario) -> list[str]:
    """In the order of the ids. Where several share a name, the id stands behind it."""
    names = scenario.client_names
    number = Counter(names)
    pairs = zip(names, scenario.client_ids, strict=True)
    return [name if number[name] == 1 else f"{name} ({client})" for name, client in pairs]


def shortened(text: str, most: int) -> str:
    """At most so many columns, the last of them an ellipsis if something was cut."""
    width = 0
    for end, sign in enumerate(text):
        width += columns(sign)
        if width > most:
            cut = text[:end]
            while cut and columns(cut) + 1 > most:
                cut = cut[:-1]
            return cut.rstrip() + ELLIPSIS
    return text


def columns(text: str) -> int:
    """Chinese signs are as wide as two letters; accents, which stand on a letter, count too."""
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text)
