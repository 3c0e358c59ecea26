"""Runs on the machines of a Ray cluster, whole ones: only their inputs and their files travel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from flexpress.cluster import cluster_cores, on_cluster, one_line, told_here
from flexpress.errors import FlexpressError
from flexpress.experiments.crew import News
from flexpress.experiments.run import Run
from flexpress.experiments.run_elsewhere import (
    HOME_SECONDS,
    Parcel,
    Post,
    files_in,
    perform_elsewhere,
)
from flexpress.learning.datasets import load_dataset
from flexpress.scenario.folder import write_files
from flexpress.simulation.sole_use import sole_use
from flexpress.versions import versions

PATIENCE = 0.2
"""Seconds to wait for news."""

MOST_LOSSES = 5
"""Machines or processes that may be lost with one run."""


def perform_on_ray(
    runs: Mapping[str, Run],
    folder: Path,
    jobs: int | None,
    *,
    on_start: Callable[[str], None],
    on_news: Callable[[News], None],
    on_end: Callable[[str], None],
    should_stop: Callable[[], bool],
) -> bool:
    """As `perform_all`, on the cluster we are connected to; by default a run a core at a time."""
    with on_cluster() as ray:
        journey = Journey(ray, runs, folder)
        try:
            return journey.go(jobs or cluster_cores(ray), on_start, on_news, on_end, should_stop)
        finally:
            journey.end()


class Journey:
    """Runs that are away."""

    def __init__(self, ray: Any, runs: Mapping[str, Run], folder: Path) -> None:
        self._ray, self._runs, self._folder = ray, runs, folder
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        self._post = ray.remote(num_cpus=0, scheduling_strategy=here)(Post).remote()
        self._perform = ray.remote(num_cpus=1, max_retries=0)(perform_elsewhere)
        self._datasets: dict[tuple[str, str | None], Any] = {}
        self._away: dict[Any, str] = {}  # keys by the reference to the result
        self._folders: dict[str, ExitStack] = {}  # which nobody else may use
        self._losses: Counter[str] = Counter()

    def go(
        self,
        jobs: int,
        on_start: Callable[[str], None],
        on_news: Callable[[News], None],
        on_end: Callable[[str], None],
        should_stop: Callable[[], bool],
    ) -> bool:
        waiting, stopped = list(self._runs), False
        while self._away or (waiting and not stopped):
            if should_stop() and not stopped:
                stopped = True
                self._post.stop.remote()
            while waiting and len(self._away) < jobs and not stopped:
                key = waiting.pop(0)
                on_start(key)
                self._take_folder(key)
                self._send(key)
            self._read_letters(on_news)
            for reference in self._back():
                key = self._away.pop(reference)
                if self._receive(key, reference):
                    on_end(key)
        return not stopped

    def end(self) -> None:
        """Whatever is still away works in vain."""
        for reference in self._away:
            self._ray.cancel(reference, force=True)
        self._ray.kill(self._post)
        for held in self._folders.values():
            held.close()

    def _take_folder(self, key: str) -> None:
        self._folders[key] = ExitStack()
        self._folders[key].enter_context(sole_use(self._folder / key))

    def _send(self, key: str) -> None:
        """With the files as they are at home; data go to each machine once."""
        run, home = self._runs[key], self._folder / key
        parcel = Parcel(key, run, str(home), files_in(home), versions(), HOME_SECONDS)
        dataset = self._dataset(run)
        self._away[self._perform.remote(parcel, dataset, self._post)] = key

    def _dataset(self, run: Run) -> Any:
        settings = run.scenario.learning
        name = settings.dataset, settings.data_dir
        if name not in self._datasets:
            self._datasets[name] = self._ray.put(load_dataset(settings))
        return self._datasets[name]

    def _back(self) -> list[Any]:
        if not self._away:
            return []
        ready, _ = self._ray.wait(list(self._away), num_returns=1, timeout=PATIENCE)
        return list(ready)

    def _read_letters(self, on_news: Callable[[News], None]) -> None:
        """Of those that are away: letters may arrive after their run."""
        for letter in self._ray.get(self._post.fetch.remote()):
            if letter.key not in self._away.values():
                continue
            if isinstance(letter, News):
                on_news(letter)
            else:
                write_files(self._folder / letter.key, letter.files)

    def _receive(self, key: str, reference: Any) -> bool:
        """Whether it is over; what is lost on the way is sent again."""
        try:
            with told_here(self._ray):
                over, files = self._ray.get(reference)
        except self._ray.exceptions.RayError as error:
            self._losses[key] += 1
            if self._losses[key] == MOST_LOSSES:
                raise FlexpressError(
                    f"a run was lost {MOST_LOSSES} times, perhaps for want of memory: "
                    f"{one_line(error)}; start again to go on"
                ) from None
            self._send(key)
            return False
        write_files(self._folder / key, files)
        self._folders.pop(key).close()
        return bool(over)
