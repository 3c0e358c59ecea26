"""`flexpress data`: the label mix as a table and a picture."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Outcome, Run
from small_run import FOUR, write_scenario

from flexpress.files.provenance import RECORD
from flexpress.planning import make_plan
from flexpress.planning.plan_file import save_plan
from flexpress.scenario import Scenario

PNG = b"\x89PNG\r\n\x1a\n"


def assert_refused(outcome: Outcome, *pieces: str) -> None:
    """One line with all of these, exit code 2, and nothing is written."""
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.count("\n") == 1
    for piece in pieces:
        assert piece in outcome.err
    assert not Path("flexpress-out").exists()


def test_table_and_picture(run: Run) -> None:
    outcome = run("data", write_scenario())
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.endswith(" picture: flexpress-out/four-data/data.png\n")
    assert "transporter  clients  samples" in outcome.out
    assert " 2      120 " in outcome.out  # two clients of 60 samples
    assert " 4      240 " in outcome.out
    folder = Path("flexpress-out/four-data")
    assert sorted(path.name for path in folder.iterdir()) == [RECORD, "data.png"]
    assert (folder / "data.png").read_bytes().startswith(PNG)


def test_it_is_drawn_alike(run: Run) -> None:
    scenario = write_scenario(learning={"partition": "dirichlet"})
    assert run("data", scenario, "--out", "a").code == run("data", scenario, "--out", "b").code == 0
    assert Path("a/data.png").read_bytes() == Path("b/data.png").read_bytes()


def test_a_plan_that_is_given(run: Run) -> None:
    """All clients on one tour: the mix of the first drone is that of all, and two lines are it."""
    save_plan(make_plan(FOUR, objective="total"), "plan.json")
    outcome = run("data", write_scenario(), "--plan", ".", "--out", "d")
    assert outcome.code == 0
    lines = [line.split() for line in outcome.out.splitlines()]
    first, all_of_them = (next(x for x in lines if x[:1] == [name]) for name in ("1", "all"))
    assert first[1:] == all_of_them[1:]


@pytest.mark.parametrize("columns", ["30", "200"])
def test_other_terminals(run: Run, columns: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert run("data", write_scenario()).code == 0


@pytest.mark.parametrize(
    ("options", "pieces"),
    [
        (("--plan", "nowhere"), ["nowhere: no such plan"]),
        (("--plan", "valley.json"), ["3 transporters in the plan, 2 in the scenario"]),
        (("--out", "four.toml"), ["four.toml: is a file; name a folder"]),
        (("--out", "/proc/nowhere"), ["no files can be written there"]),
        (("--json",), ["no option"]),
    ],
)
def test_wrong_options(run: Run, options: tuple[str, ...], pieces: list[str]) -> None:
    save_plan(make_plan(Scenario.preset("valley"), solver="carp", iterations=2), "valley.json")
    assert_refused(run("data", write_scenario(), *options), *pieces)


def test_data_that_do_not_exist(run: Run) -> None:
    outcome = run("data", write_scenario(learning={"dataset": "svnh"}))
    assert_refused(outcome, 'learning.dataset = "svnh"', 'did you mean "svhn"?')


def test_a_picture_that_cannot_be_written(run: Run) -> None:
    Path("d/data.png").mkdir(parents=True)
    outcome = run("data", write_scenario(), "--out", "d")
    assert_refused(outcome, "d/data.png: is a folder, and a file is to be written there")
