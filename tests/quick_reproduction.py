"""`flexpress reproduce --quick`, the whole of it: the tests share one, on a scale of seconds.

Among the slow tests there is the real one, too.
"""

from __future__ import annotations

import csv
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from process_group import PATIENCE
from small_reproduction import PROGRAM
from small_run import environment
from small_scale import SMALL

from flexpress.experiments.protocol import Scale, protocol, seeds_of

if TYPE_CHECKING:
    from flexpress.experiments.claims import Claim

COMMANDS = {"small": [str(PROGRAM), "logistic"], "real": ["-m", "flexpress"]}
SCALES = {"small": SMALL, "real": protocol().quick}


@dataclass(frozen=True)
class Reproduction:
    name: str
    folder: Path
    code: int
    out: str
    err: str

    @property
    def scale(self) -> Scale:
        return SCALES[self.name]

    @property
    def cells(self) -> list[tuple[str, str]]:
        """Networks and their seeds, as tables have them."""
        return [
            (str(network), str(seed))
            for network in range(self.scale.networks)
            for seed in seeds_of(network, self.scale.seeds)
        ]

    def rows(self, name: str) -> list[dict[str, str]]:
        with (self.folder / "figures" / name).open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def decisions(self, claim: Claim) -> list[dict[str, str]]:
        """The rows of its verdicts, in both readings."""
        return [
            row
            for row in self.rows("claims.csv")
            if row["claim"] == claim.name and row["decides"] == "yes"
        ]


def reproduce(name: str, folder: Path, *options: str) -> Reproduction:
    command = [sys.executable, *COMMANDS[name], "reproduce", "--quick", *options]
    done = subprocess.run(
        [*command, "--out", str(folder)],
        capture_output=True,
        text=True,
        timeout=6 * PATIENCE,
        env=environment(),
        check=False,
    )
    return Reproduction(name, folder, done.returncode, done.stdout, done.stderr)
