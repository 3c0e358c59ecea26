"""What clients and zones are called: whole names in tables, in pictures what can be drawn."""

from __future__ import annotations

from collections import Counter

from flexpress.scenario import Scenario

ZONE_LETTERS = 36


def client_names(scenario: Scenario) -> list[str]:
    """In the order of the ids. Where several share a name, the id stands behind it."""
    names = scenario.client_names
    number = Counter(names)
    pairs = zip(names, scenario.client_ids, strict=True)
    return [name if number[name] == 1 else f"{name} ({client})" for name, client in pairs]


def drawn_clients(scenario: Scenario) -> list[str]:
    """The same for pictures: of a name that no font can write, the id, or else the number."""
    from flexpress.report.fonts import shown

    pairs = zip(client_names(scenario), scenario.client_ids, strict=True)
    return [
        shown(name, shown(str(client), f"#{number}"))
        for number, (name, client) in enumerate(pairs, start=1)
    ]


def drawn_zones(scenario: Scenario) -> list[str]:
    """The names of the no-fly zones, blank for those without."""
    from flexpress.report.fonts import shown

    names = enumerate(scenario.zone_names, start=1)
    return [name and shown(name, f"zone {number}", ZONE_LETTERS) for number, name in names]
