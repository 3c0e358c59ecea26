"""What the tests of all commands use."""

from __future__ import annotations

import base64
import importlib
import os
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import one_worker
import pytest
from command_line import Outcome, Run, cli
from compiled_first import compile_first
from hypothesis import HealthCheck, settings
from quick_reproduction import Reproduction, reproduce
from small_cluster import small_cluster

from flexpress.workers.cluster import _ALONE

os.environ.update(_ALONE)  # whichever test imports Ray first

for number in (signal.SIGINT, signal.SIGHUP):
    # Under `nohup`, or in the background of a shell, both are ignored, also by all that we start.
    # A handler of ours ignores them too, but is not inherited.
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, lambda *_: None)

settings.register_profile(  # a busy machine is no failure
    "patient", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("patient")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One more than cores: many tests wait for somebody else."""
    return 1 + (os.cpu_count() or 1)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes() -> None:
    """Before there are workers."""
    compile_first()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> one_worker.OneWorker:
    config.option.loadscopereorder = False  # ours is the order of the groups
    return one_worker.OneWorker(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    one_worker.check(items)
    items.sort(key=lambda item: one_worker.rank(item.nodeid))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What was skipped and how to get it: one line for each reason."""
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = Counter(str(report.longrepr[2]).removeprefix("Skipped: ") for report in skipped)
    for reason, number in reasons.most_common():
        terminalreporter.write_line(f"skipped {number}: {reason}")


@pytest.fixture(autouse=True)
def _own_modules(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Modules that a test writes and imports are forgotten, with the folders that were searched."""
    path, known = list(sys.path), set(sys.modules)
    yield
    own = [name for name in sys.modules.keys() - known if is_below(name, tmp_path_factory)]
    for name in own:
        del sys.modules[name]
    if own or sys.path != path:
        sys.path[:] = path
        importlib.invalidate_caches()


def is_below(name: str, places: pytest.TempPathFactory) -> bool:
    """Whether this module lies in a folder of the tests."""
    file = getattr(sys.modules[name], "__file__", None)
    return str(file).startswith(str(places.getbasetemp()))


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


BLANK_SVG = '<svg width="1pt" height="1pt" xmlns="http://www.w3.org/2000/svg"/>'
BLANK_PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
)


@pytest.fixture
def blank_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures are files as always, with nothing on them: for tests that look at other things."""

    def save(figure: object, file: Any, format: str = "png", **options: object) -> None:
        file.write(BLANK_SVG if format == "svg" else BLANK_PNG)

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", save)


@pytest.fixture(scope="session", params=["small", pytest.param("real", marks=pytest.mark.slow)])
def quick(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    return reproduce(request.param, tmp_path_factory.mktemp("quick") / "out")


@pytest.fixture(scope="session")
def ray() -> Iterator[Any]:
    """The module, connected; tests that ask for it are skipped where Ray is not installed."""
    with small_cluster() as module:
        yield module
