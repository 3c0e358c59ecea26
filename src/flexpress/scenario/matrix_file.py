"""A distance matrix from a file: CSV, plain or with labels, or NumPy's .npy."""

from __future__ import annotations

import io
from collections.abc import Sequence
from itertools import zip_longest

import numpy as np

from flexpress.arrays import FloatArray
from flexpress.errors import InputError
from flexpress.scenario.matrix import Matrix, find_flaw
from flexpress.scenario.table import Row, decimal_sign, is_number, read_table, to_number
from flexpress.scenario.validation_errors import show_value

SERVER = "server"
"""The label of the first row and column."""


def parse_npy(content: bytes, source: str) -> Matrix:
    try:
        array = np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
    except Exception as error:  # whatever bytes make NumPy stumble over
        text = " ".join(str(error).split()) or type(error).__name__
        raise InputError(f"{source}: not a readable .npy file: {text}") from None
    if array.dtype.kind not in "iuf":
        raise InputError(f"{source}: entries are {array.dtype}: must be real numbers (m)")
    if array.ndim != 2 or array.shape[0] != array.shape[1] or not len(array):
        shape = " x ".join(str(n) for n in array.shape) or "a single number"
        raise InputError(f"{source}: {shape}: must be a square matrix")
    entries = array.astype(np.float64)
    flaw = find_flaw(entries)
    if flaw:
        row, column, message = flaw
        raise InputError(f"{source}: [{row}, {column}] = {entries[row, column]}: {message}")
    return Matrix(entries)


def parse_csv(text: str, source: str, ids: Sequence[object]) -> Matrix:
    """Labels, if there are any, must be those of the nodes: server, then the ids in order."""
    table = read_table(text, source)
    rows = table.rows
    if not rows:
        raise InputError(f"{source}: empty; give one row of metres for each node, server first")
    while len(rows[0][1]) > 1 and not any("".join(cells[-1:]) for _, cells in rows):
        rows = [(line, cells[:-1]) for line, cells in rows]  # separators at the ends of all lines
    skipped = 0
    if not is_number(rows[0][1][0]):
        _check_labels(rows, [SERVER, *(str(client) for client in ids)], source)
        rows, skipped = [(line, cells[1:]) for line, cells in rows[1:]], 1
    numbers = (((row, j), cell) for row in rows for j, cell in enumerate(row[1]))
    sign = decimal_sign(numbers, table.separator, lambda key: _where(*key, skipped, source))
    entries = np.array([_numbers(row, len(rows), sign, skipped, source) for row in rows])
    flaw = find_flaw(entries)
    if flaw:
        i, j, message = flaw
        raise InputError(f"{_cell(rows[i], j, skipped, source)}: {message}")
    return Matrix(entries)


def _check_labels(rows: list[Row], labels: list[str], source: str) -> None:
    line, header = rows[0]
    _compare(header[1:], labels, f"{source}: line {line}")
    _compare([cells[0] for _, cells in rows[1:]], labels, f"{source}: first column")


def _compare(found: list[str], expected: list[str], where: str) -> None:
    for place, (label, right) in enumerate(zip_longest(found, expected), start=1):
        if label != right and not (place == 1 and str(label).lower() == SERVER):
            shown = "missing" if label is None else show_value(label)
            needed = "no such label" if right is None else show_value(right)
            raise InputError(
                f"{where}: label {place} is {shown}: must be {needed}; "
                "the order is server, then the clients as they are listed"
            )


def _numbers(row: Row, size: int, sign: str, skipped: int, source: str) -> FloatArray:
    line, cells = row
    if len(cells) != size:
        raise InputError(
            f"{source}: line {line}: {len(cells)} entries in a matrix of {size} rows: "
            "must be square"
        )
    numbers = []
    for j, cell in enumerate(cells):
        try:
            numbers.append(to_number(cell, sign, "m"))
        except ValueError as error:
            raise InputError(f"{_cell(row, j, skipped, source)}: {error}") from None
    return np.array(numbers)


def _cell(row: Row, j: int, skipped: int, source: str) -> str:
    """Where an entry stands and what it is, for errors."""
    return f"{_where(row, j, skipped, source)} = {show_value(row[1][j])}"


def _where(row: Row, j: int, skipped: int, source: str) -> str:
    return f"{source}: line {row[0]}, column {j + 1 + skipped}"
