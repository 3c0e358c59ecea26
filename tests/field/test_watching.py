"""Who watches a rehearsal hears its end, in whatever order the programs speak."""

from __future__ import annotations

from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any, cast

import pytest

from flexpress.errors import FlexpressError
from flexpress.field.crew import Program, watch


def spoken(name: str, *events: str) -> Program:
    """A program that has said this, and has ended."""
    said, says = Pipe(duplex=False)
    for event in events:
        says.send({"program": name, "event": event})
    says.close()
    assert isinstance(said, Connection)
    return Program(name, cast(Any, None), said)


def heard(*crew: Program) -> list[str]:
    entries: list[dict[str, Any]] = []
    watch(crew, entries.append, lambda: False)
    return [f"{entry['program']} {entry['event']}" for entry in entries]


def test_a_courier_may_end_before_the_server_is_heard() -> None:
    """Of each, one event is read at a time."""
    server = spoken("server", "merged", "evaluated", "mission-over")
    found = heard(spoken("courier-1", "mission-over"), server)
    assert found[-1] == "server mission-over"


def test_a_courier_that_ends_on_tour_is_an_error() -> None:
    with pytest.raises(FlexpressError, match="courier-1 has ended"):
        heard(spoken("courier-1", "departed"), spoken("server", *["merged"] * 9, "mission-over"))
