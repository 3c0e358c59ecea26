"""A distance matrix given by the user: metres from node to node, the server first.

It stands in the scenario as a list of rows, or in a file: CSV, plain or with labels, or NumPy's
.npy.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Annotated

import numpy as np
from pydantic import PlainSerializer, PlainValidator

from flexpress.arrays import FloatArray
from flexpress.errors import InputError
from flexpress.scenario.section import KeyedError
from flexpress.scenario.table import Row, decimal_sign, is_number, read_table, to_number
from flexpress.scenario.units import LENGTH
from flexpress.scenario.validation_errors import show_value

_LARGEST_DISTANCE = 1e10

_SERVER = "server"
"""The label of the first row and column."""


class Matrix:
    """A square, read-only array that compares by content."""

    def __init__(self, entries: FloatArray) -> None:
        entries.setflags(write=False)
        self.entries = entries

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Matrix) and np.array_equal(self.entries, other.entries)

    def __hash__(self) -> int:
        return hash(self.entries.tobytes())

    def __len__(self) -> int:
        return len(self.entries)

    def rows(self) -> list[list[float]]:
        rows: list[list[float]] = self.entries.tolist()
        return rows


def parse_npy(content: bytes, source: str) -> Matrix:
    try:
        array = np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
    except Exception as error:  # NumPy raises many kinds for damaged files
        text = " ".join(str(error).split()) or type(error).__name__
        raise InputError(f"{source}: not a readable .npy file: {text}") from None
    if array.dtype.kind not in "iuf":
        raise InputError(f"{source}: entries are {array.dtype}: must be real numbers (m)")
    if array.ndim != 2 or array.shape[0] != array.shape[1] or not len(array):
        shape = " x ".join(str(n) for n in array.shape) or "a single number"
        raise InputError(f"{source}: {shape}: must be a square matrix")
    entries = array.astype(np.float64)
    flaw = _find_flaw(entries)
    if flaw:
        row, column, message = flaw
        raise InputError(f"{source}: [{row}, {column}] = {entries[row, column]}: {message}")
    return Matrix(entries)


def parse_csv(text: str, source: str, ids: Sequence[object]) -> Matrix:
    """Labels, if the file has any, must be those of the nodes: server, then the ids in order."""
    table = read_table(text, source)
    rows = table.rows
    if not rows:
        raise InputError(f"{source}: empty; give one row of metres for each node, server first")
    while len(rows[0][1]) > 1 and not any("".join(cells[-1:]) for _, cells in rows):
        rows = [(line, cells[:-1]) for line, cells in rows]  # separators at the ends of all lines
    labelled = not is_number(rows[0][1][0])
    if labelled:
        _check_labels(rows, [_SERVER, *(str(client) for client in ids)], source)
        rows = [(line, cells[1:]) for line, cells in rows[1:]]
    cells = _Cells(rows, source, 2 if labelled else 1)
    numbers = (((i, j), cell) for i, row in enumerate(rows) for j, cell in enumerate(row[1]))
    sign = decimal_sign(numbers, table.separator, lambda key: cells.where(*key))
    entries = np.array([cells.numbers(i, sign) for i in range(len(rows))])
    flaw = _find_flaw(entries)
    if flaw:
        i, j, message = flaw
        raise InputError(f"{cells.shown(i, j)}: {message}")
    return Matrix(entries)


@dataclass(frozen=True)
class _Cells:
    """The rows of a CSV file without labels, and where they stand in it."""

    rows: list[Row]
    source: str
    first_column: int

    def numbers(self, i: int, sign: str) -> list[float]:
        line, cells = self.rows[i]
        if len(cells) != len(self.rows):
            raise InputError(
                f"{self.source}: line {line}: {len(cells)} entries in a matrix of "
                f"{len(self.rows)} rows: must be square"
            )
        numbers = []
        for j, cell in enumerate(cells):
            try:
                numbers.append(to_number(cell, sign, "m"))
            except ValueError as error:
                raise InputError(f"{self.shown(i, j)}: {error}") from None
        return numbers

    def where(self, i: int, j: int) -> str:
        return f"{self.source}: line {self.rows[i][0]}, column {j + self.first_column}"

    def shown(self, i: int, j: int) -> str:
        """Where an entry stands and what it is, for errors."""
        return f"{self.where(i, j)} = {show_value(self.rows[i][1][j])}"


def _check_labels(rows: list[Row], labels: list[str], source: str) -> None:
    line, header = rows[0]
    _compare(header[1:], labels, f"{source}: line {line}")
    _compare([cells[0] for _, cells in rows[1:]], labels, f"{source}: first column")


def _compare(found: list[str], expected: list[str], where: str) -> None:
    for place, (label, right) in enumerate(zip_longest(found, expected), start=1):
        if label != right and not (place == 1 and str(label).lower() == _SERVER):
            shown = "missing" if label is None else show_value(label)
            needed = "no such label" if right is None else show_value(right)
            raise InputError(
                f"{where}: label {place} is {shown}: must be {needed}; "
                "the order is server, then the clients as they are listed"
            )


def _read_rows(value: object) -> Matrix:
    """A list of rows, as it stands in the scenario file."""
    if isinstance(value, Matrix):
        return value
    if not isinstance(value, list | tuple) or not value:
        raise ValueError("must be a list of rows, or the name of a file")
    entries = np.array([_row(i, row, len(value)) for i, row in enumerate(value)])
    flaw = _find_flaw(entries)
    if flaw:
        row, column, message = flaw
        raise KeyedError(f"{row}.{column}", message)
    return Matrix(entries)


def _row(i: int, row: object, size: int) -> list[float]:
    if not isinstance(row, Sequence) or len(row) != size:
        found = f"{len(row)} entries" if isinstance(row, Sequence) else "no list"
        raise KeyedError(str(i), f"{found} in a matrix of {size} rows: must be square")
    return [_entry(f"{i}.{j}", value) for j, value in enumerate(row)]


def _entry(key: str, value: object) -> float:
    if type(value) is float:  # the common case, a million times
        return value
    with KeyedError.under(key):
        return LENGTH.parse(value)


def _find_flaw(entries: FloatArray) -> tuple[int, int, str] | None:
    """Row and column of the first entry that is not a distance, and what is wrong with it."""
    faults = [
        (~np.isfinite(entries), "must be a finite number (m)"),
        (entries < 0, "must be at least 0 (m)"),
        (entries > _LARGEST_DISTANCE, f"must be at most {_LARGEST_DISTANCE:g} (m)"),
        (np.eye(len(entries), dtype=bool) & (entries != 0), "must be 0: from a node to itself"),
    ]
    for bad, message in faults:
        if bad.any():
            row, column = np.argwhere(bad)[0].tolist()
            return row, column, message
    return None


Distances = Annotated[Matrix, PlainValidator(_read_rows), PlainSerializer(Matrix.rows)]
