"""What `make demo` and `make reproduce` run, and what the demo says it made."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FIRST = "rm -rf out/demo"

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


def recipe(target: str) -> list[str]:
    """The commands, without those that install and compile."""
    told = subprocess.run(
        ["make", "--no-print-directory", "--dry-run", target],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return told.stdout.split("touch .venv/compiled\n")[-1].splitlines()


def outputs(commands: list[str]) -> list[Path]:
    """What the calls of flexpress among them write to, one each."""
    calls = [shlex.split(line) for line in commands if "/flexpress " in line]
    return [Path(call[call.index("--out") + 1]) for call in calls]


def named_files(commands: list[str]) -> list[Path]:
    """That the last lines tell the user to open."""
    said = " ".join(shlex.split(line)[-1] for line in commands if line.startswith("echo "))
    names = re.findall(r"[\w/]+(?:\.png|\.html)|\w+/(?= )", said)
    return [Path("out/demo") / name for name in names]


def test_every_command_of_the_demo_writes_to_a_place_of_its_own() -> None:
    places = outputs(recipe("demo"))
    assert len(set(places)) == len(places) > 5
    assert all(place.parent == Path("out/demo") for place in places)


def test_the_demo_ends_with_what_to_open() -> None:
    commands = recipe("demo")
    assert commands[-1].startswith("echo ")
    places = outputs(commands)
    for file in named_files(commands):
        assert any(file.is_relative_to(place) for place in places), file
    assert len(named_files(commands)) == 5


def test_the_quick_reproduction_is_a_command_of_its_own() -> None:
    assert not any("reproduce" in line for line in recipe("demo"))
    assert ".venv/bin/flexpress reproduce --quick --out out/reproduction" in recipe("reproduce")


@pytest.mark.slow
def test_the_demo_twice(tmp_path: Path) -> None:
    commands = recipe("demo")
    assert commands[0] == FIRST
    script = "\n".join(commands).replace(".venv/bin/flexpress", f"{sys.executable} -m flexpress")
    for _ in range(2):
        done = subprocess.run(
            ["sh", "-e", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        for file in named_files(commands):
            assert (tmp_path / file).exists()
