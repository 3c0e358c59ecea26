"""Machine code: kept on the disk between runs, made anew when it is stale, and announced."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from numba.core.event import Event, Listener, install_listener


@contextmanager
def announced(tell: Callable[[str], None], what: str) -> Iterator[None]:
    """Within the block the user is told, once, if something is compiled rather than read."""
    notice = CompilationNotice(lambda: tell(f"compiling {what}"))
    with install_listener("numba:compile", notice):
        yield


class CompilationNotice(Listener):
    """Tells once when compilation begins; code that is read from the disk is not compiled."""

    def __init__(self, tell: Callable[[], None]) -> None:
        self._tell = tell
        self._told = False

    def on_start(self, event: Event) -> None:
        if not self._told:
            self._told = True
            self._tell()

    def on_end(self, event: Event) -> None:
        pass


def drop_stale_code(compiled: Any, folder: Path) -> None:
    """Delete the code of this function that is older than any file of the folder.

    Numba's cache looks at the function's own file only: a change in the others that it is made of
    would go unnoticed.
    """
    newest = max(path.stat().st_mtime for path in folder.glob("*.py"))
    name = compiled.__name__
    for index in Path(str(compiled.stats.cache_path)).glob(f"{name}.{name}-*.nbi"):
        if index.stat().st_mtime < newest:
            index.unlink(missing_ok=True)
