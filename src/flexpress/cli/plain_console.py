"""Rich's console for text that is not ours to interpret."""

from __future__ import annotations

from typing import TextIO

from rich.console import Console


class PlainConsole(Console):
    """For text of the user's own: brackets and colons in it mean nothing special."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(file=stream, markup=False, emoji=False, highlight=False)

    def on_broken_pipe(self) -> None:
        """Rich would end the program with exit code 1: `main` knows that nothing is wrong."""
        raise BrokenPipeError
