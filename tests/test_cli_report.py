"""`flexpress report`: a page about runs, and one clear line where there is none."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import pytest
from command_line import Outcome, Run, cli
from small_run import contents, press_after, write_scenario
from written_page import WrittenPage

from flexpress.files.provenance import RECORD
from flexpress.learning import datasets


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five runs: as in the paper, with a head start, and an ideal link."""
    folder = tmp_path_factory.mktemp("simulated")
    name = write_scenario(folder / "four.toml")
    assert cli.main(["simulate", name, "--algorithm", "all", "--out", str(folder / "out")]) == 0
    return folder


@pytest.fixture
def runs(run: Run, simulated: Path) -> Run:
    """`out` holds them, and `four.toml` is what was simulated."""
    shutil.copytree(simulated, ".", dirs_exist_ok=True)
    return run


def table(path: str) -> list[dict[str, str]]:
    with Path(path).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def report(run: Run, *arguments: str) -> WrittenPage:
    """The page that is told on standard output."""
    outcome = run("report", *arguments)
    assert (outcome.code, outcome.err) == (0, "")
    page = WrittenPage(Path(outcome.out.removesuffix("\n")).read_text(encoding="utf-8"))
    assert page.mistakes == []
    return page


def cells(page: WrittenPage, name: str) -> list[str]:
    """Of the row of the summary that has this name."""
    found = page.html.split(f'<th scope="row">{name}</th>')[1].split("</tr>")[0]
    return [cell.text for cell in WrittenPage(found).all("td")]


def headings(page: WrittenPage) -> list[str]:
    return [heading.text for heading in page.all("h2")]


def assert_refused(outcome: Outcome, expected: str) -> None:
    """One line, exit code 2."""
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == f"flexpress: {expected}\n"


@pytest.mark.usefixtures("blank_pictures")
def test_several_runs_in_a_folder(runs: Run) -> None:
    page = report(runs, "out")
    assert Path("out/report.html").exists()
    assert page.all("h1")[0].text == "four: 5 runs compared"
    assert cells(page, "algorithm") == ["sync", "async", "sync", "async", "direct"]
    assert cells(page, "head start") == ["0", "0", "0.5", "0.5", "-"]
    assert [state.split()[-1] for state in cells(page, "state")] == ["complete"] * 5
    assert headings(page) == [
        "Summary",
        "Contents",
        "Learning curves",
        "What an accuracy costs",
        "Tours",
    ]
    assert len(page.all("img")) == 5  # curves, costs; map, energies, tours over time
    assert "flexpress report out" in page.all("footer")[0].text


@pytest.mark.usefixtures("blank_pictures")
def test_figures_are_those_of_simulate(runs: Run) -> None:
    """As it prints them as JSON, from the same seed."""
    printed = runs("simulate", "four.toml", "--algorithm", "all", "--json").out
    told = json.loads(printed)["algorithms"].values()
    page = report(runs, "out")
    assert cells(page, "accuracy (%)") == [f"{100 * a['accuracy']:.1f}" for a in told]
    assert cells(page, "updates") == [str(a["updates"]) for a in told]
    assert cells(page, "tours") == [str(a["tours"]) for a in told]


def landed_before(folder: str, slot: int) -> int:
    """Tours that were over when the model was tested in this slot."""
    lines = Path(folder, "trace.jsonl").read_text().splitlines()
    events = [json.loads(line) for line in lines]
    return sum(event["event"] == "landing" and event["slot"] <= slot for event in events)


@pytest.mark.usefixtures("blank_pictures")
def test_data_lie_beside_the_page(runs: Run) -> None:
    page = report(runs, "out")
    for link in page.all("a"):
        target = link.attributes["href"]
        assert target.startswith("#") or (Path("out") / target).is_file()
    rows = table("out/figures/curves.csv")
    for algorithm in ("sync", "async", "sync-head-start", "async-head-start", "direct"):
        measured = table(f"out/{algorithm}/metrics.csv")
        own = [
            {k: v for k, v in row.items() if k != "run"} for row in rows if row["run"] == algorithm
        ]
        assert own == measured
    for cost in table("out/figures/costs.csv"):
        assert int(cost["tours"]) == landed_before(f"out/{cost['run']}", int(cost["slot"]))
    tours = table("out/figures/tours.csv")
    stored = json.loads(Path("out/plan.json").read_text())["transporters"]
    assert [float(tour["round_trip_s"]) for tour in tours] == [t["round_trip"] for t in stored]


def test_the_same_bytes_and_the_run_untouched(runs: Run) -> None:
    before = contents("out/sync")
    report(runs, "out/sync")
    first = contents("out/sync")
    report(runs, "out/sync")
    assert contents("out/sync") == first
    record = before.pop(RECORD)
    assert {name: first[name] for name in before} == before
    assert first[RECORD].startswith(record), "the report is added"


@pytest.mark.usefixtures("blank_pictures")
def test_a_single_run(runs: Run) -> None:
    page = report(runs, "out/async")
    assert Path("out/async/report.html").exists()
    assert page.all("h1")[0].text == "four: async"
    assert cells(page, "algorithm") == ["async"]


