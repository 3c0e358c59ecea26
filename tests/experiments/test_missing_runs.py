"""What is started, and what is not: runs that are over, complete or diverged."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from few_runs import small, study_of

from flexpress.experiments import reproduce
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

    monkeypatch.setattr(reproduce, "run_in_processes", note)
    study = study_of(complete, diverged, begun, fresh)
    counts: list[tuple[int, int]] = []
    whole = reproduce._run_missing(
        study,
        tmp_path,
        1,
        lambda progress: counts.append((progress.done, progress.total)),
        should_stop=lambda: False,
        tell=lambda note: None,
        on_ray=False,
    )
    assert whole
    assert started == [begun.key, fresh.key]
