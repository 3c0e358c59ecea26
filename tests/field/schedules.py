"""Random schedules of a disturbed field, each from a seed; one that fails is made short."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from random import Random
from typing import TypeAlias

from disturbed_field import World
from field_state import BrokenError, Setting

from flexpress.field.messages import Payload

Action: TypeAlias = tuple[str, int, int, int]

_WEIGHTS = {
    "go_on": 60,
    "visit": 5,
    "come_home": 3,
    "late_orders": 2,
    "late_answer": 3,
    "late_manifest": 4,
    "late_receipt": 3,
    "visit_again": 4,
    "void": 5,
    "merge": 2,
    "restart": 3,
    "lose_client": 1,
    "lose_courier": 2,
    "move": 5,
    "revoke": 1,
}
ACTIONS = tuple(_WEIGHTS)
_PAYLOADS: tuple[Payload, Payload] = ("parcel", "sum")


def schedule_of(seed: int, setting: Setting) -> tuple[Setting, list[Action]]:
    """How many take part, and what happens."""
    random = Random(seed)
    setting = replace(
        setting,
        payload=_PAYLOADS[seed % 2],
        num_couriers=random.choice((1, 2, 2, 3)),
        num_clients=random.randint(1, 4),
    )
    names = random.choices(ACTIONS, [*_WEIGHTS.values()], k=random.randint(20, 100))
    return setting, [
        (name, random.getrandbits(8), random.getrandbits(8), random.getrandbits(8))
        for name in names
    ]


def play(setting: Setting, schedule: Sequence[Action], recovery_every: int = 10) -> World:
    """Check I1 to I5 after each action; I6 at the end, and after every so many actions."""
    world = World(setting)
    for number, (name, *numbers) in enumerate(schedule, 1):
        getattr(world, name)(*numbers)
        world.check()
        if number % recovery_every == 0:
            world.check_recovery()
    world.check_recovery()
    return world


def broken(setting: Setting, schedule: Sequence[Action]) -> BrokenError | None:
    try:
        play(setting, schedule)
    except BrokenError as error:
        return error
    return None


def shortened(setting: Setting, schedule: Sequence[Action]) -> list[Action]:
    """A part of the schedule that still fails, and of which no action can be left out."""
    short = list(schedule)
    size = max(1, len(short) // 2)
    while size:
        start, before = 0, len(short)
        while start < len(short):
            rest = short[:start] + short[start + size :]
            if broken(setting, rest):
                short = rest
            else:
                start += size
        if size > 1 or len(short) == before:
            size //= 2
    return short


def first_failure(seeds: Iterable[int], setting: Setting) -> str | None:
    """What is broken, by which seed, and the shortest way there; None if nothing is."""
    for seed in seeds:
        found, schedule = schedule_of(seed, setting)
        if broken(found, schedule):
            short = shortened(found, schedule)
            lines = "\n".join(f"    {action}" for action in short)
            return f"seed {seed}: {broken(found, short)}\n{found}\n{lines}"
    return None
