"""Runs that are shown on one page: each under a name that tells it from the others."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from flexpress.report.page import Cell
from flexpress.report.run_summary import RunSummary, summarise
from flexpress.simulation.stored_run import StoredRun

MOST_TOLD = 12
"""Runs that a sentence tells of."""


@dataclass(frozen=True, eq=False)
class ShownRun:
    name: str
    run: StoredRun

    @cached_property
    def summary(self) -> RunSummary:
        return summarise(self.run.trace)

    @property
    def state(self) -> Cell:
        """In words, and for the eye."""
        reached = f"in slot {self.summary.slot:,} of {self.run.trace.horizon:,}"
        if self.run.state == "complete":
            return Cell("complete", "good")
        if self.run.state == "diverged":
            return Cell(f"diverged {reached}", "bad")
        return Cell(f"unfinished, {reached}", "open")


def first_few(texts: Sequence[str]) -> list[str]:
    """For sentences: of many the first, and how many more there are."""
    more = len(texts) - MOST_TOLD
    return [*texts[:MOST_TOLD], f"and {more:,} more"] if more > 0 else list(texts)


def shown_runs(runs: Sequence[StoredRun]) -> list[ShownRun]:
    names = run_names([run.folder for run in runs])
    return [ShownRun(name, run) for name, run in zip(names, runs, strict=True)]


def run_names(folders: Sequence[Path]) -> list[str]:
    """Their places below the folder that all of them are in; of a single one its own name."""
    places = [folder.resolve() for folder in folders]
    if len(places) == 1:
        return [places[0].name]
    common = common_folder(folders)
    return [place.relative_to(common).as_posix() for place in places]


def common_folder(folders: Sequence[Path]) -> Path:
    """The folder that all of them are in; of a single one itself."""
    return Path(os.path.commonpath([folder.resolve() for folder in folders]))
