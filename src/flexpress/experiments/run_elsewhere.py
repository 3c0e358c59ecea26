"""One run on a machine of a Ray cluster: its files come with it, and go home when it ends.

Now and then the files are sent home as they are: what a machine has done is not lost with it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from flexpress.errors import InputError
from flexpress.experiments.crew import News, reporter
from flexpress.experiments.run import Run, perform
from flexpress.files.disk import write_files
from flexpress.files.provenance import RECORD
from flexpress.learning import Dataset
from flexpress.learning.engines import choose_net, learner_of
from flexpress.learning.task import task_of
from flexpress.simulation.events import Event
from flexpress.simulation.run_folder import RUN_FILES
from flexpress.simulation.simulate import Simulation

Files = dict[str, bytes]
"""Of a run at some moment: it can go on from them as after a kill."""


def perform_elsewhere(
    run: Run,
    home: Path,
    home_seconds: float,
    files: Files,
    dataset: Dataset,
    tell: Callable[[News | Files], None],
    should_stop: Callable[[], bool],
) -> tuple[bool, Files]:
    """Whether it is over, and its files; it begins with those that it had at home."""
    learner = learner_of(
        task_of(run.scenario, dataset), choose_net(run.scenario, "auto"), threads=1
    )
    with TemporaryDirectory(prefix="flexpress-") as place:
        folder = Path(place)
        write_files(folder, files)
        report, sent = reporter(home.name, tell), time.monotonic()

        def on_event(event: Event, simulation: Simulation) -> None:
            nonlocal sent
            report(event, simulation)
            if time.monotonic() > sent + home_seconds:
                sent = time.monotonic()
                tell(files_in(folder))

        try:
            over = perform(run, folder, learner, on_event=on_event, should_stop=should_stop)
        except InputError as error:
            raise InputError(str(error).replace(place, str(home))) from None
        return over, files_in(folder)


def files_in(folder: Path) -> Files:
    """Of a run: in an order in which they may be written one by one."""
    paths = [folder / name for name in (RECORD, *RUN_FILES)]
    return {path.name: path.read_bytes() for path in paths if path.exists()}
