"""Commands replace only what they wrote themselves: never an input, never another's file."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import Run, cli
from small_run import FOUR, contents

from flexpress import InputError, load_run, save_report
from flexpress.files.provenance import RECORD
from flexpress.report.page import runs as runs_module
from flexpress.report.page.page import Download, Page, PageSection

TEXT = f"# My own, with a comment.\n{FOUR.to_toml()}"


PAGE = Page("runs", (), (), (PageSection("data", "Data", downloads=(Download("a.csv", "a\n"),)),))


@pytest.fixture(scope="module", autouse=True)
def _no_drawing() -> Iterator[None]:
    """Whatever the pictures show: drawing them would take most of the time."""
    with pytest.MonkeyPatch.context() as patches:
        for name in ("map.map_png", "curves.curves_png", "label_mix.label_mix_png"):
            patches.setattr(f"flexpress.report.figures.{name}", lambda *_, **__: b"a picture")
        patches.setattr(
            runs_module, "_runs_page", lambda *_, figures, **__: replace(PAGE, figures=figures)
        )
        yield


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, _no_drawing: None) -> Path:
    """A scenario, a plan of it, a run, and two runs side by side."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "scenario.toml").write_text(TEXT)
    with pytest.MonkeyPatch.context() as patches:
        patches.chdir(folder)
        for command in (
            "plan scenario.toml --out plan",
            "simulate scenario.toml --plan plan --out run",
            "simulate scenario.toml --plan plan --algorithm sync --algorithm async --out both",
        ):
            assert cli.main(command.split()) == 0
    return folder