@pytest.mark.usefixtures("blank_pictures")
def test_runs_of_several_folders_are_compared(runs: Run) -> None:
    faster = write_scenario("faster.toml", name="faster", fleet={"speeds": [2.0, 2.0]})
    runs("simulate", faster, "--out", "other")
    page = report(runs, "out/sync", "other", "--out", "compared.html")
    assert [th.text for th in page.all("th", scope="col")][:3] == ["run", "out/sync", "other"]
    assert cells(page, "fleet.speeds") == ["2 × 1", "2 × 2"]  # noqa: RUF001  # a sign of times
    assert headings(page)[4:] == ["Tours 1: minmax 14 s", "Tours 2: minmax 8 s"]
    assert Path("compared-figures/tours-2-map.svg").is_file()


@pytest.mark.usefixtures("blank_pictures")
def test_seeds_become_one_line_with_a_band(runs: Run) -> None:
    for seed in (1, 2):
        name = write_scenario(learning={"seed": seed})
        runs("simulate", name, "--out", f"out/sync{seed}")
    page = report(runs, "out/async", "out/sync1", "out/sync2")
    (alt,) = (i.attributes["alt"] for i in page.all("img") if "Test" in i.attributes["alt"])
    sync = [float(table(f"out/sync{s}/metrics.csv")[-1]["accuracy"]) for s in (1, 2)]
    assert f"sync  {50 * sum(sync):.1f} %" in alt
    assert "mean of 1 to 2 seeds" in page.html
    assert len(page.all("img")) == 5  # all flew one plan
    assert Path("out/report.html").exists()  # in the folder that all are in


@pytest.mark.usefixtures("blank_pictures")
def test_an_unfinished_run_is_shown_as_far_as_it_went(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patches:
        press_after(patches, 100)
        assert run("simulate", write_scenario(), "--out", "cut").code == 130
    page = report(run, "cut")
    assert cells(page, "state") == ["? unfinished, in slot 11 of 30"]
    assert "Not complete, and shown as far as it went: cut unfinished" in page.html
    assert cells(page, "simulated (slots)") == ["11"]


@pytest.mark.usefixtures("blank_pictures")
def test_a_run_that_has_just_begun(runs: Run) -> None:
    """As its folder is in its first seconds."""
    for name in ("checkpoint", "model.npy"):
        (Path("out/sync") / name).unlink()
    Path("out/sync/metrics.csv").write_text("slot,seconds,loss,accuracy\n")
    page = report(runs, "out/sync")
    assert cells(page, "state") == ["? unfinished, in slot 0 of 30"]
    assert "nothing measured" in page.html
    assert len(page.all("img")) == 3  # nothing has flown yet


@pytest.mark.usefixtures("blank_pictures")
def test_a_run_that_diverged(run: Run) -> None:
    wild = {"model": "mlp", "learning_rate": 1e8}
    assert run("simulate", write_scenario(learning=wild), "--out", "wild").code == 4
    state = cells(report(run, "wild"), "state")[0]
    assert state.startswith("\N{HEAVY BALLOT X} diverged in slot ")


@pytest.mark.usefixtures("blank_pictures")
def test_labels_are_read_when_they_are_asked_for(runs: Run) -> None:
    page = report(runs, "out", "--labels")
    assert "Labels of every client" in page.all("img")[-1].attributes["alt"]
    assert Path("out/figures/tours-labels-1.svg").is_file()


@pytest.mark.usefixtures("blank_pictures")
def test_labels_that_cannot_be_had(runs: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(datasets._DATASETS, "fmnist-mini")
    outcome = runs("report", "out/sync", "--labels")
    assert (outcome.code, outcome.out) == (0, "out/sync/report.html\n")
    assert outcome.err.startswith("flexpress: without labels: ")
    assert outcome.err.count("\n") == 1


@pytest.mark.usefixtures("blank_pictures")
def test_names_are_texts_whatever_they_hold(run: Run) -> None:
    odd = '<b>&"$x^'
    name = write_scenario(name=odd, network={"ids": ["$x^", "</script>", "泉", "{{style}}"]})
    run("simulate", name, "--out", "a <i> & b")
    page = report(run, "a <i> & b")
    assert page.all("h1")[0].text == f"{odd}: sync"
    assert page.all("b") == page.all("i") == page.all("script") == []


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("nowhere",), "nowhere: no such folder; name one that `flexpress simulate` wrote"),
        (("four.toml",), "four.toml: no such folder; name one that `flexpress simulate` wrote"),
        (("empty",), "empty: holds no run; `flexpress simulate SCENARIO` makes one"),
        (("out", "empty"), "empty: holds no run; `flexpress simulate SCENARIO` makes one"),
        (("out", "--out", "empty"), "empty: is a folder, and a file is to be written there"),
        (("out", "--out", "four.toml/r.html"), "four.toml: is a file; name a folder"),
        ((), "Missing argument 'RUN...'; see flexpress report --help"),
    ],
)
def test_bad_input(arguments: tuple[str, ...], expected: str, runs: Run) -> None:
    Path("empty").mkdir()
    before = contents(".")
    assert_refused(runs("report", *arguments), expected)
    assert contents(".") == before


def test_a_damaged_run(runs: Run) -> None:
    Path("out/async/metrics.csv").write_text("slot\n")
    outcome = runs("report", "out")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("flexpress: out/async/metrics.csv: ")
    assert outcome.err.count("\n") == 1
    assert not Path("out/report.html").exists()
