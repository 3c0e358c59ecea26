"""A courier's program goes on, whatever server, clients and its flight do."""

from __future__ import annotations

from pathlib import Path

import pytest
from lone_courier import OVER, Script, fly, orders_of

from flexpress.field import courier as program
from flexpress.field.calling import LinkDown, Patience, RefusedByPeer

VOID = RefusedByPeer(410, "the tour is void")


def test_a_tour_that_is_void_before_its_model_is_loaded_is_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = Script([orders_of(1), orders_of(2), OVER], models=[VOID])
    fly(script, tmp_path, monkeypatch)
    kinds = ("tour-closed", "departed", "returned", "mission-over")
    assert script.events(*kinds) == list(kinds)


def test_a_server_that_is_not_reached_is_told_once_for_each_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused, silent = LinkDown("connection refused"), LinkDown("silence")
    monkeypatch.setattr(program, "_AT_HOME", Patience(first_wait=0.0))
    script = Script([refused, refused, silent, OVER])
    fly(script, tmp_path, monkeypatch)
    told = [entry.get("reason") for entry in script.entries if "reason" in entry]
    assert told == ["connection refused", "silence"]
