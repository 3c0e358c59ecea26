"""`flexpress reproduce --quick`: its figures and its claims, against the runs that it kept."""

from __future__ import annotations

import hashlib
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
from flexpress.experiments.verdicts import VERDICTS
from flexpress.files.provenance import RECORD

CURVES = [figure for figure in FIGURES if figure.kind == "curves"]
ABOUT_CURVES = [claim for claim in CLAIMS if claim.measure == "mean accuracy"]

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
    picture = image.imread(quick.folder / "figures" / f"{figure.name}.png")
    height, width = picture.shape[:2]
    assert min(height, width) > 200
    assert picture[..., :3].std() > 0.01  # something is drawn
    drawing = ET.parse(quick.folder / "figures" / f"{figure.name}.svg").getroot()
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
    """A whole run for every line and seed."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in quick.rows(f"{figure.name}.csv"):
        assert (row["figure"], row["network"]) == (figure.name, "0")
        point = ",".join(row[name] for name in ("slot", "seconds", "loss", "accuracy"))
        found[row["line"], row["seed"]].append(point)
    assert set(found) == {(line.label, str(seed)) for line in figure.lines for seed in quick.seeds}
    for points in found.values():
        assert tuple(points) in measured
        slots = [int(point.split(",")[0]) for point in points]
        assert slots == list(range(0, quick.scale.horizon + 1, quick.scale.eval_every))
    for line in figure.lines:
        assert len({tuple(found[line.label, str(seed)]) for seed in quick.seeds}) == len(
            quick.seeds
        )


def test_the_network_has_every_client(quick: Reproduction) -> None:
    rows = quick.rows("network.csv")
    assert sorted(int(row["client"] or 0) for row in rows) == list(range(41))  # the server first
    assert {row["transporter"] for row in rows if row["client"]} == set("1234")
    assert all(0 <= float(row["x"]) <= 2000 and 0 <= float(row["y"]) <= 2000 for row in rows)


def test_energies_keep_their_budgets(quick: Reproduction) -> None:
    rows = quick.rows("energy.csv")
    assert [(row["line"], row["transporter"]) for row in rows] == [
        (line, k) for line in ("Async, 15 kJ", "Async, 12 kJ") for k in "1234"
    ]
    for row in rows:
        assert float(row["budget"]) == {"15": 15e3, "12": 12e3}[row["line"].split()[1]]
        assert 0 < float(row["energy"]) <= float(row["budget"])


@every_claim
def test_every_claim_has_a_verdict(quick: Reproduction, claim: Claim) -> None:
    row = quick.decision(claim)
    assert (row["figure"], row["network"]) == (claim.figure, "0")
    assert row["sentence"] == claim.sentence
    assert row["verdict"] in VERDICTS
    assert row["verdict"] != "not applicable"  # on the paper's network all can be served


@about_curves
def test_intervals_follow_from_the_seeds(quick: Reproduction, claim: Claim) -> None:
    row = quick.decision(claim)
    values = [float(row[f"seed_{seed}"]) for seed in quick.seeds]
    error = stats.sem(values)
    assert float(row["mean"]) == pytest.approx(np.mean(values), abs=1e-12)
    low, high = stats.t.interval(0.95, len(values) - 1, np.mean(values), error)
    assert [float(row["low"]), float(row["high"])] == pytest.approx([low, high], abs=1e-9)


@about_curves
def test_differences_are_those_of_the_curves(quick: Reproduction, claim: Claim) -> None:
    """Of the areas under them, seed by seed, as the file beside the picture has them."""
    rows = quick.rows(f"{claim.figure}.csv")
    (found,) = (
        row
        for row in quick.rows("claims.csv")
        if (row["claim"], row["measure"], row["clock"]) == (claim.name, "mean accuracy", "exact")
    )
    for seed in quick.seeds:
        areas = [area(rows, line.label, seed, quick.scale.horizon) for line in claim.lines]
        better = areas[0] - areas[1]
        if claim.kind == "less advantage":
            better = (areas[2] - areas[3]) - better
        assert float(found[f"seed_{seed}"]) == pytest.approx(better, abs=1e-12)


def area(rows: list[dict[str, str]], line: str, seed: int, horizon: int) -> float:
    own = [row for row in rows if (row["line"], row["seed"]) == (line, str(seed))]
    slots, heights = ([float(row[name]) for row in own] for name in ("slot", "accuracy"))
    return float(np.trapezoid(heights, slots)) / horizon


def test_energies_that_are_closer(quick: Reproduction) -> None:
    """Plans know no chance: there are neither seeds nor an interval."""
    (claim,) = (claim for claim in CLAIMS if claim.measure == "energy spread")
    row = quick.decision(claim)
    spread = {}
    for line in ("Async, 12 kJ", "Async, 15 kJ"):
        own = [float(each["energy"]) for each in quick.rows("energy.csv") if each["line"] == line]
        spread[line] = max(own) - min(own)
    assert float(row["mean"]) == pytest.approx(spread["Async, 15 kJ"] - spread["Async, 12 kJ"])
    assert {row[name] for name in ("low", "high", *(f"seed_{seed}" for seed in quick.seeds))} == {
        ""
    }


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


def moments(folder: Path) -> dict[str, int]:
    """When each file was written last."""
    return {str(path.relative_to(folder)): path.stat().st_mtime_ns for path in folder.rglob("*")}


def digests(folder: Path) -> dict[str, str]:
    found = contents(folder)
    return {name: hashlib.sha256(content).hexdigest() for name, content in found.items()}
