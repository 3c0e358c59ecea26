"""What the server's program does, beyond the rules of its book."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from lone_server import KEY, KIT, lone_server
from msgspec.structs import replace

from flexpress.field.book_rows import MEMBERS, HomeRow, MemberRow
from flexpress.field.due import Due, Progress
from flexpress.field.kit import Entry
from flexpress.field.messages import Wait
from flexpress.field.mission import Mission
from flexpress.field.operator import Enrol, OperatorDesk


class Joining:
    """A mission in the midst of whose step a client joins."""

    def __init__(self, tables: Any) -> None:
        self.members = tables["members"]
        self.performed: tuple[Any, ...] = ()

    def perform(self, due: Due, sums: list[Any], num_clients: int) -> None:
        self.performed = (sums, num_clients)


def test_a_step_looks_at_the_members_before_it_takes_its_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dictionaries that change while another thread walks through them end the program."""
    with lone_server(tmp_path, KIT) as server:
        mission = Joining(server._store.tables)
        total = server._files.write(np.ones(3).tobytes())

        async def later(work: Any, *arguments: Any) -> Any:
            monkeypatch.setitem(mission.members, "client-2", MemberRow("client"))
            return work(*arguments)

        monkeypatch.setattr(asyncio, "to_thread", later)
        home = HomeRow("courier-1", 0, 1, "accepted", total)
        asyncio.run(server._perform(cast(Mission, mission), Due((), Progress()), [home]))
    ((brought,), num_clients) = mission.performed
    assert (brought.tolist(), num_clients) == ([1.0, 1.0, 1.0], 1)


def test_couriers_do_not_ask_all_the_time_however_fast_time_passes(tmp_path: Path) -> None:
    with lone_server(tmp_path, replace(KIT, speedup=1e9)) as server:
        answer = server._book.depart("courier-1").answer
    assert isinstance(answer, Wait)
    assert answer.seconds == 0.05


def test_couriers_that_join_get_numbers_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever their kits say: who makes them does not see kits that were taken away."""
    with lone_server(tmp_path, KIT) as server:
        desk = OperatorDesk(
            server._kit, server._store, server._book, server._log, *[cast(Any, lambda: None)] * 3
        )

        async def asked(request: Any, kind: Any) -> Any:
            return Enrol(server._kit.run, Entry(request, "courier", KEY, 1))

        monkeypatch.setattr(desk, "_read", asked)
        for name in ("courier-a", "courier-b", "courier-a"):
            asyncio.run(desk._enrol(cast(Any, name)))
        members = MEMBERS.rows(server._store.tables)
        numbers = {name: row.number for name, row in members.items() if row.role == "courier"}
    assert numbers == {"courier-1": 1, "courier-a": 2, "courier-b": 3}
