"""State as typed tables, and decisions about them. Nothing here stores or sends anything.

A core object (`ServerBook`, `CourierHold`, `ClientDesk`) reads tables and returns a `Decision`:
what to change, and what to answer once that is durable. A program commits all changes in one
transaction before it sends the answer: a crash in between loses an answer, never a promise. Nothing
else may be committed between a decision and its commit, for it was made on the tables as they were.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Generic, TypeAlias, TypeVar, cast

import msgspec


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A row of a table."""


Tables: TypeAlias = dict[str, dict[str, msgspec.Struct]]
"""Name of a table -> key -> row."""


class Put(msgspec.Struct, frozen=True):
    """This row takes the place of what the key had before."""

    table: str
    key: str
    row: msgspec.Struct


class Delete(msgspec.Struct, frozen=True):
    """The key has no row any more."""

    table: str
    key: str


Change: TypeAlias = Put | Delete

_A = TypeVar("_A")
_R = TypeVar("_R", bound=msgspec.Struct)


class Decision(msgspec.Struct, Generic[_A], frozen=True):
    """Commit the changes together, then give the answer."""

    changes: tuple[Change, ...]
    answer: _A


class Refused(Exception):  # noqa: N818  # it is an answer to the peer, not an error of ours
    """The request is not allowed and has changed nothing. The status is that of HTTP."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


class Table(Generic[_R]):
    """The name of a table and the type of its rows."""

    def __init__(self, name: str, row: type[_R]) -> None:
        self.name = name
        self.row = row

    def rows(self, tables: Tables) -> Mapping[str, _R]:
        return cast(Mapping[str, _R], tables[self.name])

    def put(self, key: str, row: _R) -> Put:
        return Put(self.name, key, row)

    def delete(self, key: str) -> Delete:
        return Delete(self.name, key)


def row_types(*tables: Table[Any]) -> dict[str, type[msgspec.Struct]]:
    """As `Store.open` wants them."""
    return {table.name: table.row for table in tables}


def empty_tables(types: Iterable[str]) -> Tables:
    """Tables of these names without a row."""
    return {name: {} for name in types}


def apply_changes(tables: Tables, changes: Iterable[Change]) -> None:
    """Change the tables in memory. Their program does so only after the commit."""
    for change in changes:
        if isinstance(change, Put):
            tables[change.table][change.key] = change.row
        else:
            tables[change.table].pop(change.key, None)
