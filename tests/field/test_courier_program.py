"""A courier's program goes on, whatever server, clients and its flight do."""

from __future__ import annotations

from pathlib import Path

import pytest
from lone_courier import OVER, Script, fly, orders_of

from flexpress.field.calling import RefusedByPeer

VOID = RefusedByPeer(410, "the tour is void")


def test_a_tour_that_is_void_before_its_model_is_loaded_is_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = Script([orders_of(1), orders_of(2), OVER], models=[VOID])
    fly(script, tmp_path, monkeypatch)
    kinds = ("tour-closed", "departed", "returned", "mission-over")
    assert script.events(*kinds) == list(kinds)
