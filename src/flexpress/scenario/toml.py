"""Writing scenarios as TOML: only the kinds of values that a scenario has."""

from __future__ import annotations

import json
from collections.abc import Mapping

from flexpress.scenario.units import Quantity

_BARE_KEY = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")


def write_document(data: Mapping[str, object]) -> str:
    """Plain keys first, then one table per mapping."""
    lines = [_line(key, value) for key, value in data.items() if not isinstance(value, Mapping)]
    for name, table in data.items():
        if isinstance(table, Mapping):
            lines += ["", f"[{name}]", *(_line(key, value) for key, value in table.items())]
    return "\n".join(lines) + "\n"


def write_value(value: object) -> str:
    """One value on one line, with its unit or in full precision: reading gives the same bits."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, Quantity) and value.text:
        return _quoted(value.text)
    if isinstance(value, float):
        return repr(float(value))
    if isinstance(value, list | tuple):
        return "[" + ", ".join(write_value(entry) for entry in value) + "]"
    if isinstance(value, Mapping):
        entries = (f"{write_key(str(key))} = {write_value(entry)}" for key, entry in value.items())
        return "{" + ", ".join(entries) + "}"
    return str(value)


def write_key(key: str) -> str:
    return key if key and _BARE_KEY.issuperset(key) else write_value(key)


def _quoted(text: str) -> str:
    """JSON's escapes are valid in TOML; other unprintable characters are escaped, too."""
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(c if c.isprintable() else f"\\U{ord(c):08X}" for c in quoted)


def _line(key: str, value: object) -> str:
    if isinstance(value, list | tuple) and value and isinstance(value[0], list | tuple | Mapping):
        entries = "".join(f"    {write_value(entry)},\n" for entry in value)
        return f"{key} = [\n{entries}]"
    return f"{key} = {write_value(value)}"
