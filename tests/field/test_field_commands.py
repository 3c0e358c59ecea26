"""The commands `flexpress server`, `courier`, `client` and `operate`, as they are used."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from live_field import PLAIN, RESULTS, results
from process_group import PATIENCE, Started
from small_run import environment

from flexpress.callbacks import ignore_note
from flexpress.field.rehearsal import make_kits
from flexpress.simulation import simulate

SCENARIO = PLAIN.scenario.replace(learning={"samples_per_client": 20, "batch_size": 5})


@pytest.fixture
def kits(tmp_path: Path) -> Path:
    return make_kits(SCENARIO, PLAIN.plan, tmp_path / "kits", "parcel", 1e6, ignore_note)


@contextmanager
def command(*arguments: str | Path) -> Iterator[Started]:
    """A command of flexpress, which is not left behind."""
    with subprocess.Popen(
        [sys.executable, "-m", "flexpress", *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_for(process: Started, event: str) -> None:
    """A line of its log."""
    assert process.stderr is not None
    assert any(json.loads(line)["event"] == event for line in process.stderr), event


def said(process: Started) -> list[str]:
    """What it says until it ends: lines that are no events."""
    _, err = process.communicate(timeout=PATIENCE)
    return [line for line in err.splitlines() if not line.startswith("{")]


def run(*arguments: str | Path) -> tuple[int, list[str]]:
    with command(*arguments) as process:
        lines = said(process)
    return process.returncode, lines


def test_one_server_at_a_time_until_it_is_interrupted(kits: Path) -> None:
    with command("server", kits / "server", "--json") as server:
        wait_for(server, "started")
        code, lines = run("server", kits / "server")
        assert code == 2
        assert len(lines) == 1
        assert "another run is under way there" in lines[0]
        server.send_signal(signal.SIGINT)
        assert said(server) == []
    assert server.returncode == 0


def test_impatient_fingers(kits: Path) -> None:
    """A second Ctrl-C, or a third, while it stops."""
    with command("server", kits / "server", "--json") as server:
        wait_for(server, "started")
        for _ in range(3):
            server.send_signal(signal.SIGINT)
        assert "Traceback" not in "".join(said(server))
    assert server.returncode in (0, 130)  # the last one may come when it has done all it has to


@pytest.mark.slow
def test_the_port_is_taken(kits: Path) -> None:
    other = make_kits(SCENARIO, PLAIN.plan, kits.parent / "other", "parcel", 1e6, ignore_note)
    for name in ("server", "client-1"):
        kit = (kits / name / "kit.json").read_text()
        (other / name / "kit.json").write_text(kit)
        with command(name.partition("-")[0], kits / name, "--json") as first:
            wait_for(first, "started")
            port = json.loads(kit)["port"]
            reason = f"flexpress: 127.0.0.1:{port}: cannot listen: Address already in use"
            assert run(name.partition("-")[0], other / name, "--json") == (2, [reason])


@pytest.mark.slow
def test_a_mission(kits: Path, tmp_path: Path) -> None:
    """All of them, stopped once by SIGTERM, and the server by the operator."""
    simulate(SCENARIO, PLAIN.plan, out=tmp_path / "simulated")
    with ExitStack() as stack:
        for times in range(2):
            started = {
                kit.name: stack.enter_context(command(kit.name.partition("-")[0], kit, "--json"))
                for kit in sorted(kits.iterdir())
                if kit.name.partition("-")[0] in ("server", "courier", "client")
            }
            if times == 0:
                wait_for(started["server"], "merged")
                assert run("operate", kits / "operator", "stop")[0] == 0
                assert started["server"].wait(PATIENCE) == 0
            else:
                wait_for(started["server"], "mission-over")
            for name, process in started.items():
                process.terminate()
                assert said(process) == [], name
                assert process.returncode == 0, name
    assert results(kits / "server" / "run") == {
        name: (tmp_path / "simulated" / name).read_bytes() for name in RESULTS
    }
