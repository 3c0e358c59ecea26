"""What the tests need compiled, before any worker starts: else each would compile it for itself.

A program: `python compiled_first.py learning` and the like, a process for each part.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

from small_run import FOUR, environment

from flexpress import Scenario, make_learner, make_plan
from flexpress.planning.bounds import load as load_bounds


def search_and_learner() -> None:
    for scenario in (FOUR, Scenario.preset("alps")):  # distances in metres, and a matrix of them
        make_plan(scenario, solver="search", iterations=1)
    make_learner(FOUR)


def bounds_and_carp() -> None:
    load_bounds()
    make_plan(FOUR, solver="carp", iterations=1)


PARTS: dict[str, Callable[[], None]] = {
    part.__name__: part for part in (search_and_learner, bounds_and_carp)
}
"""Of about the same length, for two cores."""


def compile_first() -> None:
    """A second or two where all of it is on the disk already."""
    arguments = [[sys.executable, __file__, name] for name in PARTS]
    started = [subprocess.Popen(each, env=environment()) for each in arguments]
    failed = [name for name, each in zip(PARTS, started, strict=True) if each.wait()]
    if failed:
        raise RuntimeError(f"not compiled: {', '.join(failed)}")


if __name__ == "__main__":
    PARTS[sys.argv[1]]()
