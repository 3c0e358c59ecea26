"""Each program is killed at each of its durable steps, and started again: each update counts once.

By default at a few steps of one mission; the slow tests kill at every step of eight.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from queue import Empty, SimpleQueue
from signal import Signals

import pytest
from live_field import (
    PLAIN,
    Case,
    LiveField,
    Nursery,
    copied,
    make_kits,
    nursery,
    results,
    simulated,
)

from flexpress.field.kit import Payload

PAYLOADS: tuple[Payload, ...] = ("parcel", "sum")
CASES = [Case(*each) for each in product(("sync", "async"), (0.0, 0.5), PAYLOADS)]
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

Death = tuple[int, str]
"""At which of its durable steps, of all or of those of a kind."""

AT_A_TIME = 3
"""Missions of a slow test: they wait for the disk, and for each other."""


@dataclass(frozen=True)
class Stage:
    """Where one mission at a time is flown, as often as one likes."""

    nursery: Nursery
    kits: Path
    folder: Path
    expected: dict[str, bytes]

    @contextmanager
    def field(self) -> Iterator[LiveField]:
        with LiveField(self.nursery, copied(self.kits, self.folder)) as field:
            yield field

    def check(self, field: LiveField) -> None:
        """After the mission: nothing shows that it was disturbed."""
        assert field.counted().max() == 1
        assert results(field.run) == self.expected


def make_stages(case: Case, folder: Path, stack: ExitStack, number: int = 1) -> list[Stage]:
    expected = simulated(case, folder / "simulated")
    return [
        Stage(
            stack.enter_context(nursery()),
            make_kits(case, folder / f"kits-{place}"),
            folder / f"field-{place}",
            expected,
        )
        for place in range(number)
    ]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with ExitStack() as stack:
        yield make_stages(PLAIN, tmp_path_factory.mktemp("plain"), stack)[0]


def fly(field: LiveField, victim: str, lives: Iterable[Death]) -> list[str]:
    """To the end, though the victim dies in each of these lives; at which steps it did."""
    steps, coming = [], iter(lives)
    field.start_all(but=[victim])
    field.start(victim, *next(coming))
    while True:
        entry = field.listen()
        what = entry["program"], entry["event"]
        if what == (victim, "dies"):
            steps.append(entry["step"])
        elif what == (victim, "ended"):
            assert entry["code"] == -Signals.SIGKILL
            field.start(victim, *next(coming, (None, "")))
        elif what == ("server", "mission-over"):
            return steps
        else:
            field.check_unharmed(entry)


def killed_at(stage: Stage, victim: str, lives: Iterable[Death]) -> list[str]:
    """As `fly`, and checked."""
    with stage.field() as field:
        steps = fly(field, victim, lives)
        stage.check(field)
    return steps


def sweep(stages: Iterable[Stage], victim: str) -> Counter[str]:
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
                while killed_at(stage, victim, [(found[kind] + 1, kind)]):
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
        assert field.counted().sum() == 88  # 12 steps of clients 1, 2 and 3 a round, 8 of client 4


@pytest.mark.parametrize("victim", VICTIMS)
def test_a_few_crashes(stage: Stage, victim: str) -> None:
    few = {
        "server": [(1, "after the first files"), (5, "after lines"), (9, "after commit")],
        "courier-1": [(3, "before commit"), (4, "after rename")],
        "client-1": [(2, "before rename"), (2, "after commit")],
    }
    for death in few[victim]:
        assert killed_at(stage, victim, [death]) == [death[1]]


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
        assert len(killed_at(stage, victim, lives)) == len(lives)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
def test_many_die_again_and_again(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    case, victim = CASES[seed % len(CASES)], VICTIMS[seed % len(VICTIMS)]
    lives = [(rng.randint(1, 12), "") for _ in range(12)]
    with ExitStack() as stack:
        killed_at(make_stages(case, tmp_path, stack)[0], victim, lives)
