"""Each program is killed at each of its durable steps, and started again: each update counts once.

By default at a few steps of one mission; the slow tests kill at every step of nine.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from itertools import product
from pathlib import Path
from queue import Empty, SimpleQueue
from signal import Signals

import pytest
from live_field import CASES, PLAIN, Case
from live_stage import Death, Stage, make_stages

VICTIMS = ("server", "courier-1", "client-1")

_ALL = ["creation", "commit", "file", "rename"]
STEPS = {
    "server": [
        *_ALL,
        "lines",
        "the first files",
        "the last checkpoint",
        "the last model",
        "the last files",
    ],
    "courier-1": _ALL,
    "client-1": _ALL,
}
"""Before each of them a program may die, and after it."""

AT_A_TIME = 3
"""Missions of a slow test: they wait for the disk, and for each other."""


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with ExitStack() as stack:
        yield make_stages(PLAIN, tmp_path_factory.mktemp("plain"), stack)[0]


def sweep(stages: Iterable[Stage], victim: str, by: Signals = Signals.SIGKILL) -> Counter[str]:
    """How often it died at each step: at the first of each kind, at the second, and so on.

    By kinds, since two undisturbed missions need not take their steps in the same order.
    """
    kinds: SimpleQueue[str] = SimpleQueue()
    for when, step in product(("before", "after"), STEPS[victim]):
        kinds.put(f"{when} {step}")
    found: Counter[str] = Counter()

    def work(stage: Stage) -> None:
        with suppress(Empty):
            while kind := kinds.get_nowait():
                while stage.disturbed(victim, [(found[kind] + 1, kind)], by):
                    found[kind] += 1

    in_parallel(work, stages)
    return found


def in_parallel(work: Callable[[Stage], None], stages: Iterable[Stage]) -> None:
    with ThreadPoolExecutor() as pool:
        for each in [pool.submit(work, stage) for stage in stages]:
            each.result()


def test_undisturbed_it_is_what_simulate_computes(stage: Stage) -> None:
    with stage.field() as field:
        field.start_all()
        field.until("server", "mission-over")
        stage.check(field)
        assert (field.counted().sum(axis=1) == 22).all()  # two rounds of eleven slots


@pytest.mark.parametrize("victim", VICTIMS)
def test_a_few_crashes(stage: Stage, victim: str) -> None:
    few: dict[str, list[Death]] = {
        "server": [(1, "after the first files"), (5, "after lines"), (9, "after commit")],
        "courier-1": [(3, "before commit"), (4, "after rename")],
        "client-1": [(2, "before rename"), (2, "after commit")],
    }
    for death in few[victim]:
        assert stage.disturbed(victim, [death]) == [death[1]]


@pytest.mark.parametrize("victim", VICTIMS)
def test_it_is_asked_to_stop(stage: Stage, victim: str) -> None:
    """SIGTERM comes whenever it likes; what is begun is done, then the program ends."""
    deaths: dict[str, Death] = {"server": (12, ""), "courier-1": (20, ""), "client-1": (16, "")}
    assert len(stage.disturbed(victim, [deaths[victim]], Signals.SIGTERM)) == 1


@pytest.mark.slow
@pytest.mark.parametrize("victim", VICTIMS)
def test_it_is_asked_to_stop_at_every_step(victim: str, tmp_path: Path) -> None:
    with ExitStack() as stack:
        steps = sweep(make_stages(PLAIN, tmp_path, stack, AT_A_TIME), victim, Signals.SIGTERM)
    assert steps.total() > 20


@pytest.mark.slow
@pytest.mark.parametrize("victim", VICTIMS)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_crash(
    case: Case, victim: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    with ExitStack() as stack:
        steps = sweep(make_stages(case, tmp_path, stack, AT_A_TIME), victim)
    record_property("crash points", steps.total())
    assert steps.keys() == {f"{when} {s}" for s in STEPS[victim] for when in ("before", "after")}


def test_the_program_dies_again_and_again(stage: Stage) -> None:
    """Also while it recovers: it may be killed as soon as it is up."""
    for victim, numbers in (("server", (1, 2, 9, 3)), ("courier-1", (5, 2)), ("client-1", (4, 2))):
        lives = [(number, "") for number in numbers]
        assert len(stage.disturbed(victim, lives)) == len(lives)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
def test_many_die_again_and_again(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    case, victim = CASES[seed % len(CASES)], VICTIMS[seed % len(VICTIMS)]
    lives = [(rng.randint(1, 12), "") for _ in range(12)]
    with ExitStack() as stack:
        make_stages(case, tmp_path, stack)[0].disturbed(victim, lives)
