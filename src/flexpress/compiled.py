"""Compiled code: announced when it is made, and removed from the cache when it is stale."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from numba.core.event import Event, Listener, install_listener

from flexpress.callbacks import Tell


@contextmanager
def announced(tell: Tell, what: str) -> Iterator[None]:
    """Call `tell` once if code is compiled in the block, rather than read from the cache."""
    notice = _CompilationNotice(lambda: tell(f"compiling {what}"))
    with install_listener("numba:compile", notice):
        yield


class _CompilationNotice(Listener):
    """Reports once that compilation begins."""

    def __init__(self, tell: Callable[[], None]) -> None:
        self._tell = tell
        self._reported = False

    def on_start(self, event: Event) -> None:
        if not self._reported:
            self._reported = True
            self._tell()

    def on_end(self, event: Event) -> None:
        pass


def drop_stale_code(compiled: Any, folder: Path) -> None:
    """Delete cached code of this function that is older than any file of the folder.

    Numba checks the function's own file only: it would miss a change in the functions it calls.
    """
    newest = max(path.stat().st_mtime for path in folder.glob("*.py"))
    for index in cached_code(compiled):
        if index.stat().st_mtime < newest:
            index.unlink(missing_ok=True)


def cached_code(compiled: Any) -> list[Path]:
    """Numba's index files of this function: one for each line that it has stood in."""
    module = compiled.__module__.rpartition(".")[2]
    cache = Path(str(compiled.stats.cache_path))
    return sorted(cache.glob(f"{module}.{compiled.__name__}-*.nbi"))
