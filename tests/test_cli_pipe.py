"""Commands whose output somebody stops reading, as `head -1` does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from small_run import environment, write_scenario
from thinned import by_default

COMMANDS = [("plan",), ("simulate", "--json"), ("plan", "--json"), ("simulate",), ("data",)]


@pytest.mark.parametrize("arguments", by_default(2, COMMANDS))
def test_nobody_reads_on(arguments: tuple[str, ...], tmp_path: Path) -> None:
    """Nothing is wrong with that: no complaint, exit code 0."""
    scenario = write_scenario(tmp_path / "four.toml")
    command, *options = arguments
    process = subprocess.Popen(
        [sys.executable, "-m", "flexpress", command, scenario, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env=environment(),
    )
    assert process.stdout
    assert process.stderr
    process.stdout.close()
    with process.stderr as errors:
        said = [line for line in errors if "compiling" not in line]
    assert (process.wait(), said) == (0, [])
