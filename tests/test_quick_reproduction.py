"""`flexpress reproduce --quick`: its figures and its claims, against the runs that it kept."""

from __future__ import annotations

import hashlib
import re
import runpy
import shutil
import xml.etree.ElementTree as ET
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from matplotlib import image
from quick_reproduction import Reproduction, reproduce
from scipy import stats
from small_reproduction import PROGRESS
from small_run import contents
from written_page import WrittenPage

from flexpress.experiments.claims import CLAIMS, Claim
from flexpress.experiments.figures import FIGURES, Figure
from flexpress.experiments.protocol import protocol
from flexpress.experiments.sweeps import SWEEP_NAMES
from flexpress.experiments.verdicts import VERDICTS
from flexpress.files.provenance import RECORD

PUBLISH = Path(__file__).parents[1] / "tools" / "publish_reproduction.py"
CURVES = [figure for figure in FIGURES if figure.kind == "curves"]
ABOUT_CURVES = [claim for claim in CLAIMS if claim.measures == ("mean accuracy",)]
READINGS = [reading.name for reading in protocol().readings]

every_figure = pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
of_curves = pytest.mark.parametrize("figure", CURVES, ids=lambda figure: figure.name)
every_claim = pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
about_curves = pytest.mark.parametrize("claim", ABOUT_CURVES, ids=lambda claim: claim.name)


def test_it_ends_well(quick: Reproduction) -> None:
    page = quick.folder / "report.html"
    assert (quick.code, quick.out) == (0, f" page: {page}\n"), quick.err
    assert page.is_file()
    assert {path.name for path in quick.folder.iterdir()} == {
        RECORD,
        "report.html",
        "figures",
        "plans",
        "runs",
    }


def test_it_tells_how_far_it_is_without_a_terminal(quick: Reproduction) -> None:
    lines = quick.err.splitlines()
    assert [line for line in lines if not PROGRESS.fullmatch(line)] == []
    done = [int(line.split()[1]) for line in lines]
    assert done == sorted(done)
    assert done


def test_there_are_thirteen_figures() -> None:
    assert len({figure.name for figure in FIGURES}) == 13


@every_figure
def test_pictures_are_files_beside_the_page(quick: Reproduction, figure: Figure) -> None:
    for name in (figure.name, f"{figure.name}-flown"):
        assert_drawn(quick.folder / "figures" / name)


@pytest.mark.parametrize("name", SWEEP_NAMES)
def test_sweeps_are_drawn_and_tabled(quick: Reproduction, name: str) -> None:
    assert_drawn(quick.folder / "figures" / name)
    rows = quick.rows(f"{name}.csv")
    assert rows
    assert {row["networks"] for row in rows} == {str(quick.scale.networks)}
    assert all(float(row["low"]) <= float(row["mean"]) <= float(row["high"]) for row in rows)


def assert_drawn(name: Path) -> None:
    picture = image.imread(name.with_name(f"{name.name}.png"))
    height, width = picture.shape[:2]
    assert min(height, width) > 200
    assert picture[..., :3].std() > 0.01  # something is drawn
    drawing = ET.parse(name.with_name(f"{name.name}.svg")).getroot()
    assert drawing.tag.endswith("svg")
    assert any(element.tag.endswith("path") for element in drawing.iter())


@pytest.fixture(scope="module")
def measured(quick: Reproduction) -> set[tuple[str, ...]]:
    """The tables of all runs, line by line."""
    tables = (quick.folder / "runs").glob("*/metrics.csv")
    return {tuple(table.read_text(encoding="utf-8").splitlines()[1:]) for table in tables}


@of_curves
def test_curves_are_those_of_runs(
    quick: Reproduction, measured: set[tuple[str, ...]], figure: Figure
) -> None:
    """A whole run for every line, reading, network and seed."""
    found: dict[tuple[str, str, str, str], list[str]] = defaultdict(list)
    for row in quick.rows(f"{figure.name}.csv"):
        assert row["figure"] == figure.name
        point = ",".join(row[name] for name in ("slot", "seconds", "loss", "accuracy"))
        found[row["line"], row["read"], row["network"], row["seed"]].append(point)
    assert set(found) == {
        (line.label, reading, *cell)
        for line in figure.lines
        for reading in READINGS
        for cell in quick.cells
    }
    horizon = quick.scale.horizon[figure.dataset]
    for points in found.values():
        assert tuple(points) in measured
        slots = [int(point.split(",")[0]) for point in points]
        assert slots == list(range(0, horizon + 1, quick.scale.eval_every))
    for line in figure.lines:
        for reading in READINGS:
            each = {tuple(found[line.label, reading, *cell]) for cell in quick.cells}
            assert len(each) == len(quick.cells)


