"""One run on a machine of a Ray cluster: its files come with it, and go home when it ends.

Now and then the files are sent home as they are: what a machine has done is not lost with it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from flexpress.cluster import import_ray
from flexpress.errors import InputError
from flexpress.experiments.crew import News
from flexpress.experiments.run import Run, perform
from flexpress.learning.choose import choose_net, learner_of, task_of
from flexpress.learning.task import Dataset
from flexpress.scenario.folder import write_files
from flexpress.simulation.events import Evaluation, Event
from flexpress.simulation.run_folder import RUN_FILES
from flexpress.simulation.simulate import Simulation
from flexpress.versions import check_versions

HOME_SECONDS = 60.0
"""From one sending of the files to the next: work that is lost at most."""

ASK_SECONDS = 0.5
"""From one question whether to stop to the next."""

Files = dict[str, bytes]


@dataclass(frozen=True)
class Snapshot:
    """The files of a run at some moment; a run can go on from them as after a kill."""

    key: str
    files: Files


class Post:
    """An actor: runs leave their news here until they are fetched, and learn if they shall stop."""

    def __init__(self) -> None:
        self._letters: list[News | Snapshot] = []
        self._stop = False

    def leave(self, *letters: News | Snapshot) -> bool:
        self._letters.extend(letters)
        return self._stop

    def fetch(self) -> list[News | Snapshot]:
        letters, self._letters = self._letters, []
        return letters

    def stop(self) -> None:
        self._stop = True


class Caller:
    """A run's side of the post."""

    def __init__(self, post: Any, key: str, folder: Path, home_seconds: float) -> None:
        self._ray = import_ray()
        self._post, self._key, self._folder = post, key, folder
        self._home_seconds = home_seconds
        self._answer: Any = post.leave.remote()
        self._ask_at = self._send_at = time.monotonic()
        self._stop = False

    def hear(self, event: Event, simulation: Simulation) -> None:
        if isinstance(event, Evaluation):
            self._post.leave.remote(News(self._key, event.slot, simulation.metrics[-1].accuracy))
        if time.monotonic() > self._send_at + self._home_seconds:
            self._send_at = time.monotonic()
            self._post.leave.remote(Snapshot(self._key, files_in(self._folder)))

    def should_stop(self) -> bool:
        """As far as the last answer told; the next question is on its way."""
        if time.monotonic() > self._ask_at + ASK_SECONDS:
            self._stop = self._stop or self._ray.get(self._answer)
            self._answer = self._post.leave.remote()
            self._ask_at = time.monotonic()
        return self._stop


@dataclass(frozen=True, eq=False)
class Parcel:
    """A run on its way, with all that it has done before."""

    key: str
    run: Run
    folder: str  # its name at home, for complaints
    files: Files
    versions: Mapping[str, str]
    home_seconds: float


def perform_elsewhere(parcel: Parcel, dataset: Dataset, post: Any) -> tuple[bool, Files]:
    """Whether it is over, and its files."""
    check_versions(parcel.versions)
    run, scenario = parcel.run, parcel.run.scenario
    with TemporaryDirectory(prefix="flexpress-") as place:
        folder = Path(place)
        write_files(folder, parcel.files)
        caller = Caller(post, parcel.key, folder, parcel.home_seconds)
        net, task = choose_net(scenario, "auto"), task_of(scenario, dataset)
        learner = learner_of(task, net, threads=1)
        try:
            over = perform(
                run, folder, learner, on_event=caller.hear, should_stop=caller.should_stop
            )
        except InputError as error:
            raise InputError(str(error).replace(place, parcel.folder)) from None
        return over, files_in(folder)


def files_in(folder: Path) -> Files:
    """Of a run: in an order in which they may be written one by one."""
    paths = [folder / name for name in RUN_FILES]
    return {path.name: path.read_bytes() for path in paths if path.exists()}
