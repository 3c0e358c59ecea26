"""Files from the web: whole and of the right checksum, or not there at all."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from flexpress.errors import InputError

if TYPE_CHECKING:
    from rich.progress import Progress

TIMEOUT = 30.0
"""Seconds without an answer."""

CHUNK = 2**16
AS_IT_IS = {"Accept-Encoding": "identity"}
"""A server that says of a .gz file that it was packed for the way would have it unpacked."""


def download(url: str, sha256: str, path: Path, tell: Callable[[str], None]) -> None:
    """The file at `path`; it has another name until it is whole and its checksum is right."""
    import pooch

    with quiet(pooch.get_logger()), progress_bar(path.name, url, tell) as bar:
        downloader = pooch.HTTPDownloader(
            progressbar=bar or False, chunk_size=CHUNK, timeout=TIMEOUT, headers=AS_IT_IS
        )
        try:
            pooch.retrieve(url, f"sha256:{sha256}", path.name, path.parent, downloader=downloader)
        except ValueError:  # so it says that the checksum is wrong
            raise InputError(
                f"{url}: not the official file, its checksum is wrong; try again, or get it "
                "elsewhere and name its folder in learning.data_dir"
            ) from None


@contextmanager
def quiet(logger: logging.Logger) -> Iterator[None]:
    """What pooch would say is said by the progress bar."""
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


@contextmanager
def progress_bar(name: str, url: str, tell: Callable[[str], None]) -> Iterator[Bar | None]:
    """A live bar on standard error, or a line through `tell` if that is no terminal."""
    if not sys.stderr.isatty():
        tell(f"downloading {url}")
        yield None
        return
    from rich.console import Console
    from rich.progress import DownloadColumn, Progress, TimeRemainingColumn

    columns = (*Progress.get_default_columns()[:2], DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as live:
        yield Bar(live, name)


class Bar:
    """What pooch wants of a progress bar."""

    def __init__(self, live: Progress, name: str) -> None:
        self._live = live
        self._task = live.add_task(name, total=None)

    @property
    def total(self) -> float | None:
        return self._live.tasks[0].total

    @total.setter
    def total(self, size: float) -> None:
        self._live.update(self._task, total=size or None)

    def update(self, count: int) -> None:
        self._live.advance(self._task, count)

    def reset(self) -> None:
        """Called at the end, before `update` with everything."""
        self._live.update(self._task, completed=0)

    def close(self) -> None:
        pass
