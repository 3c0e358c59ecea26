"""`flexpress rehearse`: real programs compute what the simulator computes, byte for byte."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from itertools import product
from pathlib import Path

import pytest
from command_line import Run
from live_field import CASES, Case
from process_group import PATIENCE, Started, living, looked_up, started, wait_until
from small_run import environment, write_scenario
from thinned import by_default

from flexpress import Scenario
from flexpress.field import rehearse
from flexpress.field.rehearsal import free_ports
from flexpress.scenario import Algorithm

FAST = 1e6
"""Speedup: nobody waits."""

THIN = sorted(CASES, key=lambda case: case not in (CASES[0], CASES[7]))
ALGORITHMS: tuple[Algorithm, ...] = ("sync", "async")


@pytest.mark.parametrize("case", by_default(2, THIN), ids=str)
def test_it_is_what_simulate_computes(case: Case, tmp_path: Path) -> None:
    heard: list[str] = []
    result = rehearse(
        case.scenario.replace(learning={"samples_per_client": 20, "batch_size": 5}),
        case.plan,
        out=tmp_path / "rehearsal",
        horizon=case.horizon,
        payload=case.payload,
        speedup=FAST,
        on_entry=lambda entry: heard.append(f"{entry['program']} {entry['event']}"),
    )
    assert result.identical, result.different
    found = Counter(heard)
    assert found["server merged"] >= 2
    assert found["server mission-over"] == 1
    assert found["client-4 visited"] >= 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("algorithm", "head_start"), list(product(ALGORITHMS, (0.0, 0.5))), ids=str
)
def test_forty_clients_and_four_couriers(
    algorithm: Algorithm, head_start: float, tmp_path: Path
) -> None:
    result = rehearse(
        Scenario.preset("paper"),
        out=tmp_path / "rehearsal",
        algorithm=algorithm,
        head_start=head_start,
        horizon=40,
    )
    assert result.identical, result.different


def test_what_all_clients_need_is_loaded_once() -> None:
    """In the process from which they are forked: compiled code, and all packages."""
    program = (
        "import flexpress.field.preloaded, sys\n"
        "from flexpress.learning.fast.entry_points import local_steps, scores\n"
        "assert local_steps.signatures and scores.signatures\n"
        "assert 'aiohttp' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], env=environment(), check=True, timeout=PATIENCE)


def rehearsal(folder: Path, speedup: float) -> list[str]:
    """Arguments of a small one, in this folder."""
    write_scenario(folder / "four.toml")
    options = ["--horizon", "4", "--speedup", str(speedup), "--out", "rehearsal"]
    return ["-m", "flexpress", "rehearse", "four.toml", *options]


def test_the_command(tmp_path: Path) -> None:
    with started(rehearsal(tmp_path, FAST), cwd=tmp_path) as process:
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    assert out.splitlines()[-1].strip() == "identical to flexpress simulate: yes"
    assert "merged: version 1" in err


def wait_for_the_first_evaluation(process: Started) -> None:
    """All programs are there, and the mission has begun."""
    assert process.stderr is not None
    assert any("evaluated: slot 0" in line for line in process.stderr)


def interrupted(process: Started) -> str:
    """What it says after Ctrl-C, which the terminal sends to all of its processes."""
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    wait_until(lambda: not living(process.pid))
    return err


@looked_up
def test_interrupted_it_leaves_no_processes(tmp_path: Path) -> None:
    with started(rehearsal(tmp_path, 1.0), cwd=tmp_path) as process:
        wait_for_the_first_evaluation(process)
        assert "interrupted; what was flown is in rehearsal" in interrupted(process)


@looked_up
@pytest.mark.slow
@pytest.mark.parametrize("after", [0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0, 2.2, 2.5, 3.0, 3.5, 4.0, 6.0])
def test_interrupted_at_any_moment(after: float, tmp_path: Path) -> None:
    """In seconds: while it plans, makes kits, starts processes, or flies."""
    with started(rehearsal(tmp_path, 1.0), cwd=tmp_path) as process:
        time.sleep(after)
        interrupted(process)


@looked_up
def test_killed_it_leaves_no_processes(tmp_path: Path) -> None:
    with started(rehearsal(tmp_path, 1.0), cwd=tmp_path) as process:
        wait_for_the_first_evaluation(process)
        assert len(living(process.pid)) > 7  # itself, four clients, two couriers, the server
        process.kill()
        wait_until(lambda: not living(process.pid))


def test_a_port_that_is_taken(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    name, port = write_scenario(), free_ports(5)
    with socket.create_server(("127.0.0.1", port)):
        monkeypatch.setattr("flexpress.field.rehearsal.free_ports", lambda count: port)
        done = run("rehearse", name, "--horizon", "4", "--out", "rehearsal")
    assert done.code == 1
    reason = "cannot listen: Address already in use"
    assert done.err == f"flexpress: server: 127.0.0.1:{port}: {reason}\n"


def test_a_folder_that_exists(run: Run) -> None:
    Path("rehearsal").mkdir()
    Path("rehearsal", "notes.txt").touch()
    done = run("rehearse", write_scenario(), "--out", "rehearsal")
    assert done.code == 2
    assert done.err == ("flexpress: rehearsal: exists already; name another folder, or delete it\n")
