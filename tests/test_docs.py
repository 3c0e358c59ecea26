"""The examples of the README and the documents run, and print what is shown below them."""

from __future__ import annotations

import contextlib
import importlib
import io
import re
import tomllib
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from shown_output import check_estimated, check_shown

from flexpress import Scenario

with warnings.catch_warnings():
    # typer below 0.21, where we stay for Flower's sake, imports names that click 8.5 deprecates.
    warnings.filterwarnings("ignore", message="'click.utils.get_", category=DeprecationWarning)
    from flexpress import cli

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "benchmarks" / "README.md", *sorted(ROOT.glob("docs/*.md"))]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MODULE = re.compile(r"# (\w+)\.py\n")
"""The first line of code that is a file of its own."""
VALUE = re.compile(r"^ \S+: (?:minmax|sws|total) .*$", re.MULTILINE)

Block = tuple[str, str]
"""Language and text."""


def blocks(page: Path) -> list[Block]:
    return [(found[1], found[2]) for found in FENCE.finditer(page.read_text(encoding="utf-8"))]


def pages_with(*languages: str) -> list[Path]:
    return [page for page in PAGES if any(found in languages for found, _ in blocks(page))]


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Modules in it can be imported."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")


LONG = ("README.md", "docs/report.md", "docs/theory.md")
"""Pages whose examples learn for long."""


def examples() -> list[Any]:
    return [
        pytest.param(page, marks=[pytest.mark.slow] if name_of(page) in LONG else [])
        for page in pages_with("python", "console")
    ]


@pytest.mark.parametrize("page", examples(), ids=name_of)
def test_examples(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All of a page in its order: scenarios and modules are files, commands and code are run.

    Code shares one namespace; a text block behind it is what it prints.
    """
    namespace: dict[str, object] = {}
    expected, printed = "", io.StringIO()
    for name, scenario in scenarios(page):
        scenario.save(name)
    for language, text in blocks(page):
        module = MODULE.match(text)
        if language == "console":
            check_session(text, capsys)
        elif language == "python" and module:
            Path(f"{module[1]}.py").write_text(text, encoding="utf-8")
            importlib.invalidate_caches()
        elif language == "python":
            with contextlib.redirect_stdout(printed):
                exec(compile(text, name_of(page), "exec"), namespace)
        elif language == "text":
            expected += text
    assert printed.getvalue() == expected


def test_first_commands_in_short(capsys: pytest.CaptureFixture[str]) -> None:
    """Those of the README: the plan has the value that is shown, the run the same rows."""
    planned, simulated, *_ = [text for language, text in blocks(PAGES[0]) if language == "console"]
    check_session(planned, capsys)
    command, shown = simulated.removeprefix("$ flexpress ").split("\n", 1)
    assert "--horizon 400" in command
    assert cli.main([*command.replace("--horizon 400", "--horizon 20").split()]) == 0
    assert rows(capsys.readouterr().out) == rows(shown)


def rows(table: str) -> list[str]:
    """What they are called; which targets are reached depends on how long it learns."""
    return [line[:15].rstrip() for line in table.splitlines() if not line.startswith(" until")]


def check_session(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    """`$ flexpress …` and what it prints.

    The tours that `search` finds may differ between machines; their value may not.
    """
    command, shown = text.removeprefix("$ flexpress ").split("\n", 1)
    capsys.readouterr()
    cli.main(command.split())
    streams = capsys.readouterr()
    if command.startswith("plan ") and "--solver exact" not in command:
        assert VALUE.findall(streams.out) == VALUE.findall(shown) != []
    elif command.startswith("bound "):
        check_estimated(shown, streams.out)
    else:
        check_shown(shown, streams.out or streams.err)  # an error leaves nothing else


def scenarios(page: Path) -> Iterator[tuple[str, Scenario]]:
    for language, text in blocks(page):
        if language == "toml":
            scenario = Scenario.from_dict(tomllib.loads(text))
            yield f"{scenario.name}.toml", scenario


@pytest.mark.parametrize("page", pages_with("toml"), ids=name_of)
def test_scenarios(page: Path) -> None:
    assert all(scenario.num_clients for _, scenario in scenarios(page))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links(page: Path) -> None:
    """Files that are linked to are there, and so are the headings within them."""
    for target in re.findall(r"\]\((?!https?:)([^)]*)\)", page.read_text(encoding="utf-8")):
        name, _, anchor = target.partition("#")
        file = page.parent / name if name else page
        assert file.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
            anchors = [re.sub(r"[^\w -]", "", h.lower()).replace(" ", "-") for h in headings]
            assert anchor in anchors, target


def test_every_function_named_for_an_equation_exists() -> None:
    from importlib import import_module

    page = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
    table = page.split("## Equations")[1].split("## How we read")[0]
    names = re.findall(r"`((?:scenario|planning|learning|simulation|theory)\.[\w.]+)`", table)
    assert len(names) > 15
    for name in names:
        room, file, *path = name.split(".")
        thing: object = import_module(f"flexpress.{room}.{file}")
        for part in path:
            thing = getattr(thing, part)
        assert callable(thing), name


def test_every_step_of_the_walks_exists() -> None:
    from importlib import import_module

    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    steps = re.findall(r"^\|[^|]*\| `([\w/]+)\.py` \| `([\w.]+)` \|", page, re.MULTILINE)
    assert len(steps) > 20
    for file, name in steps:
        thing: object = import_module(f"flexpress.{file.replace('/', '.')}")
        for part in name.split("."):
            thing = getattr(thing, part)
        assert callable(thing), f"{file}.py: {name}"
        assert thing.__module__ == f"flexpress.{file.replace('/', '.')}", f"{name} is elsewhere"
