"""One key of a TOML text set or removed; comments and everything else stay as they are.

The files are scenarios: keys at the top, then tables of keys. Python's own reader proves every
edit: the new text has to say what the old one said, but for this key.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Any

from flexpress.errors import InputError
from flexpress.scenario.toml import write_document, write_key, write_value

_HEADER = re.compile(r"^[ \t]*\[[ \t]*([\w.\"'-]+)[ \t]*\][ \t]*(?:#.*)?$", re.MULTILINE)


def set_key(text: str, table: str, key: str, value: object | None) -> str:
    """The text in which `key` of `[table]` has this value; `None` removes it.

    `table` is "" for the keys at the top.
    """
    wanted = _changed(tomllib.loads(text), table, key, value)
    start, end = _table_span(text, table)
    line = "" if value is None else _line(key, value)
    if start < 0:
        new = text.rstrip("\n") + f"\n\n[{table}]\n{line}" if line else text
    else:
        new = text[:start] + _with_line(text[start:end], key, line) + text[end:]
    new = new.lstrip("\n")
    if _is(new, wanted):
        return new
    return write_document(wanted)  # laid out in a way that is not understood here: no comments


def _is(text: str, wanted: Mapping[str, object]) -> bool:
    try:
        return tomllib.loads(text) == wanted
    except tomllib.TOMLDecodeError:
        return False


def _changed(data: dict[str, Any], table: str, key: str, value: object | None) -> dict[str, Any]:
    """What the new text has to say, as the reader would give it."""
    if value is None and table and table not in data:
        return data
    section = data.setdefault(table, {}) if table else data
    if not isinstance(section, dict):
        raise InputError(f"{table}: must be a table of keys")
    if value is None:
        section.pop(key, None)
    else:
        section[key] = _as_read(key, value)
    return data


def _as_read(key: str, value: object) -> object:
    """The value as the reader gives it; InputError if TOML has none like it."""
    try:
        return tomllib.loads(_line(key, value))[key]
    except (tomllib.TOMLDecodeError, RecursionError):
        raise InputError(f"{key}: cannot be written to a scenario's file") from None


def _line(key: str, value: object) -> str:
    """The key as a scenario's file would have it, at the end of a line."""
    return write_document({key: value}) if not isinstance(value, Mapping) else _inline(key, value)


def _inline(key: str, value: Mapping[str, object]) -> str:
    return f"{write_key(key)} = {write_value(value)}\n"


def _table_span(text: str, table: str) -> tuple[int, int]:
    """From the line after the header to the next header; (-1, -1) if there is no such table."""
    headers = [match for match in _HEADER.finditer(text) if not _inside_value(text, match.start())]
    first = headers[0].start() if headers else len(text)
    if not table:
        return 0, first
    for number, match in enumerate(headers):
        if match[1] == table:
            following = headers[number + 1 :]
            end = following[0].start() if following else len(text)
            return min(match.end() + 1, len(text)), end
    return -1, -1


def _inside_value(text: str, place: int) -> bool:
    """Whether a line that looks like a header is a row of a list."""
    return _depth(text[:place]) > 0


def _depth(text: str) -> int:
    """Brackets that are open at the end, outside of strings and comments."""
    depth = 0
    for token in re.finditer(r"\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'|#[^\n]*|[\[\]{}]", text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token[0], 0)
    return depth


def _with_line(body: str, key: str, line: str) -> str:
    """The body of a table with this line instead of the key's, or after its last key."""
    names = rf"(?:{re.escape(key)}|\"{re.escape(key)}\"|'{re.escape(key)}')"
    for match in re.finditer(rf"^[ \t]*{names}[ \t]*=", body, re.MULTILINE):
        if _depth(body[: match.start()]) == 0:
            end, comment = _end_of_value(body, match.end())
            kept = f"{line[:-1]}{comment}\n" if line else ""
            return body[: match.start()] + kept + body[end:]
    keys = body.rstrip()
    rest = body[len(keys) :]
    joined = f"{keys}\n{line}" if keys else line
    return joined + (rest[1:] if keys and rest.startswith("\n") else rest if line else "")


def _end_of_value(body: str, start: int) -> tuple[int, str]:
    """Where the next line begins, and the comment behind the value, with the space before it."""
    position = start
    while True:
        end = body.find("\n", position)
        end = len(body) if end < 0 else end
        if _depth(body[start:end]) <= 0 or end == len(body):
            break
        position = end + 1
    last = (
        body[body.rfind("\n", start, end) + 1 : end] if "\n" in body[start:end] else body[start:end]
    )
    comment = re.search(r"^(?:\"(?:[^\"\\]|\\.)*\"|'[^']*'|[^\"'#])*?([ \t]*#.*)$", last)
    return min(end + 1, len(body)), comment[1] if comment else ""
