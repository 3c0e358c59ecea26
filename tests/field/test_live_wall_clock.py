"""Real programs by the wall clock, fifty times as fast as it is: each update counts once.

Nothing here depends on how fast the machine is. A slot, in which a client does one step, lasts a
fifth of a second, and a tour at least a quarter: a client that is visited before its first step is
done has nothing to hand over.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from signal import Signals
from typing import Any

import numpy as np
import pytest
from live_field import Case, Entry, LiveField, Nursery, make_kits, nursery

from flexpress.field import operate
from flexpress.simulation import load_run

SLOT = 10.0
SPEEDUP = 50.0
ENDLESS = Case("sync", slot=SLOT, horizon=100_000)
"""It is stopped, once that has happened which a test waits for."""

CLIENTS = [f"client-{number}" for number in (1, 2, 3, 4)]


@pytest.fixture(scope="module")
def children() -> Iterator[Nursery]:
    with nursery() as opened:
        yield opened


@contextmanager
def mission(
    children: Nursery, folder: Path, case: Case = ENDLESS, **settings: Any
) -> Iterator[LiveField]:
    kits = make_kits(case, folder / "kits", clock="wall", speedup=SPEEDUP, **settings)
    with LiveField(children, kits) as field:
        yield field


def is_merged(field: LiveField, client: str) -> None:
    """Wait until an update that this client hands over from now on is part of the model."""
    while not (visit := field.until(client, "visited"))["steps"]:
        pass
    field.until("server", "returned", tour=visit["tour"])
    brought = sum(entry["parcels"] for entry in field.events("server", "returned"))
    while sum(entry["updates"] for entry in field.events("server", "merged")) < brought:
        field.until("server", "merged")


def steps_that_count(field: LiveField) -> list[int]:
    """Of each client: the first so many, each once, and all of an update or nothing of it."""
    counted = field.counted()
    assert counted.max() <= 1
    assert (np.diff(counted, axis=1) <= 0).all()
    total = [int(row.sum()) for row in counted]
    for client, number in zip(CLIENTS, total, strict=True):
        handed_over = [entry["steps"] for entry in field.events(client, "visited")]
        assert number in {0, *accumulate(handed_over)} or client in field.killed
    return total


def stop(field: LiveField) -> None:
    operate(field.operator, "stop")
    assert field.wait_for_end("server") == 0


@pytest.mark.parametrize("algorithm", ["sync", "async"])
def test_it_learns(children: Nursery, tmp_path: Path, algorithm: str) -> None:
    with mission(children, tmp_path, replace(ENDLESS, algorithm=algorithm)) as field:
        field.start_all()
        for client in ("client-1", "client-4"):
            is_merged(field, client)
        stop(field)
        assert min(steps_that_count(field)[::3]) > 0


@pytest.mark.parametrize("horizon", [15, pytest.param(150, marks=pytest.mark.slow)])
@pytest.mark.parametrize("algorithm", ["sync", "async"])
def test_to_its_horizon(children: Nursery, tmp_path: Path, algorithm: str, horizon: int) -> None:
    """Three seconds may be too short to merge anything; half a minute is not."""
    case = Case(algorithm, 0.5, "sum", slot=SLOT, horizon=horizon)
    with mission(children, tmp_path, case) as field:
        field.start_all()
        field.until("server", "mission-over")
        for courier in ("courier-1", "courier-2"):
            assert field.wait_for_end(courier) == 0
        assert sum(steps_that_count(field)) > 0 or horizon == 15
        run = load_run(field.run)
        assert run.trace.metrics[-1].slot == horizon
        assert [each.slot for each in run.trace.metrics][:2] == [0, 10]


@pytest.mark.parametrize("how", [Signals.SIGKILL, Signals.SIGTERM])
def test_a_client_that_starts_again_goes_on(
    children: Nursery, tmp_path: Path, how: Signals
) -> None:
    """Its steps have no gap, and none is done twice."""
    with mission(children, tmp_path) as field:
        field.start_all()
        is_merged(field, "client-1")
        assert field.stop("client-1", how) == (-how if how == Signals.SIGKILL else 0)
        field.start("client-1")
        is_merged(field, "client-1")
        stop(field)
        assert steps_that_count(field)[0] > 0


def test_a_courier_that_is_never_started_keeps_nobody_waiting(
    children: Nursery, tmp_path: Path
) -> None:
    with mission(children, tmp_path) as field:
        field.start_all(but=["courier-2"])
        is_merged(field, "client-1")
        is_merged(field, "client-2")
        stop(field)
        assert steps_that_count(field)[3] == 0


def lose(field: LiveField, courier: str, number: int) -> Entry:
    """It dies after so many commits, on tour."""
    field.start(courier, number, "after commit")
    death = field.until(courier, "dies")
    field.wait_for_end(courier)
    return death


def test_a_lost_courier_is_given_up_after_its_time(children: Nursery, tmp_path: Path) -> None:
    """FedEx-Sync waits for it; then it is void, and its client's update comes a tour later."""
    with mission(children, tmp_path, longest_tour=150.0) as field:
        field.start_all(but=["courier-2"])
        lose(field, "courier-2", 2)  # it has visited its client
        voided = field.until("server", "voided", courier="courier-2")
        assert voided["reason"] == "out for too long"
        is_merged(field, "client-1")
        field.start("courier-2")
        field.until("courier-2", "tour-closed")
        is_merged(field, "client-4")
        stop(field)
        assert min(steps_that_count(field)[::3]) > 0


