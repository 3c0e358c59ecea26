"""Where the drone is, by what it says: lost, repeated and late messages."""

from __future__ import annotations

import pytest

from flexpress.field.flight_file import Hold
from flexpress.field.mavlink.progress import Progress

ONE, TWO = Hold("client-1", 2, 3), Hold("client-2", 5, 6)
"""Item 4 is a corner between them, 7 the way home."""

Said = tuple[str, int]


def after(*said: Said) -> Hold | None:
    progress = Progress([ONE, TWO])
    for kind, item in said:
        (progress.now_flies if kind == "flies" else progress.has_reached)(item)
    return progress.holding


CASES: dict[str, tuple[tuple[Said, ...], Hold | None]] = {
    "nothing was said": ((), None),
    "on the way to the first client": ((("flies", 2),), None),
    "reached it": ((("flies", 2), ("reached", 2)), ONE),
    "holds": ((("flies", 2), ("reached", 2), ("flies", 3)), ONE),
    "holds, and the arrival was not heard": ((("flies", 2), ("flies", 3)), ONE),
    "holds, and nothing else was heard": ((("flies", 3),), ONE),
    "the hold is over": ((("flies", 3), ("reached", 3)), None),
    "the hold is over, and it says so twice": ((("flies", 3), ("reached", 3), ("flies", 3)), None),
    "flies on": ((("flies", 3), ("reached", 3), ("flies", 4)), None),
    "a late arrival of the client before": ((("flies", 3), ("flies", 5), ("reached", 2)), None),
    "a corner was reached": ((("flies", 4), ("reached", 4)), None),
    "skipped a client": ((("flies", 2), ("flies", 6)), TWO),
    "went back": ((("flies", 3), ("reached", 3), ("flies", 5), ("flies", 3)), ONE),
    "on its way back": ((("flies", 2), ("reached", 2), ("flies", 5), ("flies", 2)), None),
    "on the way home": ((("flies", 6), ("reached", 6), ("flies", 7)), None),
    "home is item -1 of ArduPilot": ((("flies", -1),), None),
}


@pytest.mark.parametrize("name", CASES)
def test_where_it_holds(name: str) -> None:
    said, hold = CASES[name]
    assert after(*said) == hold


@pytest.mark.parametrize("name", CASES)
def test_what_is_said_twice_means_the_same(name: str) -> None:
    said, hold = CASES[name]
    assert after(*(one for each in said for one in (each, each))) == hold


def test_a_new_flight_begins_with_nothing() -> None:
    progress = Progress([ONE, TWO])
    progress.now_flies(3)
    progress.forget()
    assert (progress.current, progress.holding) == (None, None)
