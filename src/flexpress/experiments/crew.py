"""Runs in parallel processes: they tell how far they are, and can be stopped and gone on with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from flexpress.errors import FlexpressError
from flexpress.experiments.run import Run, perform
from flexpress.simulation.events import Evaluation, Event
from flexpress.simulation.simulate import Simulation
from flexpress.workers import processes


@dataclass(frozen=True)
class News:
    """From a run under way."""

    key: str
    slot: int
    accuracy: float


def perform_all(
    runs: Mapping[str, Run],
    folder: Path,
    jobs: int,
    *,
    on_start: Callable[[str], None],
    on_news: Callable[[News], None],
    on_end: Callable[[str], None],
    should_stop: Callable[[], bool],
) -> bool:
    """Each in the folder of its key, in their order; False if it was asked to stop before the end.

    What a run has done when it is stopped, or killed, is not lost: it goes on from there.
    """

    def on_result(key: str, whole: bool) -> None:
        if whole:
            on_end(key)

    try:
        return processes.perform_all(
            {key: partial(work, run, folder / key, key) for key, run in runs.items()},
            jobs,
            on_start=on_start,
            on_news=lambda _, news: on_news(news),
            on_end=on_result,
            should_stop=should_stop,
        )
    except BrokenProcessPool:
        raise FlexpressError(
            "a process was ended from outside, perhaps for want of memory; start again to go on"
        ) from None


def work(
    run: Run,
    folder: Path,
    key: str,
    tell: Callable[[News], None],
    should_stop: Callable[[], bool],
) -> bool:
    return perform(run, folder, on_event=reporter(key, tell), should_stop=should_stop)


def reporter(key: str, tell: Callable[[News], None]) -> Callable[[Event, Simulation], None]:
    """Tells of every evaluation."""

    def on_event(event: Event, simulation: Simulation) -> None:
        if isinstance(event, Evaluation):
            tell(News(key, event.slot, simulation.metrics[-1].accuracy))

    return on_event
