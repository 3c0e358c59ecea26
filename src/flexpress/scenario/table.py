"""CSV text -> rows of cells, and cells -> numbers, with errors that name the line.

Spreadsheets write CSV in many ways: cells are separated by commas, semicolons or tabs, and numbers
have a decimal point or a decimal comma. The separator is found from the first line, the decimal
sign from the numbers.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from flexpress.errors import InputError
from flexpress.scenario.units import NUMBER
from flexpress.scenario.validation_errors import show_value

_NUMBER_CELL = re.compile(NUMBER, re.ASCII)
_WITH_POINT = re.compile(r"[+-]?\d*\.\d+(?:[eE][+-]?\d+)?", re.ASCII)
_WITH_COMMA = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?", re.ASCII)
_COMMA_THOUSANDS = re.compile(r"[+-]?\d{1,3},\d{3}", re.ASCII)
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(?:[.,'\u2019\s]\d{3})+(?:[.,]\d+)?")

_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_NAMED_SEPARATOR = re.compile(r'"?sep=([,;|\t])"?[,;\s]*', re.IGNORECASE)
"""Excel writes and reads this in the first line of some files."""

_LINES_SEARCHED = 100
"""Lines in which the first one that is not blank is looked for."""

_OTHER = {".": ",", ",": "."}

_Key = TypeVar("_Key")

Row = tuple[int, list[str]]
"""The line number, counted from 1, and the cells."""


@dataclass(frozen=True)
class Table:
    """The lines that are not blank, without spaces around the cells."""

    rows: list[Row]
    separator: str


def read_table(text: str, source: str) -> Table:
    separator, skipped = _separator(text)
    lines = io.StringIO(text, newline="")
    for _ in range(skipped):
        lines.readline()
    reader = csv.reader(lines, delimiter=separator, strict=True)
    rows: list[Row] = []
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if any(cells):
                rows.append((reader.line_num + skipped, cells))
    except csv.Error as error:
        line = reader.line_num + skipped
        raise InputError(f"{source}: line {line}: not valid CSV: {error}") from None
    return Table(rows, separator)


def decimal_sign(
    cells: Iterable[tuple[_Key, str]], separator: str, where: Callable[[_Key], str]
) -> str:
    """The decimal sign of all numbers, which are given as where they stand and their text.

    InputError if a number is ambiguous: "1.234" beside "0,5", or "1,234" between commas.
    """
    found: dict[str, str] = {}
    for key, cell in cells:
        if cell.isdigit():  # the common case, a million times
            continue
        if separator == "," and _COMMA_THOUSANDS.fullmatch(cell):
            raise InputError(
                f"{where(key)} = {show_value(cell)}: a decimal comma, or a thousands separator? "
                f"write {cell.replace(',', '.')} or {cell.replace(',', '')}"
            )
        for sign, pattern in ((".", _WITH_POINT), (",", _WITH_COMMA)):
            if sign not in found and sign in cell and pattern.fullmatch(cell):
                found[sign] = cell
                if len(found) > 1:
                    raise InputError(
                        f"{where(key)} = {show_value(cell)}: others have a decimal "
                        f"{'comma' if sign == '.' else 'point'}, such as {found[_OTHER[sign]]}; "
                        "write all numbers alike, without thousands separators"
                    )
    return next(iter(found), ".")


def is_number(cell: str) -> bool:
    return (_NUMBER_CELL.fullmatch(cell) or _WITH_COMMA.fullmatch(cell)) is not None


def to_number(cell: str, sign: str, unit: str) -> float:
    """ValueError if the cell is not a number; it says what to change."""
    plain = cell.replace(",", ".") if sign == "," else cell
    if _NUMBER_CELL.fullmatch(plain):
        return float(plain)
    if _THOUSANDS.fullmatch(cell):
        raise ValueError(f"must be a number ({unit}) without thousands separators")
    raise ValueError(f"must be a finite number ({unit})")


def read_number(
    cell: str, sign: str, name: str, unit: str, check: Callable[[float], float], where: str
) -> float:
    try:
        return check(to_number(cell, sign, unit))
    except ValueError as error:
        raise InputError(f"{where}: {name} = {show_value(cell)}: {error}") from None


def _separator(text: str) -> tuple[str, int]:
    """The separator, and the number of lines at the top that only name it.

    It is the most frequent one in the first line, outside of quotes. Commas within numbers do not
    count if another separator is present: "0,5;1,5" has two cells.
    """
    lines = [line for line in text.split("\n", _LINES_SEARCHED) if line.strip()]
    first = lines[0] if lines else ""
    named = _NAMED_SEPARATOR.fullmatch(first)
    if named:
        return named[1], text[: text.index(first)].count("\n") + 1
    bare = _QUOTED.sub("", first)
    if ";" in bare or "\t" in bare:
        bare = re.sub(r"(?<=\d),(?=\d)", "", bare)
    return max((";", "\t", ","), key=bare.count), 0
