"""CSV text -> rows of cells, and cells -> numbers, with errors that name the line."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator

from flexpress.errors import InputError
from flexpress.scenario.complaints import show_value
from flexpress.scenario.units import NUMBER

NUMBER_CELL = re.compile(NUMBER, re.ASCII)

Row = tuple[int, list[str]]
"""The line number, counted from 1, and the cells."""


def read_rows(text: str, source: str) -> Iterator[Row]:
    """The lines that are not blank, without spaces around the cells."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if any(cells):
                yield reader.line_num, cells
    except csv.Error as error:
        raise InputError(f"{source}: line {reader.line_num}: not valid CSV: {error}") from None


def is_number(cell: str) -> bool:
    return NUMBER_CELL.fullmatch(cell) is not None


def read_number(
    cell: str, name: str, unit: str, check: Callable[[float], float], where: str
) -> float:
    try:
        if not is_number(cell):
            raise ValueError(f"must be a finite number ({unit})")
        return check(float(cell))
    except ValueError as error:
        raise InputError(f"{where}: {name} = {show_value(cell)}: {error}") from None