def test_a_lost_courier_is_given_up_by_the_operator(children: Nursery, tmp_path: Path) -> None:
    with mission(children, tmp_path) as field:
        field.start_all(but=["courier-2"])
        lose(field, "courier-2", 1)  # it has its orders
        operate(field.operator, "void", "courier-2")
        is_merged(field, "client-1")
        stop(field)
        assert steps_that_count(field)[3] == 0


@pytest.mark.slow
def test_the_update_of_a_client_that_was_missed_comes_later(
    children: Nursery, tmp_path: Path
) -> None:
    with mission(children, tmp_path, patience=5.0) as field:
        field.start_all()
        field.until("courier-1", "visited", client="client-3")
        (first,) = field.events("client-3", "visited")
        field.kill("client-3")
        field.until("courier-1", "missed", client="client-3")
        field.start("client-3")
        is_merged(field, "client-3")
        stop(field)
        assert steps_that_count(field)[2] > 0
        tours = [entry["tour"] for entry in field.events("client-3", "visited")]
        assert tours[0] == first["tour"]
        assert tours[1] > first["tour"] + 1  # that on which it was missed


@pytest.mark.slow
@pytest.mark.parametrize("victim", ["server", "courier-1", "client-1"])
def test_one_dies_at_each_of_its_steps_in_turn(
    children: Nursery, tmp_path: Path, victim: str
) -> None:
    """A client also while it keeps a copy of its local model."""
    with mission(children, tmp_path) as field:
        field.start_all(but=[victim])
        for number in range(1, 41):
            field.start(victim, number)
            field.until(victim, "dies")
            field.wait_for_end(victim)
        field.killed.add(victim)
        field.start(victim)
        is_merged(field, "client-1")
        stop(field)
        assert steps_that_count(field)[0] > 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_all_are_killed_at_random_moments(children: Nursery, tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    case = Case(*rng.choice([("sync", 0.5), ("async", 0.0)]), rng.choice(["sum", "parcel"]))
    case = replace(case, slot=SLOT, horizon=100)
    with mission(children, tmp_path, case, longest_tour=250.0) as field:
        field.start_all()
        while not field.events("server", "mission-over"):
            with suppress(TimeoutError):
                for _ in range(rng.randrange(20)):
                    field.check_unharmed(field.listen(rng.choice([0.01, 0.3])))
            name = rng.choice(field.names)
            field.kill(name)
            field.start(name)
        steps_that_count(field)


def test_a_clock_that_is_set_ends_nothing(children: Nursery, tmp_path: Path) -> None:
    """The server's leaps by ten years: no tour is too long, and the mission is not over."""
    with mission(children, tmp_path, longest_tour=1e6) as field:
        field.start_all(but=["server"])
        field.start("server", leaps_at=20)
        field.until("server", "leaps")
        is_merged(field, "client-1")
        assert not field.events("server", "voided")
        assert not field.events("server", "mission-over")
        stop(field)
        field.start("server")  # its clock is set back
        is_merged(field, "client-1")
        stop(field)
        assert steps_that_count(field)[0] > 0
