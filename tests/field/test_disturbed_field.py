"""The protocol holds in every schedule of a field in which everything goes wrong."""

from __future__ import annotations

from dataclasses import replace

import pytest
from disturbed_field import World
from field_state import Setting
from mutants import MUTANTS
from schedules import Action, broken, first_failure, schedule_of, shortened
from thinned import few_and_many

from flexpress.field.messages import Payload

CASES = [(name, invariant) for name, (_, found) in MUTANTS.items() for invariant in sorted(found)]


@few_and_many(range(1_000), range(1_000, 100_000))
def test_nothing_is_lost_and_nothing_counts_twice(seeds: range) -> None:
    failure = first_failure(seeds, Setting())
    if failure:
        pytest.fail(failure, pytrace=False)


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mistake_in_the_rules_is_found(name: str) -> None:
    assert first_failure(range(200), MUTANTS[name][0])


@pytest.mark.parametrize(("name", "invariant"), CASES)
def test_an_invariant_finds_it_alone(name: str, invariant: str) -> None:
    setting = replace(MUTANTS[name][0], checks=(invariant,))
    assert any(broken(*schedule_of(seed, setting)) for seed in range(200))


def test_a_failure_is_made_short() -> None:
    """Two couriers with the same update: depart, visit; then the client moves; again."""
    setting, _ = MUTANTS["binding is taken out"]
    setting = replace(setting, checks=("I3",))
    found, schedule = next(
        (found, schedule)
        for found, schedule in (schedule_of(seed, setting) for seed in range(200))
        if broken(found, schedule)
    )
    short = shortened(found, schedule)
    assert len(short) <= 8 < len(schedule)
    assert broken(found, short)
    assert not any(broken(found, short[:i] + short[i + 1 :]) for i in range(len(short)))


STALE: list[Action] = [
    ("go_on", 0, 1, 2),  # courier 0 departs on tour 1,
    ("go_on", 0, 1, 2),  # visits client 0
    ("void", 0, 0, 0),  # and is given up.
    ("move", 0, 1, 0),  # Courier 1
    ("go_on", 1, 1, 2),  # departs on tour 2
    ("go_on", 1, 1, 2),  # and visits client 0,
    ("go_on", 1, 2, 2),  # and client 1, and is at home
    ("go_on", 1, 2, 2),
    ("go_on", 0, 2, 2),  # before courier 0 comes home after all.
    ("come_home", 0, 2, 2),
]


@pytest.mark.parametrize("payload", ["parcel", "sum"])
def test_a_courier_that_was_given_up_comes_back(payload: Payload) -> None:
    world = World(Setting(payload, num_clients=2))
    for name, *numbers in STALE:
        getattr(world, name)(*numbers)
        world.check()
    assert sorted(name.key for name in world.applied) == [
        "client-0/0000000000000001/1",
        "client-0/0000000000000001/2",
        "client-1/0000000000000001/1",
    ]
    assert world.couriers[0].hold.orders is None
    world.check_recovery()
