"""Many runs at a time: in processes of this machine, or on the machines of a Ray cluster.

A run on Ray is a whole one: only its inputs and its files travel. The files are sent home every
minute and at the end, so that little is lost with a machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from flexpress.callbacks import ShouldStop
from flexpress.errors import FlexpressError, InputError
from flexpress.experiments.run import Run, perform
from flexpress.files.disk import write_files
from flexpress.files.lock import sole_use
from flexpress.files.provenance import RECORD
from flexpress.learning import Dataset
from flexpress.learning.datasets import load_dataset
from flexpress.learning.engines import choose_net, learner_of
from flexpress.learning.task import task_of
from flexpress.simulation.events import Evaluation, Event
from flexpress.simulation.run_files import RUN_FILES
from flexpress.simulation.simulate import Simulation
from flexpress.workers.cluster import cluster_cores, on_cluster
from flexpress.workers.processes import perform_all
from flexpress.workers.ray_executor import LostError, Packed, ray_pool

_SEND_SECONDS = 60.0
"""Time between two sendings of a run's files: at most this much work is lost."""

Files = dict[str, bytes]
"""The files of a run under way: it can be resumed from them, as after a kill."""


@dataclass(frozen=True)
class RunEvaluation:
    """An evaluation of a run under way."""

    key: str
    slot: int
    accuracy: float


def run_in_processes(
    runs: Mapping[str, Run],
    folder: Path,
    jobs: int,
    *,
    on_start: Callable[[str], None],
    on_progress: Callable[[RunEvaluation], None],
    on_end: Callable[[str], None],
    should_stop: ShouldStop,
) -> bool:
    """Perform each run in the folder of its key, `jobs` at a time; False if stopped before the end.

    A run that is stopped or killed is resumed the next time.
    """

    def end(key: str, over: bool) -> None:
        if over:
            on_end(key)

    try:
        return perform_all(
            {key: partial(_perform_here, run, folder / key, key) for key, run in runs.items()},
            jobs,
            on_start=on_start,
            on_news=lambda _, progress: on_progress(progress),
            on_end=end,
            should_stop=should_stop,
        )
    except BrokenProcessPool:
        raise FlexpressError(
            "a process was ended from outside, perhaps for lack of memory; start again to resume"
        ) from None


def run_on_ray(
    runs: Mapping[str, Run],
    folder: Path,
    jobs: int | None,
    *,
    on_start: Callable[[str], None],
    on_progress: Callable[[RunEvaluation], None],
    on_end: Callable[[str], None],
    should_stop: ShouldStop,
) -> bool:
    """As `run_in_processes`, on the connected cluster; by default one run per core."""
    in_use: dict[str, ExitStack] = {}

    def begin(key: str) -> None:
        on_start(key)
        in_use[key] = held.enter_context(ExitStack())
        in_use[key].enter_context(sole_use(folder / key))

    def receive(key: str, message: RunEvaluation | Files) -> None:
        if isinstance(message, RunEvaluation):
            on_progress(message)
        else:
            write_files(folder / key, message)

    def end(key: str, result: tuple[bool, Files]) -> None:
        over, files = result
        write_files(folder / key, files)
        in_use.pop(key).close()
        if over:
            on_end(key)

    tasks: dict[str, Any] = {  # the packer adds the missing arguments
        key: partial(_perform_remotely, run, folder / key, _SEND_SECONDS)
        for key, run in runs.items()
    }
    with on_cluster() as ray, ExitStack() as held:
        try:
            return perform_all(
                tasks,
                jobs or cluster_cores(ray),
                on_start=begin,
                on_news=receive,
                on_end=end,
                should_stop=should_stop,
                open_pool=partial(ray_pool, pack=_Packer(ray, runs, folder)),
            )
        except LostError as error:
            raise FlexpressError(f"a run was {error}; start again to resume") from None


def _perform_here(
    run: Run,
    folder: Path,
    key: str,
    send: Callable[[RunEvaluation], None],
    should_stop: ShouldStop,
) -> bool:
    """In a process of this machine. Returns whether the run is over."""
    return perform(run, folder, on_event=_reporter(key, send), should_stop=should_stop)


def _perform_remotely(
    run: Run,
    home: Path,
    send_seconds: float,
    files: Files,
    dataset: Dataset,
    send: Callable[[RunEvaluation | Files], None],
    should_stop: ShouldStop,
) -> tuple[bool, Files]:
    """On a machine of the cluster, starting from the files in the folder at home.

    Returns whether the run is over, and its files.
    """
    learner = learner_of(
        task_of(run.scenario, dataset), choose_net(run.scenario, "auto"), threads=1
    )
    with TemporaryDirectory(prefix="flexpress-") as place:
        folder = Path(place)
        write_files(folder, files)
        report, sent = _reporter(home.name, send), time.monotonic()

        def on_event(event: Event, simulation: Simulation) -> None:
            nonlocal sent
            report(event, simulation)
            if time.monotonic() > sent + send_seconds:
                sent = time.monotonic()
                send(_files_in(folder))

        try:
            over = perform(run, folder, learner, on_event=on_event, should_stop=should_stop)
        except InputError as error:
            raise InputError(str(error).replace(place, str(home))) from None
        return over, _files_in(folder)


def _files_in(folder: Path) -> Files:
    """The files of a run, in an order in which they can be written one by one."""
    paths = [folder / name for name in (RECORD, *RUN_FILES)]
    return {path.name: path.read_bytes() for path in paths if path.exists()}


def _reporter(
    key: str, send: Callable[[RunEvaluation], None]
) -> Callable[[Event, Simulation], None]:
    def on_event(event: Event, simulation: Simulation) -> None:
        if isinstance(event, Evaluation):
            send(RunEvaluation(key, event.slot, simulation.metrics[-1].accuracy))

    return on_event


class _Packer:
    """Adds the present files to each run that is sent. A data set goes to each machine once."""

    def __init__(self, ray: Any, runs: Mapping[str, Run], folder: Path) -> None:
        self._ray, self._runs, self._folder = ray, runs, folder
        self._datasets: dict[tuple[str, str | None], Any] = {}

    def __call__(self, key: str, task: Callable[..., Any]) -> Packed:
        return partial(task, _files_in(self._folder / key)), (self._dataset(self._runs[key]),)

    def _dataset(self, run: Run) -> Any:
        settings = run.scenario.learning
        name = settings.dataset, settings.data_dir
        if name not in self._datasets:
            self._datasets[name] = self._ray.put(load_dataset(settings))
        return self._datasets[name]
