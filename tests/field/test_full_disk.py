"""A disk that is full for a while: programs say so, wait, and lose nothing."""

from __future__ import annotations

import asyncio
import errno
import io
import json
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from live_field import PLAIN
from live_stage import Stage, make_stages
from lone_client import lone_client
from test_client_program import FIRST

from flexpress.errors import InputError
from flexpress.field import room as room_module
from flexpress.field import store as store_module
from flexpress.field.log import Log
from flexpress.field.room import Room
from flexpress.field.trainer import LocalModel
from flexpress.files.disk import DiskFullError, write_file


def full(*_: object) -> int:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with ExitStack() as stack:
        yield make_stages(PLAIN, tmp_path_factory.mktemp("plain"), stack)[0]


@pytest.mark.parametrize("victim", ["server", "courier-1", "client-1"])
def test_a_disk_that_is_full_for_a_while(stage: Stage, victim: str) -> None:
    """From its 15th durable step on: the mission is as without it, bit for bit."""
    with stage.field() as field:
        field.start_all(but=[victim])
        field.start(victim, no_room=(15, 20))
        field.until("server", "mission-over")
        assert field.events(victim, "disk-full")
        assert not field.codes.get(victim)
        stage.check(field)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(15, 90, 5))
@pytest.mark.parametrize("victim", ["server", "courier-1", "client-1"])
def test_a_disk_that_is_full_at_any_time(stage: Stage, victim: str, first: int) -> None:
    with stage.field() as field:
        field.start_all(but=[victim])
        field.start(victim, no_room=(first, first + 7))
        field.until("server", "mission-over")
        stage.check(field)


def test_the_trouble_is_told_in_one_line_and_not_all_the_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room_module, "_WAIT_SECONDS", 0.0)
    entries: list[dict[str, Any]] = []
    room, failures = Room(Log("server", sink=entries.append)), 3

    async def attempt() -> str:
        nonlocal failures
        failures -= 1
        if failures >= 0:
            path = tmp_path / f"model-{failures}"  # a box that is sealed anew has another digest
            raise DiskFullError(path, "No space left on device", needed=2**20)
        return "written"

    assert asyncio.run(room.insist(attempt)) == "written"
    (entry,) = entries
    assert (entry["event"], entry["file"]) == ("disk-full", str(tmp_path / "model-2"))
    assert entry["needed"] == 2**20
    assert entry["free"] > 0
    assert "make room" in entry["remedy"]


def test_other_trouble_is_not_waited_for(tmp_path: Path) -> None:
    async def attempt() -> None:
        raise InputError("the disk is broken")

    with pytest.raises(InputError, match="broken"):
        asyncio.run(Room(Log("server", sink=lambda entry: None)).insist(attempt))


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_told_from_others(number: int, tmp_path: Path) -> None:
    def refuse(file: object) -> None:
        raise OSError(number, os.strerror(number))

    with pytest.raises(DiskFullError, match=r"cannot be written: .*; make room"):
        write_file(tmp_path / "file", refuse)
    with pytest.raises(InputError) as other:
        write_file(tmp_path / "missing" / "file", b"")
    assert not isinstance(other.value, DiskFullError)


def at_step(step: str) -> Callable[[str], None]:
    def durable(reached: str) -> None:
        if reached == step:
            full()

    return durable


@pytest.mark.parametrize("step", ["before file", "before commit"])
def test_a_visit_without_room_leaves_nothing_behind(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else each try of the courier would make it worse: a box is sealed anew each time."""
    with lone_client(tmp_path, monkeypatch, []) as client:
        client._training._local = LocalModel(np.ones(3), np.arange(3.0), 0, 4)
        before = client._files.names()
        with monkeypatch.context() as patch:
            patch.setattr(store_module, "durable", at_step(step))
            with pytest.raises(DiskFullError):
                asyncio.run(client._met_with_room("courier-1", FIRST))
        assert client._files.names() == before
        answer = asyncio.run(client._met_with_room("courier-1", FIRST))
    assert [parcel.name.sequence for parcel in answer.parcels] == [1]


def test_a_client_trains_on_without_room_for_a_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries: list[dict[str, Any]] = []
    with lone_client(tmp_path, monkeypatch, entries) as client:
        local = client._training._local = LocalModel(np.ones(3), np.arange(3.0), 0, 4)
        monkeypatch.setattr(store_module, "durable", at_step("before file"))
        client._training.save()
        assert client._training._local is local
    assert [entry["event"] for entry in entries] == ["disk-full"]


class SmallDisk(io.StringIO):
    """With room for every other line."""

    is_full = True

    def write(self, text: str) -> int:
        self.is_full = not self.is_full
        return full() if self.is_full else super().write(text)


def test_a_log_goes_on_when_there_is_room_again() -> None:
    stream = SmallDisk()
    log = Log("server", stream=stream, as_json=True)
    for number in range(4):
        log("step", number=number)
    assert [json.loads(line)["number"] for line in stream.getvalue().splitlines()] == [0, 2]