def test_the_network_has_every_client(quick: Reproduction) -> None:
    every = quick.rows("network.csv")
    assert len(every) == 41 * len(READINGS) * quick.scale.networks
    rows = [row for row in every if (row["network"], row["read"]) == ("0", READINGS[0])]
    assert sorted(int(row["client"] or 0) for row in rows) == list(range(41))  # the server first
    assert {row["transporter"] for row in rows if row["client"]} == set("1234")
    assert all(0 <= float(row["x"]) <= 2000 and 0 <= float(row["y"]) <= 2000 for row in rows)


def test_energies_keep_their_budgets(quick: Reproduction) -> None:
    rows = quick.rows("energy.csv")
    assert [(row["network"], row["line"], row["read"], row["transporter"]) for row in rows] == [
        (str(network), line, reading, k)
        for network in range(quick.scale.networks)
        for line in ("Async, 15 kJ", "Async, 12 kJ")
        for reading in READINGS
        for k in "1234"
    ]
    for row in rows:
        assert float(row["budget"]) == {"15": 15e3, "12": 12e3}[row["line"].split()[1]]
        assert 0 < float(row["energy"]) <= float(row["budget"])


@every_claim
def test_every_claim_has_a_verdict_in_both_readings(quick: Reproduction, claim: Claim) -> None:
    rows = quick.decisions(claim)
    assert [row["read"] for row in rows] == [
        reading for reading in READINGS for _ in claim.measures
    ]
    tested = claim.figure.dataset == "fmnist" and claim.expects != "converge"
    for row in rows:
        assert (row["figure"], row["number"]) == (claim.figure.name, str(claim.figure.number))
        assert row["sentence"] == claim.sentence
        assert row["verdict"] in VERDICTS
        assert row["verdict"] != "not applicable"  # on these networks all can be served
        assert (row["verdict"] != "not tested") == tested


@about_curves
def test_intervals_follow_from_the_networks(quick: Reproduction, claim: Claim) -> None:
    for row in quick.decisions(claim):
        values = list(differences(quick, claim, row["read"]).values())
        assert float(row["mean"]) == pytest.approx(np.mean(values), abs=1e-12)
        error = stats.sem(values)
        low, high = (
            stats.t.interval(0.95, len(values) - 1, np.mean(values), error)
            if error
            else (values[0], values[0])
        )
        assert [float(row["low"]), float(row["high"])] == pytest.approx([low, high], abs=1e-9)


def differences(quick: Reproduction, claim: Claim, reading: str) -> dict[tuple[str, str], float]:
    """Of the mean accuracy, by network and seed."""
    return {
        (row["network"], row["seed"]): float(row["difference"])
        for row in quick.rows("differences.csv")
        if (row["claim"], row["read"], row["measure"]) == (claim.name, reading, "mean accuracy")
    }


@about_curves
def test_differences_are_those_of_the_curves(quick: Reproduction, claim: Claim) -> None:
    """Of the areas under them, as the file beside the picture has them."""
    rows = quick.rows(f"{claim.figure.name}.csv")
    for reading in READINGS:
        found = differences(quick, claim, reading)
        assert list(found) == quick.cells
        own = [row for row in rows if row["read"] == reading]
        for cell, difference in found.items():
            horizon = quick.scale.horizon[claim.figure.dataset]
            areas = [area(own, line.label, cell, horizon) for line in claim.lines]
            better = areas[0] - areas[1]
            if len(areas) == 4:
                better = (areas[2] - areas[3]) - better
            assert difference == pytest.approx(better, abs=1e-12)


def area(rows: list[dict[str, str]], line: str, cell: tuple[str, str], horizon: int) -> float:
    own = [row for row in rows if (row["line"], row["network"], row["seed"]) == (line, *cell)]
    slots, heights = ([float(row[name]) for row in own] for name in ("slot", "accuracy"))
    return float(np.trapezoid(heights, slots)) / horizon


