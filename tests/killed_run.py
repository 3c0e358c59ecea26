"""`flexpress simulate` in a process of its own, which is disturbed at any moment.

Either it disturbs itself, at an event that is named; or we do, after some time.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from process_group import PATIENCE
from small_run import environment

PROGRAM = """
import os, signal, sys
from flexpress.simulation import run_files
from flexpress.simulation.run_files import RunWriter

moment, *signals = sys.argv[1].split(",")
if moment == "never":
    run_files._CHECKPOINT_SECONDS = 0.05
else:
    run_files._CHECKPOINT_SECONDS = 1e9  # but for those below
record, recorded = RunWriter.record, 0

def record_and_disturb(self, event):
    global recorded
    record(self, event)
    recorded += 1
    if moment != "never" and recorded % 25 == 0:
        self.checkpoint()
    if str(recorded) == moment:
        for name in signals:
            os.kill(os.getpid(), getattr(signal, name))
        if not signals:
            print("there", flush=True)
            sys.stdin.readline()

RunWriter.record = record_and_disturb
from flexpress.cli import main
sys.exit(main(sys.argv[2:]))
"""


@dataclass(frozen=True)
class Ended:
    code: int  # negative: the signal that ended it
    out: str
    err: str


def start(when: str, *arguments: str, cwd: Path) -> subprocess.Popen[str]:
    """When: never, or after which event and by which signals; without any it waits for a line."""
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, when, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        env=environment(),
    )


def run(
    *arguments: str, cwd: Path, event: int = 0, signals: Sequence[signal.Signals] = ()
) -> Ended:
    """It sends itself the signals when so many events are recorded; a checkpoint every 25."""
    when = ",".join([str(event), *(number.name for number in signals)])
    with start(when, *arguments, cwd=cwd) as process:
        out, err = process.communicate(timeout=PATIENCE)
    return Ended(process.returncode, out, err)


def kill(*arguments: str, cwd: Path, after: float) -> Ended:
    """So many seconds after its start, wherever it is then; not if it is done."""
    with start("never", *arguments, cwd=cwd) as process:
        time.sleep(after)
        process.kill()
        out, err = process.communicate(timeout=PATIENCE)
    return Ended(process.returncode, out, err)
