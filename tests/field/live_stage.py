"""Where missions are flown one after another, disturbed in one way or another, and compared."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from signal import Signals

from live_field import Case, LiveField, Nursery, make_kits, nursery, results, simulated

Death = tuple[int, str]
"""At which of its durable steps, of all or of those of a kind."""


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

    def disturbed(
        self, victim: str, lives: Iterable[Death], by: Signals = Signals.SIGKILL
    ) -> list[str]:
        """A mission in which a program ends so often; at which steps it did. It is checked."""
        with self.field() as field:
            steps = _fly(field, victim, iter(lives), by)
            self.check(field)
        return steps


def _fly(field: LiveField, victim: str, lives: Iterator[Death], by: Signals) -> list[str]:
    """To the end. It is started again each time."""
    steps = []
    field.start_all(but=[victim])
    _start(field, victim, next(lives), by)
    while True:
        entry = field.listen()
        what = entry["program"], entry["event"]
        if what == (victim, "dies"):
            steps.append(entry["step"])
        elif what == (victim, "ended"):
            assert entry["code"] == -by or (by != Signals.SIGKILL and entry["code"] == 0)
            _start(field, victim, next(lives, None), by)
        elif what == ("server", "mission-over"):
            return steps
        else:
            field.check_unharmed(entry)


def _start(field: LiveField, name: str, death: Death | None, by: Signals) -> None:
    number, step = death or (None, "")
    field.start(name, number, step, by)


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


def copied(kits: Path, folder: Path) -> Path:
    """The kits as they were made, for another mission of the same kind."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(kits, folder)
    return folder
