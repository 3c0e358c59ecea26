"""Runs on the machines of a Ray cluster, whole ones: only their inputs and their files travel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from flexpress.errors import FlexpressError
from flexpress.experiments.crew import News
from flexpress.experiments.run import Run
from flexpress.experiments.run_elsewhere import Files, files_in, perform_elsewhere
from flexpress.files.disk import write_files
from flexpress.files.lock import sole_use
from flexpress.learning.datasets import load_dataset
from flexpress.workers.cluster import cluster_cores, on_cluster
from flexpress.workers.processes import perform_all
from flexpress.workers.ray_executor import LostError, Packed, ray_pool

HOME_SECONDS = 60.0
"""From one sending of a run's files to the next: work that is lost at most."""


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
    in_use: dict[str, ExitStack] = {}

    def begin(key: str) -> None:
        on_start(key)
        in_use[key] = held.enter_context(ExitStack())
        in_use[key].enter_context(sole_use(folder / key))

    def hear(key: str, news: News | Files) -> None:
        if isinstance(news, News):
            on_news(news)
        else:
            write_files(folder / key, news)

    def end(key: str, result: tuple[bool, Files]) -> None:
        over, files = result
        write_files(folder / key, files)
        in_use.pop(key).close()
        if over:
            on_end(key)

    tasks: dict[str, Any] = {  # to be completed when they are packed
        key: partial(perform_elsewhere, run, folder / key, HOME_SECONDS)
        for key, run in runs.items()
    }
    with on_cluster() as ray, ExitStack() as held:
        try:
            return perform_all(
                tasks,
                jobs or cluster_cores(ray),
                on_start=begin,
                on_news=hear,
                on_end=end,
                should_stop=should_stop,
                open_pool=partial(ray_pool, pack=Packer(ray, runs, folder)),
            )
        except LostError as error:
            raise FlexpressError(f"a run was {error}; start again to go on") from None


class Packer:
    """Puts into a run's parcel the files that it has at home; data go to each machine once."""

    def __init__(self, ray: Any, runs: Mapping[str, Run], folder: Path) -> None:
        self._ray, self._runs, self._folder = ray, runs, folder
        self._datasets: dict[tuple[str, str | None], Any] = {}

    def __call__(self, key: str, task: Callable[..., Any]) -> Packed:
        return partial(task, files_in(self._folder / key)), (self._dataset(self._runs[key]),)

    def _dataset(self, run: Run) -> Any:
        settings = run.scenario.learning
        name = settings.dataset, settings.data_dir
        if name not in self._datasets:
            self._datasets[name] = self._ray.put(load_dataset(settings))
        return self._datasets[name]
