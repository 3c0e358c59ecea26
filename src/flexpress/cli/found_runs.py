"""The run folders that arguments name: each itself, or all that lie in it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from flexpress.cli.learning import ALGORITHMS
from flexpress.errors import InputError


def find_runs(names: Sequence[str]) -> list[Path]:
    """Every run once, in the order in which they are named."""
    found = {run.resolve(): run for name in names for run in runs_in(Path(name))}
    return list(found.values())


def runs_in(folder: Path) -> list[Path]:
    """The folder itself if it holds a run, else the runs in it."""
    from flexpress.simulation.stored_run import is_run

    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; name one that `flexpress simulate` wrote")
    if is_run(folder):
        return [folder]
    runs = sorted((place for place in folder.iterdir() if is_run(place)), key=in_order)
    if not runs:
        raise InputError(f"{folder}: holds no run; `flexpress simulate SCENARIO` makes one")
    return runs


def in_order(folder: Path) -> tuple[int, str]:
    """Algorithms as they are listed everywhere, then other names by the alphabet."""
    known = folder.name in ALGORITHMS
    return ALGORITHMS.index(folder.name) if known else len(ALGORITHMS), folder.name
