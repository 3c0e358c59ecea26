"""`flexpress plan` that would go on for ever, in processes: it shows when each start has a plan."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from process_group import Started, started, wait_until

PROGRAM = """
import sys
from pathlib import Path
from flexpress.cli import main
from flexpress.planning.starts import _Summary

hear = _Summary.hear

def hear_and_show(self, number, progress):
    hear(self, number, progress)
    if progress.cost is not None:
        Path(f"planned-{number}").touch()

_Summary.hear = hear_and_show
sys.exit(main(sys.argv[1:]))
"""
OPTIONS = ("--iterations", "1000000000", "--starts", "3", "--jobs", "2", "--json")


@contextmanager
def planning_for_ever(folder: Path) -> Iterator[Started]:
    """Two starts of three are at work, and both have a plan."""
    with started(["-c", PROGRAM, "plan", "paper", *OPTIONS], cwd=folder) as process:
        shown = [folder / f"planned-{number}" for number in (0, 1)]
        wait_until(lambda: process.poll() is not None or all(path.exists() for path in shown))
        yield process
