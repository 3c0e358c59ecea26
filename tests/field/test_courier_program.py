"""A courier's program goes on, whatever server, clients and its flight do."""

from __future__ import annotations

from pathlib import Path

import pytest
from lone_courier import OVER, Script, fly, orders_of

from flexpress.field import courier as program
from flexpress.field.calling import LinkDown, Patience, RefusedByPeer
from flexpress.field.flight import FlightError, MissionChangedError, TimetableFlight
from flexpress.field.messages import Stop, VisitAnswer

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


class LostFlight(TimetableFlight):
    """An autopilot that is not heard any more: as far as it knows, it is at no client."""

    async def next_stop(self) -> Stop | None:
        raise FlightError("nothing is heard")

    @property
    def time_left(self) -> float:
        return 0.0


class ChangedFlight(TimetableFlight):
    """Somebody gives the autopilot another mission while it is at a client."""

    async def release(self, stop: Stop) -> None:
        raise MissionChangedError("somebody else has changed its mission")


@pytest.mark.parametrize("flight", [LostFlight, ChangedFlight])
def test_clients_are_visited_although_the_flight_is_lost(
    flight: type[TimetableFlight], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clients = ("client-1", "client-2")
    script = Script([orders_of(1, *clients), OVER], visits=[VisitAnswer("ready")] * 2)
    fly(script, tmp_path, monkeypatch, flight)
    assert script.events("visited", "missed", "returned") == ["visited", "visited", "returned"]
    assert "flight-lost" in script.events("flight-lost")
