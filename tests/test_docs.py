"""The examples of the README and the documents run, and print what is shown below them."""

from __future__ import annotations

import contextlib
import io
import re
import tomllib
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from flexpress import Scenario

with warnings.catch_warnings():
    # typer below 0.21, where we stay for Flower's sake, imports names that click 8.5 deprecates.
    warnings.filterwarnings("ignore", message="'click.utils.get_", category=DeprecationWarning)
    from flexpress import cli

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "benchmarks" / "README.md", *sorted(ROOT.glob("docs/*.md"))]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
VALUE = re.compile(r"^ \S+: (?:minmax|sws|total) .*$", re.MULTILINE)

Block = tuple[str, str]
"""Language and text."""


def blocks(page: Path) -> list[Block]:
    return [(found[1], found[2]) for found in FENCE.finditer(page.read_text(encoding="utf-8"))]


def pages_with(language: str) -> list[Path]:
    return [page for page in PAGES if any(found == language for found, _ in blocks(page))]


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")


@pytest.mark.parametrize("page", pages_with("python"), ids=name_of)
def test_python(page: Path) -> None:
    """All examples of a page in one namespace; a text block behind one is what it prints."""
    namespace: dict[str, object] = {}
    expected, printed = "", io.StringIO()
    for language, text in blocks(page):
        if language == "python":
            with contextlib.redirect_stdout(printed):
                exec(compile(text, name_of(page), "exec"), namespace)
        elif language == "text":
            expected += text
    assert printed.getvalue() == expected


def scenarios(page: Path) -> Iterator[tuple[str, Scenario]]:
    for language, text in blocks(page):
        if language == "toml":
            scenario = Scenario.from_dict(tomllib.loads(text))
            yield f"{scenario.name}.toml", scenario


@pytest.mark.parametrize("page", pages_with("toml"), ids=name_of)
def test_scenarios(page: Path) -> None:
    assert all(scenario.num_clients for _, scenario in scenarios(page))


@pytest.mark.parametrize("page", pages_with("console"), ids=name_of)
def test_console(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A session: `$ flexpress …` and what it prints. Scenarios of the page are at hand by name.

    The tours that `search` finds may differ between machines; their value may not.
    """
    for name, scenario in scenarios(page):
        scenario.save(name)
    for language, text in blocks(page):
        if language != "console":
            continue
        command, shown = text.removeprefix("$ flexpress ").split("\n", 1)
        cli.main(command.split())
        streams = capsys.readouterr()
        if "--solver exact" in command:
            assert normal(streams.out + streams.err) == normal(shown)
        else:
            assert VALUE.findall(streams.out) == VALUE.findall(shown) != []


def normal(text: str) -> str:
    """Without spaces at the ends of lines, and with the time, which varies, set to 0."""
    text = re.sub(r"(seed \d+, )[\d.]+ s", r"\g<1>0 s", text)
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())


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
    names = re.findall(r"`((?:scenario|planning)\.[\w.]+)`", table)
    assert len(names) > 15
    for name in names:
        room, file, *path = name.split(".")
        thing: object = import_module(f"flexpress.{room}.{file}")
        for part in path:
            thing = getattr(thing, part)
        assert callable(thing), name
