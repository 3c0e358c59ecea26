"""`flexpress reproduce --quick`, the whole of it: minutes, and so the tests share one."""

from __future__ import annotations

import csv
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from small_run import environment

if TYPE_CHECKING:
    from flexpress.experiments.claims import Claim

LIMIT = 3600
"""Seconds, on a machine that is very busy; on a quiet one it takes less than two minutes."""


@dataclass(frozen=True)
class Reproduction:
    folder: Path
    code: int
    out: str
    err: str
    seconds: float

    def rows(self, name: str) -> list[dict[str, str]]:
        with (self.folder / "figures" / name).open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def decision(self, claim: Claim) -> dict[str, str]:
        """The row of its verdict."""
        (row,) = (
            row
            for row in self.rows("claims.csv")
            if row["claim"] == claim.name and row["decides"] == "yes"
        )
        return row


def reproduce(folder: Path) -> Reproduction:
    begun = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "flexpress", "reproduce", "--quick", "--out", str(folder)],
        capture_output=True,
        text=True,
        timeout=LIMIT,
        env=environment(),
        check=False,
    )
    seconds = time.monotonic() - begun
    return Reproduction(folder, done.returncode, done.stdout, done.stderr, seconds)