def test_energies_that_are_closer(quick: Reproduction) -> None:
    (claim,) = (claim for claim in CLAIMS if claim.name == "energy-closer")
    spread, _ = (row for row in quick.decisions(claim) if row["read"] == READINGS[0])
    found = []
    for network in range(quick.scale.networks):
        ranges = {}
        for line in ("Async, 12 kJ", "Async, 15 kJ"):
            own = [
                float(row["energy"])
                for row in quick.rows("energy.csv")
                if (row["network"], row["line"], row["read"]) == (str(network), line, READINGS[0])
            ]
            ranges[line] = max(own) - min(own)
        found.append(ranges["Async, 15 kJ"] - ranges["Async, 12 kJ"])
    assert spread["measure"] == "range of energies"
    assert float(spread["mean"]) == pytest.approx(np.mean(found))


def test_the_page_names_the_paper_its_figures_and_what_stands_in(quick: Reproduction) -> None:
    html = (quick.folder / "report.html").read_text(encoding="utf-8")
    assert "arXiv:2304.10744" in html
    assert "docs/" not in html  # it may be mailed
    for figure in FIGURES:
        assert f"The paper&#39;s {figure.place}." in html
    marks = html.count("[shown: a part of FMNIST instead of SVHN]</h2>")
    assert marks == sum(figure.dataset == "svhn" for figure in FIGURES) + 1  # and the head start
    assert protocol().digest in html
    assert "learning_rates" in html


def test_links_lead_to_files_and_sections(quick: Reproduction) -> None:
    page = WrittenPage((quick.folder / "report.html").read_text(encoding="utf-8"))
    assert page.mistakes == []
    targets = {link.attributes["href"] for link in page.all("a")}
    anchors = {f"#{e.attributes['id']}" for e in page.elements if "id" in e.attributes}
    files = {target for target in targets if not target.startswith("#")}
    assert targets - files <= anchors
    assert all((quick.folder / name).is_file() for name in files)
    for figure in FIGURES:
        assert {f"figures/{figure.name}.{kind}" for kind in ("png", "svg", "csv")} <= files
        assert f"flexpress reproduce --quick --figure {figure.name}" in page.html


@pytest.mark.slow
def test_once_more_it_runs_nothing_and_writes_the_same_bytes(quick: Reproduction) -> None:
    before = digests(quick.folder)
    runs = moments(quick.folder / "runs")
    page = (quick.folder / "report.html").stat().st_mtime_ns
    again = reproduce(quick.name, quick.folder)
    assert (again.code, again.out, again.err) == (0, quick.out, "")
    assert digests(quick.folder) == before
    assert moments(quick.folder / "runs") == runs
    assert (quick.folder / "report.html").stat().st_mtime_ns > page


@pytest.mark.slow
def test_one_figure_of_the_same_runs(quick: Reproduction, tmp_path: Path) -> None:
    """Nothing is run anew, and what is drawn is the same."""
    shutil.copytree(quick.folder / "runs", tmp_path / "runs")
    runs = moments(tmp_path / "runs")
    again = reproduce(quick.name, tmp_path, "--figure", "budget")
    assert (again.code, again.out, again.err) == (0, f" page: {tmp_path / 'report.html'}\n", "")
    assert moments(tmp_path / "runs") == runs
    drawn = contents(tmp_path / "figures")
    assert {"budget.svg", "budget.png", "budget.csv"} <= set(drawn)
    for name in ("budget.svg", "budget.png", "budget.csv"):
        assert drawn[name] == (quick.folder / "figures" / name).read_bytes()


def test_it_can_be_published(quick: Reproduction, tmp_path: Path) -> None:
    """With a row for each claim, and every picture that is named."""
    runpy.run_path(str(PUBLISH))["main"](quick.folder, "a minute", tmp_path)
    text = (tmp_path / "README.md").read_text(encoding="utf-8")
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| [")]
    assert [row[0].split("](")[0][3:] for row in rows] == [claim.sentence for claim in CLAIMS]
    for row, claim in zip(rows, CLAIMS, strict=True):
        said = {each["read"]: f"**{each['verdict']}**" for each in quick.decisions(claim)}
        assert [row[2], row[4]] == list(said.values())
    named = re.findall(r"\]\((\w[\w.-]*)\)", text)
    assert named
    assert [name for name in named if not (tmp_path / name).exists()] == []
    assert "<!-- results -->" not in text


def moments(folder: Path) -> dict[str, int]:
    """When each file was written last."""
    return {str(path.relative_to(folder)): path.stat().st_mtime_ns for path in folder.rglob("*")}


def digests(folder: Path) -> dict[str, str]:
    found = contents(folder)
    return {name: hashlib.sha256(content).hexdigest() for name, content in found.items()}
