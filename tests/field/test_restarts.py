"""Programs are stopped or killed at any moment, not only at durable steps, and started again."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from signal import Signals

import pytest
from live_field import CASES, PLAIN, LiveField
from live_stage import Stage, make_stages

from flexpress.field import operate
from flexpress.field.operator import Status


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with ExitStack() as stack:
        yield make_stages(PLAIN, tmp_path_factory.mktemp("plain"), stack)[0]


def is_over(field: LiveField) -> bool:
    return bool(field.events("server", "mission-over"))


def fly_on(field: LiveField) -> None:
    """To the end."""
    if not is_over(field):
        field.until("server", "mission-over")


@pytest.mark.parametrize("number", [Signals.SIGINT, Signals.SIGTERM, Signals.SIGHUP])
def test_all_programs_stop_in_good_order(stage: Stage, number: Signals) -> None:
    """Ctrl-C and the like are no errors; the mission goes on when they are started again."""
    with stage.field() as field:
        field.start_all()
        field.until("server", "returned")
        for name in field.names:
            assert field.stop(name, number) == 0
            assert field.events(name, "stopped"), name
        field.start_all()
        fly_on(field)
        stage.check(field)


def test_the_operator_stops_the_server(stage: Stage) -> None:
    with stage.field() as field:
        field.start_all()
        field.until("server", "returned", tour=1)
        operate(field.operator, "stop")
        assert field.wait_for_end("server") == 0
        field.start("server")
        fly_on(field)
        stage.check(field)
        after = operate(field.operator, "status")
        assert isinstance(after, Status)
        assert after.over
        assert after.slot == PLAIN.horizon


def test_a_mission_that_is_over_is_over_for_ever(stage: Stage) -> None:
    with stage.field() as field:
        field.start_all()
        field.until("server", "mission-over")
        for name in field.names:
            field.kill(name)
        field.start_all()
        field.until("server", "mission-over")
        for name in ("courier-1", "courier-2"):
            assert field.wait_for_end(name) == 0
        stage.check(field)


def kill_at_random(field: LiveField, rng: random.Random, deaths: int) -> None:
    """Any program at any moment: after some events, and then some time."""
    field.start_all()
    for _ in range(deaths):
        with suppress(TimeoutError):
            for _ in range(rng.randrange(12)):
                field.check_unharmed(field.listen())
            field.listen(rng.choice([0.0, 0.002, 0.02]))
        if is_over(field):
            return
        name = rng.choice(field.names)
        field.kill(name)
        if rng.random() < 0.3:  # two at once
            field.kill(rng.choice(field.names))
        for each in field.names:
            if each not in field.pids:
                field.start(each)


def killed_at_random(seed: int, folder: Path) -> None:
    rng = random.Random(seed)
    with ExitStack() as stack:
        stage = make_stages(CASES[seed % len(CASES)], folder, stack)[0]
        with stage.field() as field:
            kill_at_random(field, rng, deaths=15)
            fly_on(field)
            stage.check(field)


def test_killed_at_random_moments(tmp_path: Path) -> None:
    killed_at_random(seed=3, folder=tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100))
def test_killed_at_many_random_moments(seed: int, tmp_path: Path) -> None:
    killed_at_random(seed, tmp_path)
