"""The time of a mission passes while the server runs, and only then."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from lone_server import KIT, lone_server
from msgspec.structs import replace

from flexpress.field import server as program
from flexpress.field.book_rows import PROGRESS, ProgressRow
from flexpress.field.due import Progress
from flexpress.field.served_time import ServedTime

YEAR = 365 * 86400.0


def test_it_follows_the_clock_that_does_not_jump() -> None:
    clock = [500.0]
    served = ServedTime(1000.0, lambda: clock[0])
    assert served.now() == 1000.0
    clock[0] += 60.0
    assert served.now() == 1060.0


def seconds_since(server: program._Server, moment: float) -> float:
    return server.time.now() - moment


def test_it_goes_on_where_it_was_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the computer's clock says, then and now."""
    begun = time.time()
    with lone_server(tmp_path, KIT) as server:
        assert 0.0 <= seconds_since(server, begun) < YEAR
        server._note_time()
        noted = server._book.progress.time
    monkeypatch.setattr(time, "time", lambda: begun + 10 * YEAR)
    with lone_server(tmp_path, KIT) as server:
        assert 0.0 <= seconds_since(server, noted) < YEAR


def test_a_tour_is_not_late_because_the_clock_was_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with lone_server(tmp_path, replace(KIT, longest_tour=3600.0)) as server:
        server._store.commit(server._book.release("courier-1", 0, 0).changes)
        server._store.commit(server._book.depart("courier-1", server.time.now()).changes)
        now = time.time()
        monkeypatch.setattr(time, "time", lambda: now + 10 * YEAR)
        server._void_late_tours()
        assert list(server._book.open_tours()) == [1]
        monkeypatch.setattr(server, "time", ServedTime(server.time.now() + 3601.0))
        server._void_late_tours()
        assert not server._book.open_tours()


def test_a_mission_that_was_begun_before_it_was_noted_goes_on(tmp_path: Path) -> None:
    with lone_server(tmp_path, replace(KIT, speedup=10.0)) as server:
        old = Progress(started=5000.0, seconds=700.0).to_json()
        server._store.commit([PROGRESS.put("", ProgressRow(notes=old))])
        assert server._last_time() == 5070.0
