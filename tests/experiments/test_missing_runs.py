"""What is started, and what is not: runs that are over, complete or diverged."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from few_runs import small, study_of

from flexpress.cli.reproducing import run_missing
from flexpress.experiments import parallel
from flexpress.experiments.run import Run, perform


def test_only_what_is_not_over_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    complete, begun, fresh = small(1), small(3), small(4)
    diverged = small(2, learning_rate=1e38)
    for run, stop in ((complete, False), (diverged, False), (begun, True)):
        perform(
            run,
            tmp_path / run.key,
            on_event=lambda event, simulation: None,
            should_stop=lambda stop=stop: stop,  # type: ignore[misc]  # its value now
        )
    started: list[str] = []

    def note(missing: Mapping[str, Run], *_: object, **__: object) -> bool:
        started.extend(missing)
        return True

    monkeypatch.setattr(parallel, "run_in_processes", note)
    assert run_missing(study_of(complete, diverged, begun, fresh), tmp_path, 1)
    assert started == [begun.key, fresh.key]
