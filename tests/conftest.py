"""What the tests of all commands use."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from command_line import Outcome, Run, cli


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    def run_command(*arguments: str) -> Outcome:
        code = cli.main(arguments)
        sys.stdout.flush()
        return Outcome(code, *capfd.readouterr())

    return run_command
