"""What the tests of all commands use."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import Outcome, Run, cli
from quick_reproduction import Reproduction, reproduce
from small_cluster import small_cluster

from flexpress.cluster import ALONE

os.environ.update(ALONE)  # whichever test imports Ray first


@pytest.fixture(autouse=True)
def _own_modules(tmp_path: Path) -> Iterator[None]:
    """Modules that a test writes and imports are forgotten, with the folders that were searched."""
    path = list(sys.path)
    yield
    sys.path[:] = path
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]
    importlib.invalidate_caches()


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


@pytest.fixture(scope="session")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    return reproduce(tmp_path_factory.mktemp("quick") / "out")


@pytest.fixture(scope="session")
def ray() -> Iterator[Any]:
    """The module, connected; tests that ask for it are skipped where Ray is not installed."""
    with small_cluster() as module:
        yield module
