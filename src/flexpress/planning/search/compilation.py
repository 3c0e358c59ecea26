"""Machine code of the search: kept on the disk between runs, made anew when it is stale."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba.core.event import Event, Listener


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


def drop_stale_code(compiled: Any) -> None:
    """Delete the code of this function that is older than any file it is made of.

    Numba's cache looks at the function's own file only: a change in the others would go unnoticed.
    """
    folder = Path(str(compiled.stats.cache_path))
    newest = max(path.stat().st_mtime for path in Path(__file__).parent.glob("*.py"))
    name = compiled.__name__
    for index in folder.glob(f"{name}.{name}-*.nbi"):
        if index.stat().st_mtime < newest:
            index.unlink(missing_ok=True)
