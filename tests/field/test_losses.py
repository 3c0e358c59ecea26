"""Couriers that are lost, and clients that are missed: the others go on, and nothing counts twice.

All of it with real programs, by the plan's clock.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from signal import Signals

import pytest
from live_field import PLAIN, LiveField
from live_stage import Stage, make_stages

from flexpress.field import operate


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with ExitStack() as stack:
        yield make_stages(PLAIN, tmp_path_factory.mktemp("plain"), stack)[0]


def dies(field: LiveField, name: str, number: int, step: str) -> None:
    """It is started, and dies there."""
    field.start(name, number, step)
    field.until(name, "dies")
    assert field.wait_for_end(name) == -Signals.SIGKILL


def test_a_tour_that_is_void_before_its_model_is_on_board(stage: Stage) -> None:
    """The server does not hand out the model of a tour that is closed."""
    with stage.field() as field:
        field.start_all(but=["courier-1"])
        dies(field, "courier-1", 1, "after commit")  # it has its orders
        operate(field.operator, "void", "courier-1")
        field.start("courier-1")
        assert field.until("courier-1", "tour-closed")["tour"] in (1, 2)
        field.until("server", "mission-over")
        assert field.counted().max() == 1


def test_a_tour_that_is_void_when_it_comes_home(stage: Stage) -> None:
    """Its updates come with the next one."""
    with stage.field() as field:
        field.start_all(but=["courier-1"])
        dies(field, "courier-1", 11, "after commit")  # the second tour is sealed
        (sealed,) = field.events("courier-1", "sealed")
        operate(field.operator, "void", "courier-1")
        field.start("courier-1")
        assert field.until("courier-1", "tour-closed")["tour"] > sealed["tour"]
        assert field.until("courier-1", "sealed")["parcels"] == 6  # those of two rounds
        field.until("server", "mission-over")
        assert field.counted().max() == 1
        assert (field.counted()[:3].sum(axis=1) == 22).all()  # two rounds of eleven slots


def test_a_courier_that_never_departs(stage: Stage) -> None:
    """The operator voids its rounds, one after another, and the other one flies on."""
    with stage.field() as field:
        field.start_all(but=["courier-2"])
        while not field.events("server", "mission-over"):
            entry = field.listen()
            field.check_unharmed(entry)
            if (entry["program"], entry["event"]) == ("courier-1", "returned"):
                operate(field.operator, "void", "courier-2")
        counted = field.counted()
        assert counted.max() == 1
        assert counted[3].sum() == 0  # the client of courier 2
        assert counted[:3].sum(axis=1).min() > 0
