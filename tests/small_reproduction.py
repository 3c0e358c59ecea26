"""`flexpress reproduce --quick` on a scale of seconds, in processes that tests may disturb."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from process_group import PATIENCE, Started, started
from small_run import RESULTS, contents

PROGRAM = Path(__file__).parent / "small_flexpress.py"
PROGRESS = re.compile(r"flexpress: \d+ of \d+ runs(, .+ left)?")


@contextmanager
def reproducing(folder: Path, *options: str, model: str = "lenet") -> Iterator[Started]:
    arguments = [str(PROGRAM), model, "reproduce", "--quick", *options, "--out", str(folder)]
    with started(arguments) as process:
        yield process


def reproduce(folder: Path, *options: str, model: str = "lenet") -> list[str]:
    """Undisturbed, to the end; what it said besides how far it was."""
    with reproducing(folder, *options, model=model) as process:
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (0, f" page: {folder / 'report.html'}\n"), err
    told = (line for line in err.splitlines() if "compiling" not in line)
    return [line for line in told if not PROGRESS.fullmatch(line)]


def written(folder: Path) -> dict[str, bytes]:
    """The page and all that lies beside it, whatever its name; of the runs, their results.

    Plans tell how many seconds it took to make them.
    """
    return {
        name: content
        for name, content in contents(folder).items()
        if not name.startswith(("runs/", "plans/")) or Path(name).name in RESULTS
    }
