"""What a section says: printed at once, and remembered for the README."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from table import Row, table_head, table_row


class Printer:
    """Standard output for what lasts, a line of the terminal for what is going on."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, *lines: str) -> None:
        self.lines += lines
        sys.stdout.write("".join(f"{line}\n" for line in lines))
        sys.stdout.flush()

    def tell(self, what: str = "") -> None:
        """Wiped again by the next call, or by one without a text."""
        if sys.stderr.isatty():
            sys.stderr.write(f"\r\x1b[K{what}")
            sys.stderr.flush()

    def table(self, head: Row, rows: Iterable[Row], widths: Sequence[int]) -> None:
        """Row after row, as they are known."""
        self.say(table_head(head, widths))
        for row in rows:
            self.tell()
            self.say(table_row(row, widths))
        self.say("")
