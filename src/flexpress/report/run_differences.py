"""In which settings runs differ: what a comparison of them is about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from flexpress.scenario import Scenario

NOT_GIVEN = "-"
LONGEST = 48  # letters of a value
TIMES = "\N{MULTIPLICATION SIGN}"


def differences(scenarios: Sequence[Scenario]) -> dict[str, list[str]]:
    """Keys in which not all are alike, each with a short text of every scenario's value."""
    every = [settings(scenario) for scenario in scenarios]
    keys = dict.fromkeys(key for found in every for key in found)
    values = {key: [found.get(key) for found in every] for key in keys}
    return {
        key: [NOT_GIVEN if value is None else short_text(value) for value in own]
        for key, own in values.items()
        if any(value != own[0] for value in own)
    }


def settings(scenario: Scenario) -> dict[str, object]:
    """All values by their dotted keys, but not where the data lie."""
    return dict(flat(scenario.replace(learning={"data_dir": None}).to_dict()))


def flat(section: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    for key, value in section.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def short_text(value: object) -> str:
    """Lists of equal values are counted; what is long is cut."""
    if isinstance(value, list | tuple) and len(value) > 1 and all(v == value[0] for v in value):
        return f"{len(value)} {TIMES} {short_text(value[0])}"
    if isinstance(value, list | tuple):
        text = ", ".join(map(short_text, value))
    else:
        text = f"{value:g}" if isinstance(value, float) else str(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
