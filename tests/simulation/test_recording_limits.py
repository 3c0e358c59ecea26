"""What is not recorded, and what recording costs those who do not."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from quadratic import Watched
from runs import drawn

from flexpress import DivergedError, InputError
from flexpress.learning import Job, Vector
from flexpress.simulation import Trace, record, simulate


class Untrained(Watched):
    def train(self, jobs: Sequence[Job]) -> Vector:
        raise AssertionError("nothing may run")


def test_the_exact_clock_is_refused() -> None:
    fleet, learner = drawn(5, "exact")
    with pytest.raises(InputError, match=r'^run.clock = "exact": [^\n]*use run.clock = "slots"$'):
        record(fleet.scenario, fleet.plan, Untrained(learner))


def test_what_would_not_fit_is_refused_before_it_runs() -> None:
    """2 x slots x clients x parameters x 8 bytes, to the last slot."""
    fleet, learner = drawn(2, "slots")
    number, size = fleet.scenario.num_clients, learner.start.size
    most = 4 * 2**30 // (2 * number * size * 8)
    message = f"{most + 1} slots of {number} clients with {size} parameters take 4.0 GiB: "
    with pytest.raises(InputError, match=f"^{re.escape(message)}[^\n]* up to {most}, [^\n]*$"):
        record(fleet.scenario, fleet.plan, Untrained(learner), horizon=most + 1)


def test_a_horizon_of_nothing_is_refused() -> None:
    fleet, learner = drawn(2, "slots")
    with pytest.raises(InputError, match=r"run\.horizon = 0"):
        record(fleet.scenario, fleet.plan, learner, horizon=0)


def test_a_learner_that_returns_too_little() -> None:
    class Short(Watched):
        def train(self, jobs: Sequence[Job]) -> Vector:
            return super().train(jobs)[:, 1:]

    fleet, learner = drawn(2, "slots")
    expected = fleet.scenario.num_clients, 3
    with pytest.raises(
        InputError, match=rf"train\(\) returned .* must be {re.escape(str(expected))}"
    ):
        record(fleet.scenario, fleet.plan, Short(learner), algorithm="sync", horizon=1)


def test_local_models_that_diverge_before_anyone_lands() -> None:
    several = (drawn(seed, "slots") for seed in range(30))
    fleet, learner = next(pair for pair in several if max(pair[0].slots) > 5)
    wild, horizon = replace(learner, learning_rate=1e200), 2 * max(fleet.slots) - 1
    with pytest.raises(DivergedError, match=r"^sync: a local model is no longer finite") as caught:
        record(fleet.scenario, fleet.plan, wild, algorithm="sync", horizon=horizon)
    assert isinstance(caught.value.trace, Trace)
    assert caught.value.trace.horizon == horizon


def test_a_plain_run_holds_no_code_of_a_recording() -> None:
    """Recording nothing costs nothing: no function of this file is called."""
    assert files_of_calls(simulate) & RECORDING == set()
    assert files_of_calls(record) & RECORDING == RECORDING


RECORDING = {"recording.py"}


def files_of_calls(run: Callable[..., object]) -> set[str]:
    """Where the functions are that are called in a run."""
    fleet, learner = drawn(5, "slots")
    files: set[str] = set()

    def note(frame: FrameType, event: str, argument: object) -> None:
        files.add(Path(frame.f_code.co_filename).name)

    before: Any = sys.getprofile()
    sys.setprofile(note)
    try:
        run(fleet.scenario, fleet.plan, learner, horizon=fleet.horizon)
    finally:
        sys.setprofile(before)
    return files
