"""The page about the command line shows what the program really prints."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import pytest
from shown_output import check_estimated, check_shown

from flexpress.scenario.preset import preset_text

with warnings.catch_warnings():
    # typer below 0.21, where we stay for Flower's sake, imports names that click 8.5 deprecates.
    warnings.filterwarnings("ignore", message="'click.utils.get_", category=DeprecationWarning)
    from flexpress import cli

PAGE = (Path(__file__).parents[1] / "docs" / "cli.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^    \$ flexpress (.*)$", PAGE, re.MULTILINE)
OPTIONS = {"plan": 13, "export": 4, "map": 2, "simulate": 11, "data": 2, "bound": 6, "report": 2}
OPTIONS["control"] = 3
MISTAKES = ["plan fuor", "plann four", "plan four --seconds -1"]


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")


def is_long(command: str) -> bool:
    """Those that learn."""
    return command.startswith(("bound valley", "simulate valley"))


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(command, marks=[pytest.mark.slow] if is_long(command) else [])
        for command in EXAMPLES
    ],
)
def test_examples(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    shown = PAGE.split(f"    $ flexpress {command}\n\n")[1]
    block = re.match(r"(?:    .*\n|\n(?=    ))*", shown)
    assert block is not None
    text = "\n".join(line.removeprefix("    ") for line in block[0].splitlines())
    assert len(text.splitlines()) >= 10
    assert cli.main(command.split()) == 0
    printed = capsys.readouterr().out
    check = check_estimated if command.startswith("bound ") else check_shown
    check(text, "\n".join(printed.splitlines()[: len(text.splitlines())]))


@pytest.mark.parametrize("command", MISTAKES)
def test_errors(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    cli.main(command.split())
    assert f"\n    {capsys.readouterr().err}" in PAGE


@pytest.mark.parametrize(("command", "number"), OPTIONS.items())
def test_every_option(command: str, number: int, capsys: pytest.CaptureFixture[str]) -> None:
    cli.main([command, "--help"])
    options = re.findall(r"^  (--[\w-]+)", capsys.readouterr().out, re.MULTILINE)
    assert len(options) == number
    section = PAGE.split(f"\n## flexpress {command}\n")[1].split("\n## ")[0]
    assert [option for option in options if f"\n| `{option}" not in section] == []


@pytest.mark.slow
def test_the_diagnosis(capsys: pytest.CaptureFixture[str]) -> None:
    Path("tight.toml").write_text(preset_text("paper-50mbit").replace("15 kJ", "12 kJ"))
    assert cli.main(["plan", "tight.toml", "--diagnose"]) == 3
    printed = capsys.readouterr()
    lines = [f"    {line.rstrip()}\n" for line in printed.out.splitlines()]
    assert "".join(lines) in PAGE
    (error,) = printed.err.splitlines()[-1:]
    assert f"    {error.split('; ')[0]}; …\n" in PAGE