@pytest.fixture
def there(run: Run, made: Path, tmp_path: Path) -> Run:
    """Runs a command in a folder where all of that lies."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return run


def refused(run: Run, command: str) -> str:
    """What it says, in one line: nothing has changed."""
    before = contents(".")
    outcome = run(*command.split(" "))
    assert (outcome.code, outcome.out, outcome.err.count("\n")) == (2, "", 1)
    assert contents(".") == before
    return outcome.err.removeprefix("flexpress: ").rstrip()


def succeeds(run: Run, command: str) -> None:
    outcome = run(*command.split())
    assert (outcome.code, outcome.err) == (0, "")


# inputs


@pytest.mark.parametrize("command", ["plan", "simulate", "data"])
def test_the_users_scenario_stays_as_it_is(there: Run, command: str) -> None:
    for _ in range(2):
        succeeds(there, f"{command} scenario.toml --out .")
        assert Path("scenario.toml").read_text() == TEXT


@pytest.mark.parametrize("command", ["plan", "simulate"])
def test_a_scenario_of_the_user_that_has_our_name(there: Run, command: str) -> None:
    Path("scenario.toml").rename("scenario-used.toml")
    said = refused(there, f"{command} scenario-used.toml --out .")
    assert said == "scenario-used.toml: is read by this command; write to another place"


@pytest.mark.parametrize(
    "command",
    [
        "plan plan/scenario-used.toml --out plan",
        "plan plan/../plan/scenario-used.toml --out ./plan",
        "simulate run/scenario-used.toml --plan run --horizon 9 --out run",
    ],
)
def test_what_a_command_wrote_is_an_input_when_it_reads_it(there: Run, command: str) -> None:
    assert "/scenario-used.toml: is read by this command" in refused(there, command)


def test_a_file_that_the_scenario_names(there: Run) -> None:
    """Of the same name as a file of ours, and even written by the same command."""
    network, fleet = TEXT.index("[network]"), TEXT.index("[fleet]")
    clients = '[network]\nserver = [0.0, 0.0]\nclients = "plan.csv"\n'
    Path("own.toml").write_text(TEXT[:network] + clients + TEXT[fleet:])
    Path("plan.csv").write_text("id,x,y\na,3,0\nb,3,4\nc,-3,0\nd,-3,-4\n")
    succeeds(there, "plan own.toml --out own")
    export = "export own --scenario own.toml --format csv --origin 47,8 --out ."
    assert refused(there, export) == "plan.csv: is read by this command; write to another place"


# files of another command


@pytest.mark.parametrize(
    ("command", "name", "writer"),
    [
        ("plan scenario.toml --out run", "run/plan.json", "simulate"),
        ("plan scenario.toml --out both", "both/plan.json", "simulate"),
        ("plan scenario.toml --out both/async", "both/async/plan.json", "simulate"),
        ("simulate scenario.toml --out plan", "plan/scenario-used.toml", "plan"),
        ("simulate scenario.toml --plan plan --out plan", "plan/scenario-used.toml", "plan"),
        ("simulate scenario.toml --out plan --resume", "plan/scenario-used.toml", "plan"),
        ("simulate scenario.toml --algorithm all --out plan", "plan/scenario-used.toml", "plan"),
        ("map run --out plan/plan.json", "plan/plan.json", "plan"),
        ("map plan --out run/metrics.csv", "run/metrics.csv", "simulate"),
        ("map plan --out run/checkpoint", "run/checkpoint", "simulate"),
        ("report run --out plan/map.png", "plan/map.png", "plan"),
        ("report run --out both/sync/trace.jsonl", "both/sync/trace.jsonl", "simulate"),
    ],
)
def test_a_file_of_another_command(there: Run, command: str, name: str, writer: str) -> None:
    expected = f"{name}: was written by `flexpress {writer}`; name another place with --out"
    assert refused(there, command) == f"{expected}, or delete it"


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("map plan --out plan/plan.json", "plan/plan.json"),
        ("map plan/plan.json --out plan/scenario-used.toml", "plan/scenario-used.toml"),
        ("map plan --scenario scenario.toml --out scenario.toml", "scenario.toml"),
        ("report run --out run/metrics.csv", "run/metrics.csv"),
        ("report both --out both/async/model.npy", "both/async/model.npy"),
    ],
)
def test_a_command_does_not_destroy_what_it_reads(there: Run, command: str, name: str) -> None:
    said = refused(there, command)
    assert said == f"{name}: is read by this command; write to another place"


# files of the user


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("plan scenario.toml --out new", "plan.json"),
        ("plan scenario.toml --out new", "map.png"),
        ("simulate scenario.toml --out new", "metrics.csv"),
        ("simulate scenario.toml --out new", "curves.png"),
        ("simulate scenario.toml --algorithm all --out new", "curves.png"),
        ("data scenario.toml --out new", "data.png"),
        ("export plan --format kml --origin 47,8 --out new", "plan.kml"),
        ("map plan --out new/page.html", "page.html"),
        ("report run --out new/page.html", "page.html"),
        ("reproduce --quick --out new", "report.html"),
    ],
)
def test_a_file_of_the_user(there: Run, command: str, name: str) -> None:
    """Before anything is planned, trained or drawn."""
    Path("new").mkdir()
    Path("new", name).write_text("mine")
    assert refused(there, command) == (
        f"new/{name}: was not written by flexpress; name another place with --out, or delete it"
    )


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("plan scenario.toml --out plan", "plan/plan.json"),
        ("plan scenario.toml --out plan", "plan/scenario-used.toml"),
        ("simulate scenario.toml --out run", "run/trace.jsonl"),
        ("simulate scenario.toml --out run", "run/model.npy"),
        ("simulate scenario.toml --algorithm sync --algorithm async --out both", "both/plan.json"),
    ],
)
def test_a_file_that_the_user_changed(there: Run, command: str, name: str) -> None:
    with Path(name).open("ab") as file:
        file.write(b"\n")
    writer = command.split()[0]
    assert refused(there, command) == (
        f"{name}: was changed since `flexpress {writer}` wrote it; "
        "name another place with --out, or delete it"
    )


def test_a_file_that_is_gone_may_be_written_anew(there: Run) -> None:
    """And then belongs to whoever wrote it."""
    for name in ("plan.json", "scenario-used.toml"):
        Path("plan", name).unlink()
    succeeds(there, "simulate scenario.toml --out plan")
    assert "written by `flexpress simulate`" in refused(there, "plan scenario.toml --out plan")


# what is allowed


COMMANDS = (
    "simulate scenario.toml --plan plan --out new",
    "data scenario.toml --plan plan --out plan",
    "export plan --format kml --format csv --origin 47,8",
    "map plan",
    "map run",
    "report run",
    "simulate scenario.toml --out new --resume",
)


def test_every_command_twice(there: Run) -> None:
    """It replaces its own files; those of others beside them do not matter."""
    for command in COMMANDS:
        succeeds(there, command)
    before = results()
    for command in COMMANDS:
        succeeds(there, command)
    assert results() == before


def results() -> dict[str, bytes]:
    """All but the records, which grow."""
    return {name: data for name, data in contents(".").items() if Path(name).name != RECORD}


def test_missing_folders_are_made_alike(there: Run) -> None:
    succeeds(there, "map plan --out new/er/map.html")
    succeeds(there, "report run --out new/est/report.html")
    assert Path("new/er/map.html").exists()
    assert Path("new/est/report.html").exists()


@pytest.mark.parametrize(
    "command",
    [
        "plan scenario.toml --out ",
        "simulate scenario.toml --out ",
        "data scenario.toml --out ",
        "export plan --format kml --origin 47,8 --out ",
        "map plan --out ",
        "report run --out ",
        "reproduce --quick --out ",
    ],
)
def test_an_empty_name(there: Run, command: str) -> None:
    assert refused(there, command) == "--out '': is empty; name a place, or omit --out"


# the record


def test_the_record_tells_who_wrote_what(there: Run) -> None:
    succeeds(there, "map plan")
    lines = [json.loads(line) for line in Path("plan/.flexpress.jsonl").read_text().splitlines()]
    assert [(line["file"], line["command"]) for line in lines] == [
        ("plan.json", "plan"),
        ("scenario-used.toml", "plan"),
        ("map.png", "plan"),
        ("map.html", "map"),
    ]
    assert {len(line["sha256"]) for line in lines} == {64}


def test_a_record_with_a_torn_line(there: Run) -> None:
    """As a full disk leaves it: what stands in the other lines counts, and more can be added."""
    record = Path("plan/.flexpress.jsonl")
    record.write_text(f'{record.read_text()}{{"file": "map.ht')
    for command in ("plan scenario.toml --out plan", "map plan", "map plan"):
        succeeds(there, command)


def test_the_record_is_no_place_for_a_page(there: Run) -> None:
    said = refused(there, "map plan --out plan/.flexpress.jsonl")
    assert said == "plan/.flexpress.jsonl: this name is reserved by flexpress; choose another"


# from Python


def test_a_report_does_not_replace_the_run(there: Run) -> None:
    before = contents("run")
    with pytest.raises(
        InputError, match=r"metrics\.csv: is read by this command; write to another"
    ):
        save_report([load_run("run")], "run/metrics.csv")
    assert contents("run") == before


def test_what_is_named_in_python_is_replaced(there: Run) -> None:
    Path("page.html").write_text("old")
    save_report([load_run("run")], "page.html")
    assert Path("page.html").read_text().startswith("<!doctype html>")
