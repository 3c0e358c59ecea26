"""Ctrl-C before anything has begun, and a terminal that closes: no traceback, and nothing lost."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from process_group import PATIENCE, started
from small_run import environment

from flexpress import Scenario, load_plan

PRESSED = """
import os, runpy, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever started us may ignore it

class Press:
    @staticmethod
    def find_spec(name, *_):
        if name == module:
            sys.meta_path.remove(Press)
            os.kill(os.getpid(), signal.SIGINT)

module = sys.argv.pop(1)
sys.meta_path.insert(0, Press)
"""
AS_MODULE = "runpy.run_module('flexpress', {}, '__main__')"
AS_SCRIPT = "from flexpress.__main__ import main; sys.exit(main())"


def press_at(module: str, start: str) -> tuple[int, str]:
    """Exit code and complaints of `flexpress plan four`; Ctrl-C comes as it imports this."""
    with started(["-c", PRESSED + start, module, "plan", "four", "--json"]) as process:
        out, err = process.communicate(timeout=PATIENCE)
    assert out == ""
    return process.returncode, err


@pytest.mark.parametrize("start", [AS_MODULE, AS_SCRIPT], ids=["python -m", "flexpress"])
@pytest.mark.parametrize("module", ["flexpress.cli", "typer", "flexpress.cli.reproduce"])
def test_ctrl_c_while_commands_are_loaded(module: str, start: str) -> None:
    """Silently, and at once."""
    assert press_at(module, start) == (130, "")


@pytest.mark.parametrize("module", ["flexpress.scenario", "numpy"])
def test_ctrl_c_while_a_command_loads_what_it_needs(module: str) -> None:
    code, err = press_at(module, AS_SCRIPT)
    assert err == "flexpress: interrupted before there was a result\n"
    assert code in (130, -2)  # to a shell, which knows both by 130, it is the same


def test_the_program_begins_there() -> None:
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    assert project["scripts"] == {"flexpress": "flexpress.__main__:main"}


PLANNING = """
import os, sys, time
os.login_tty(int(sys.argv[1]))  # a session of its own, on this terminal
from flexpress.planning import solve
from flexpress.planning.progress import Progress

def wait(problem, objective, solver, effort, watch):
    while not watch.should_stop():
        watch.on_progress(Progress(0.5, 14.0, "at work"))
        time.sleep(0.01)
    return [[1, 2], [3, 4]]

solve.solve = wait
from flexpress.cli import main
sys.exit(main(["plan", "four", "--out", "out"]))
"""


def test_a_terminal_that_closes_loses_no_plan(tmp_path: Path) -> None:
    """Whatever is still written to it goes nowhere."""
    screen, terminal = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", PLANNING, str(terminal)],
        pass_fds=[terminal],
        cwd=tmp_path,
        env=environment(),
    ) as process:
        os.close(terminal)
        shown = b""
        while b"at work" not in shown:
            shown += os.read(screen, 1000)  # OSError if it has ended
        os.close(screen)
        assert process.wait(PATIENCE) == 0
    scenario = Scenario.load(tmp_path / "out" / "scenario-used.toml")
    assert load_plan(tmp_path / "out" / "plan.json", scenario).cost == pytest.approx(14.0)
    assert (tmp_path / "out" / "map.png").exists()
