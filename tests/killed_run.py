"""`flexpress simulate` in a process of its own, to be killed at any moment."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from small_run import environment

PROGRAM = """
import sys
from flexpress.simulation import recorder
recorder.CHECKPOINT_SECONDS = 0.05
from flexpress.cli import main
sys.exit(main(sys.argv[1:]))
"""
WAIT = 120


@dataclass(frozen=True)
class Ended:
    code: int  # negative: the signal that ended it
    out: str
    err: str
    began: float  # seconds until the file was there that was waited for
    seconds: float


def start(*arguments: str, cwd: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        env=environment(),
    )


def run(
    *arguments: str,
    cwd: Path,
    signals: Sequence[signal.Signals] = (),
    after: float = 0.0,
    seen: Path | None = None,
) -> Ended:
    """Send the signals so many seconds after the start, or after a file of the run is there."""
    start_time = time.monotonic()
    with start(*arguments, cwd=cwd) as process:
        wait_for(process, seen)
        began = time.monotonic() - start_time
        if signals:
            wait(process, after)
        for number in signals:
            process.send_signal(number)
            time.sleep(0.02)
        out, err = process.communicate(timeout=WAIT)
    return Ended(process.returncode, out, err, began, time.monotonic() - start_time)


def wait(process: subprocess.Popen[str], seconds: float) -> None:
    """Not longer than it lives."""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return


def wait_for(process: subprocess.Popen[str], path: Path | None) -> None:
    deadline = time.monotonic() + WAIT
    while path and not path.exists() and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.005)
