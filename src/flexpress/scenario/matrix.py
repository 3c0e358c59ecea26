"""A distance matrix of the user's own: metres from node to node, the server first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from pydantic import PlainSerializer, PlainValidator

from flexpress.arrays import FloatArray
from flexpress.scenario.section import KeyedError
from flexpress.scenario.units import LENGTH

LARGEST_DISTANCE = 1e10

Flaw = tuple[int, int, str]
"""Row, column, what is wrong with the entry."""


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


def find_flaw(entries: FloatArray) -> Flaw | None:
    """The first entry that is no distance; from a node to itself it is 0."""
    faults = [
        (~np.isfinite(entries), "must be a finite number (m)"),
        (entries < 0, "must be at least 0 (m)"),
        (entries > LARGEST_DISTANCE, f"must be at most {LARGEST_DISTANCE:g} (m)"),
        (np.eye(len(entries), dtype=bool) & (entries != 0), "must be 0: from a node to itself"),
    ]
    for bad, message in faults:
        if bad.any():
            row, column = np.argwhere(bad)[0].tolist()
            return row, column, message
    return None


def read_matrix(value: object) -> Matrix:
    """A list of rows, as it stands in the scenario file."""
    if isinstance(value, Matrix):
        return value
    if not isinstance(value, list | tuple) or not value:
        raise ValueError("must be a list of rows, or the name of a file")
    entries = np.array([_row(i, row, len(value)) for i, row in enumerate(value)])
    flaw = find_flaw(entries)
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


Distances = Annotated[Matrix, PlainValidator(read_matrix), PlainSerializer(Matrix.rows)]
