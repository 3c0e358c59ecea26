"""Clients from a CSV file with the columns id, x and y (metres), in any order."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from flexpress.errors import InputError
from flexpress.scenario.complaints import show_value
from flexpress.scenario.files import read_text
from flexpress.scenario.quantities import client_id, coordinate, label
from flexpress.scenario.units import NUMBER

COLUMNS = ("id", "x", "y")

Row = tuple[int, list[str]]
"""The line number, counted from 1, and the cells."""


def list_clients(data: Mapping[str, object], base_dir: Path, source: str) -> Mapping[str, object]:
    """The scenario's data with the clients of the CSV file, if it names one, in their place."""
    network = data.get("network")
    if not isinstance(network, Mapping) or not isinstance(network.get("clients"), str):
        return data
    key = f"network.clients = {show_value(network['clients'])}"
    if "ids" in network:
        raise InputError(f"{source}: {key}: the ids stand in the CSV file; remove network.ids")
    try:
        path = base_dir / label(network["clients"])
        text = read_text(path)
    except (InputError, ValueError) as error:
        raise InputError(f"{source}: {key}: {error}") from None
    return {**data, "network": {**network, **parse_sensors(text, str(path))}}


def parse_sensors(text: str, source: str) -> dict[str, list[object]]:
    """The CSV text as the keys `clients` and `ids` of the `[network]` section."""
    rows = _rows(text, source)
    header_line, header = next(rows, (1, []))
    columns = _columns([cell.lower() for cell in header], f"{source}: line {header_line}")
    ids: list[object] = []
    positions: list[object] = []
    lines: dict[str, int] = {}
    for line, row in rows:
        where = f"{source}: line {line}"
        if len(row) != len(header):
            raise InputError(f"{where}: {len(row)} cells, but the header has {len(header)} columns")
        cell = {name: row[column] for name, column in columns.items()}
        ids.append(_id(cell["id"], where))
        first = lines.setdefault(cell["id"], line)
        if first != line:
            raise InputError(f"{where}: id = {cell['id']}: also on line {first}; give each id once")
        positions.append([_metres(name, cell[name], where) for name in ("x", "y")])
    if not ids:
        raise InputError(f"{source}: no clients; give at least one line id,x,y below the header")
    return {"clients": positions, "ids": ids}


def _rows(text: str, source: str) -> Iterator[Row]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if any(cells):
                yield reader.line_num, cells
    except csv.Error as error:
        raise InputError(f"{source}: line {reader.line_num}: not valid CSV: {error}") from None


def _columns(header: list[str], where: str) -> dict[str, int]:
    """Where each of id, x, y stands; other columns are left alone."""
    for name in COLUMNS:
        if header.count(name) != 1:
            problem = "is missing" if name not in header else "stands twice"
            found = show_value(",".join(header))
            raise InputError(f'{where}: column "{name}" {problem} in {found}; must be id,x,y')
    return {name: header.index(name) for name in COLUMNS}


def _id(text: str, where: str) -> int | str:
    """Whole numbers become int; "007" stays text, since as a number it would lose its zeros."""
    if re.fullmatch(r"0|-?[1-9][0-9]{0,17}", text):
        return int(text)
    try:
        return client_id(text)
    except ValueError as error:
        raise InputError(f"{where}: id = {show_value(text)}: {error}") from None


def _metres(name: str, text: str, where: str) -> float:
    try:
        if not re.fullmatch(NUMBER, text, re.ASCII):
            raise ValueError("must be a finite number (m)")
        return coordinate(float(text))
    except ValueError as error:
        raise InputError(f"{where}: {name} = {show_value(text)}: {error}") from None
