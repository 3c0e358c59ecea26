"""Clients from a CSV file: the columns id, x, y (metres) or id, lat, lon (degrees), in any order.

Columns may have other usual names, in upper or lower case. The columns altitude (metres above sea
level) and name are optional; others are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from flexpress.errors import InputError
from flexpress.scenario.fields import (
    LatLon,
    Place,
    client_id,
    coordinate,
    height,
    label_or_blank,
    latitude,
    longitude,
)
from flexpress.scenario.table import decimal_sign, read_number, read_table
from flexpress.scenario.validation_errors import show_value

_METRES = ("id", "x", "y")
_DEGREES = ("id", "lat", "lon")
_OPTIONAL = ("altitude", "name")
_NUMBERS = ("x", "y", "lat", "lon", "altitude")

_OTHER_NAMES: Mapping[str, Sequence[str]] = {
    "id": (
        "client",
        "client id",
        "sensor",
        "sensor id",
        "station",
        "station id",
        "node",
        "node id",
    ),
    "x": ("easting",),
    "y": ("northing",),
    "lat": ("latitude",),
    "lon": ("lng", "long", "longitude"),
    "altitude": ("alt", "elevation"),
    "name": ("label",),
}
"""Other names of columns."""

_UNITS = {"m": _NUMBERS[:2] + _NUMBERS[4:], "deg": _NUMBERS[2:4], "°": _NUMBERS[2:4]}
"""Units in brackets after a name: "x [m]". With any other unit the column is ignored."""

_Cells = dict[str, str]
"""The cells of one line by the name of their column."""


def parse_sensors(text: str, source: str, geographic: bool) -> dict[str, object]:
    """The CSV text as the keys `clients`, `ids`, `names`, `altitudes` of `[network]`."""
    table = read_table(text, source)
    (header_line, header), *rows = table.rows or [(1, [])]
    needed = _DEGREES if geographic else _METRES
    columns = _columns(header, needed, f"{source}: line {header_line}")
    lines: dict[str, _Cells] = {}
    for line, row in rows:
        where = f"{source}: line {line}"
        if len(row) != len(header):
            raise InputError(f"{where}: {len(row)} cells, but the header has {len(header)} columns")
        lines[where] = {name: row[column] for name, column in columns.items()}
    if not lines:
        needs = ",".join(needed)
        raise InputError(f"{source}: no clients; give at least one line {needs} below the header")
    numbers = (
        ((where, name), cells[name])
        for where, cells in lines.items()
        for name in _NUMBERS
        if name in cells
    )
    sign = decimal_sign(numbers, table.separator, ": ".join)
    ids = _ids(lines)
    return client_keys(ids, [_client(cells, sign, where) for where, cells in lines.items()])


def client_keys(ids: Sequence[object], clients: Sequence[Sequence[object]]) -> dict[str, object]:
    """Place, name and altitude of each client as keys of `[network]`; blank lists are omitted."""
    places, names, altitudes = (list(column) for column in zip(*clients, strict=True))
    keys: dict[str, object] = {"clients": places, "ids": list(ids)}
    if any(names):
        keys["names"] = names
    if any(altitude != "" for altitude in altitudes):
        keys["altitudes"] = altitudes
    return keys


def _columns(header: list[str], needed: Sequence[str], where: str) -> dict[str, int]:
    """The position of each column that we read."""
    known = [_known_name(cell) for cell in header]
    found = show_value(",".join(header))
    if "id" not in known:  # then the names serve as ids
        known = ["id" if name == "name" else name for name in known]
    for name in needed:
        if name not in known:
            raise InputError(
                f'{where}: column "{name}" is missing in {found}; '
                f"must be {','.join(needed)}{_hint(known, needed)}"
            )
    used = [name for name in (*needed, *_OPTIONAL) if name in known]
    for name in used:
        if known.count(name) != 1:
            alike = [cell for cell, meaning in zip(header, known, strict=True) if meaning == name]
            raise InputError(f"{where}: {_twice(name, alike)} in {found}; give it once")
    return {name: known.index(name) for name in used}


def _known_name(cell: str) -> str:
    """Our name for the column; "" if we do not read it."""
    text, _, unit = re.fullmatch(r"(.*?)\s*([(\[](.*)[)\]])?", cell.lower(), re.DOTALL).groups()  # type: ignore[union-attr]  # it matches everything
    word = re.sub(r"[\s_-]+", " ", text)
    for name, others in _OTHER_NAMES.items():
        if word == name or word in others:
            return name if unit is None or name in _UNITS.get(unit.strip(), ()) else ""
    return ""


def _twice(name: str, alike: list[str]) -> str:
    if len({cell.lower() for cell in alike}) == 1:
        return f'column "{name}" stands twice'
    return f'columns {" and ".join(show_value(cell) for cell in alike)} both mean "{name}"'


def _hint(known: list[str], needed: Sequence[str]) -> str:
    """The reason, if metres and degrees are mixed."""
    other = _METRES if needed == _DEGREES else _DEGREES
    if not set(other) <= set(known):
        return ""
    server = "{ lat, lon }" if needed == _DEGREES else "[x, y] in metres"
    return f", since network.server is {server}"


def _ids(lines: Mapping[str, _Cells]) -> list[int | str]:
    first: dict[str, str] = {}
    for where, cells in lines.items():
        other = first.setdefault(cells["id"], where)
        if other != where:
            line = other.rpartition(": ")[2]
            raise InputError(f"{where}: id = {cells['id']}: also on {line}; give each id once")
    return [_id(cells["id"], where) for where, cells in lines.items()]


def _id(text: str, where: str) -> int | str:
    """Whole numbers become int; "007" stays text, since as a number it would lose its zeros."""
    if re.fullmatch(r"0|-?[1-9][0-9]{0,17}", text):
        return int(text)
    try:
        return client_id(text)
    except ValueError as error:
        raise InputError(f"{where}: id = {show_value(text)}: {error}") from None


def _client(cells: _Cells, sign: str, where: str) -> list[object]:
    """Place, name, altitude."""
    altitude = cells.get("altitude", "")
    return [
        _place(cells, sign, where),
        _name(cells, where),
        altitude and read_number(altitude, sign, "altitude", "m", height, where),
    ]


def _place(cells: _Cells, sign: str, where: str) -> Place:
    if "lat" in cells:
        lat = read_number(cells["lat"], sign, "lat", "degrees", latitude, where)
        return LatLon(lat, read_number(cells["lon"], sign, "lon", "degrees", longitude, where))
    x, y = (read_number(cells[name], sign, name, "m", coordinate, where) for name in ("x", "y"))
    return x, y


def _name(cells: _Cells, where: str) -> str:
    try:
        return label_or_blank(cells.get("name", ""))
    except ValueError as error:
        raise InputError(f"{where}: name = {show_value(cells['name'])}: {error}") from None
