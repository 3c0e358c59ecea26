"""`--ray` of the command line: what is refused, what comes out, and Ctrl-C."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from command_line import Run
from process_group import PATIENCE, Started, living, looked_up, started, wait_until
from small_run import RESULTS, contents, press_after, write_scenario

COMMANDS = [
    ["simulate", "four"],
    ["reproduce", "--quick", "--figure", "network"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=["simulate", "reproduce"])
def test_without_ray(run: Run, command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    outcome = run(*command, "--ray", "local")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == 'flexpress: Ray is not installed: pip install "flexpress[ray]"\n'
    assert contents(".") == {}


@pytest.mark.parametrize("command", COMMANDS, ids=["simulate", "reproduce"])
def test_without_a_cluster(run: Run, command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray")
    monkeypatch.setattr("ray.is_initialized", lambda: False)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        outcome = run(*command, "--ray", address)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(
        f"flexpress: Ray address {address}: no service answers at this address: "
    )
    assert outcome.err.count("\n") == 1


@pytest.mark.slow
def test_simulate(run: Run, ray: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Interrupted and resumed it is the same; of so few clients the model is that of one process.

    Losses may differ in the last digit.
    """
    plain = ("simulate", write_scenario(), "--json", "--out")
    on_ray = ("--ray", "local")
    whole, alone = run(*plain, "whole", *on_ray), run(*plain, "alone")
    for outcome in (whole, alone):
        assert outcome.code == 0
        progress = outcome.err.splitlines()  # where it takes long
        assert all(line.startswith("flexpress: sync: slot ") for line in progress), outcome.err
    assert contents("whole", ("model.npy",)) == contents("alone", ("model.npy",))
    ours, theirs = (json.loads(outcome.out)["algorithms"]["sync"] for outcome in (whole, alone))
    assert ours["loss"] == pytest.approx(theirs["loss"], rel=1e-12)

    with monkeypatch.context() as pressing:
        press_after(pressing, 20)
        cut = run(*plain, "cut", *on_ray)
    assert cut.code == 130
    assert cut.err.splitlines()[-1].startswith("flexpress: sync: interrupted at slot ")
    refused = run(*plain, "cut", "--resume")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err == (
        "flexpress: cut: its run was trained by FastLearner on Ray by 16, not by FastLearner; "
        "resume it with the same --engine, with or without --ray as before\n"
    )
    assert run(*plain, "cut", *on_ray, "--resume").code == 0
    assert contents("cut", RESULTS) == contents("whole", RESULTS)


PROGRAM = """
import sys
from flexpress.experiments import reproduce
from flexpress.experiments.protocol import Scale
slots = {"fmnist": 60, "svhn": 60}
reproduce._scale_of = lambda *_: Scale("quick", 1, 1, slots, 10, True, (), (), ())
from flexpress.cli import main
sys.exit(main(sys.argv[1:]))
"""


def wait_for(process: Started, folder: Path, pattern: str) -> None:
    wait_until(lambda: process.poll() is not None or bool(list(folder.glob(pattern))))


@pytest.mark.slow
@looked_up
@pytest.mark.parametrize("times", [1, 2])
def test_control_c_of_a_terminal(times: int, tmp_path: Path) -> None:
    """All processes of the group hear it, Ray's too; nobody is left. The second aborts."""
    pytest.importorskip("ray")
    write_scenario(tmp_path / "four.toml", run={"horizon": 100_000})
    arguments = ["simulate", "four.toml", "--json", "--ray", "local", "--out", "cut"]
    with started(["-c", PROGRAM, *arguments], cwd=tmp_path) as process:
        wait_for(process, tmp_path, "cut/checkpoint")
        for _ in range(times):
            os.killpg(process.pid, signal.SIGINT)
            time.sleep(0.02)  # else they may be heard as one
        out, err = process.communicate(timeout=PATIENCE)
        wait_until(lambda: living(process.pid) == [])
    assert process.returncode == 130
    assert "Traceback" not in err
    assert all(line.startswith("flexpress: ") for line in err.splitlines())
    if times == 1:
        assert err.startswith("flexpress: sync: interrupted at slot ")
        assert err.count("\n") == 1
        assert '"complete": false' in out


@pytest.mark.slow
@looked_up
def test_reproduce_killed_and_started_again(tmp_path: Path) -> None:
    """The page is that of one process; after kill -9 nobody is left."""
    pytest.importorskip("ray")
    command = ["reproduce", "--quick", "--figure", "network", "--figure", "budget", "--out"]
    with started(["-c", PROGRAM, *command, "ray", "--ray", "local"], cwd=tmp_path) as process:
        wait_for(process, tmp_path, "ray/runs/*/model.npy")
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=PATIENCE)
        wait_until(lambda: living(process.pid) == [])
    assert list(tmp_path.glob("ray/runs/*/model.npy"))
    assert not (tmp_path / "ray" / "report.html").exists()
    for arguments in ([*command, "ray", "--ray", "local"], [*command, "plain"]):
        with started(["-c", PROGRAM, *arguments], cwd=tmp_path) as process:
            out, err = process.communicate(timeout=PATIENCE)
        place = arguments[len(command)]
        assert (process.returncode, out) == (0, f" page: {place}/report.html\n"), err
        assert all(re.match(r"flexpress: \d of 4 runs", line) for line in err.splitlines()), err
    found, expected = (contents(tmp_path / place) for place in ("ray", "plain"))
    kept = [name for name in expected if not name.startswith("runs/") or name.endswith(RESULTS)]
    assert {name: found[name] for name in kept} == {name: expected[name] for name in kept}
