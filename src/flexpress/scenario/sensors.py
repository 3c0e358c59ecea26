"""Clients from a CSV file: the columns id, x, y (metres) or id, lat, lon (degrees), in any order.

The columns altitude (metres above sea level) and name may be there too; others are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from flexpress.errors import InputError
from flexpress.scenario.complaints import show_value
from flexpress.scenario.places import LatLon, Place, latitude, longitude
from flexpress.scenario.quantities import client_id, coordinate, height, label_or_blank
from flexpress.scenario.table import read_number, read_rows

METRES = ("id", "x", "y")
DEGREES = ("id", "lat", "lon")
OPTIONAL = ("altitude", "name")

Cells = dict[str, str]
"""The cells of one line by the name of their column."""


def parse_sensors(text: str, source: str, geographic: bool) -> dict[str, object]:
    """The CSV text as the keys `clients`, `ids`, `names`, `altitudes` of `[network]`."""
    rows = read_rows(text, source)
    header_line, header = next(rows, (1, []))
    needed = DEGREES if geographic else METRES
    columns = _columns([cell.lower() for cell in header], needed, f"{source}: line {header_line}")
    clients: dict[int | str, list[object]] = {}
    lines: dict[str, int] = {}
    for line, row in rows:
        where = f"{source}: line {line}"
        if len(row) != len(header):
            raise InputError(f"{where}: {len(row)} cells, but the header has {len(header)} columns")
        cells = {name: row[column] for name, column in columns.items()}
        first = lines.setdefault(cells["id"], line)
        if first != line:
            raise InputError(
                f"{where}: id = {cells['id']}: also on line {first}; give each id once"
            )
        client = _id(cells["id"], where)
        clients[client] = [_place(cells, where), _name(cells, where), _altitude(cells, where)]
    if not clients:
        needs = ",".join(needed)
        raise InputError(f"{source}: no clients; give at least one line {needs} below the header")
    return as_keys(list(clients), list(clients.values()))


def as_keys(ids: Sequence[object], clients: Sequence[Sequence[object]]) -> dict[str, object]:
    """Place, name and altitude of each client as lists; a list of blanks is left out."""
    places, names, altitudes = (list(column) for column in zip(*clients, strict=True))
    keys: dict[str, object] = {"clients": places, "ids": list(ids)}
    if any(names):
        keys["names"] = names
    if any(altitude != "" for altitude in altitudes):
        keys["altitudes"] = altitudes
    return keys


def _columns(header: list[str], needed: Sequence[str], where: str) -> dict[str, int]:
    """Where each column stands that we read."""
    for name in needed:
        if name not in header:
            found = show_value(",".join(header))
            hint = _hint(header, needed)
            raise InputError(
                f'{where}: column "{name}" is missing in {found}; must be {",".join(needed)}{hint}'
            )
    used = [name for name in (*needed, *OPTIONAL) if name in header]
    for name in used:
        if header.count(name) != 1:
            found = show_value(",".join(header))
            raise InputError(f'{where}: column "{name}" stands twice in {found}; give it once')
    return {name: header.index(name) for name in used}


def _hint(header: list[str], needed: Sequence[str]) -> str:
    """What to say to someone who mixes metres and degrees."""
    other = METRES if needed == DEGREES else DEGREES
    if not set(other) <= set(header):
        return ""
    server = "{ lat, lon }" if needed == DEGREES else "[x, y] in metres"
    return f", since network.server is {server}"


def _id(text: str, where: str) -> int | str:
    """Whole numbers become int; "007" stays text, since as a number it would lose its zeros."""
    if re.fullmatch(r"0|-?[1-9][0-9]{0,17}", text):
        return int(text)
    try:
        return client_id(text)
    except ValueError as error:
        raise InputError(f"{where}: id = {show_value(text)}: {error}") from None


def _place(cells: Cells, where: str) -> Place:
    if "lat" in cells:
        lat = read_number(cells["lat"], "lat", "degrees", latitude, where)
        return LatLon(lat, read_number(cells["lon"], "lon", "degrees", longitude, where))
    x, y = (read_number(cells[name], name, "m", coordinate, where) for name in ("x", "y"))
    return x, y


def _name(cells: Cells, where: str) -> str:
    try:
        return label_or_blank(cells.get("name", ""))
    except ValueError as error:
        raise InputError(f"{where}: name = {show_value(cells['name'])}: {error}") from None


def _altitude(cells: Cells, where: str) -> float | str:
    """Metres above sea level; blank if unknown."""
    text = cells.get("altitude", "")
    return text and read_number(text, "altitude", "m", height, where)
