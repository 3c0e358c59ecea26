"""Claims on several networks: which depend on the map, and which cannot be checked there."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from small_reproduction import reproduce
from written_page import WrittenPage

from flexpress.experiments.claims import CLAIMS

FIGURES = ("budget", "energy")
OWN = [claim for claim in CLAIMS if claim.figure in FIGURES]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """The folder, and what was said."""
    folder = tmp_path_factory.mktemp("made")
    figures = [word for name in FIGURES for word in ("--figure", name)]
    return folder, reproduce(folder, *figures, "--networks", "2", model="logistic")


def rows(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / "figures" / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.slow
def test_a_budget_that_cannot_be_kept_is_told_in_one_line(made: tuple[Path, list[str]]) -> None:
    _, (note,) = made
    assert note.startswith("flexpress: network 1: no plan")
    assert "has 12,000 J" in note


@pytest.mark.slow
def test_claims_of_both_networks(made: tuple[Path, list[str]]) -> None:
    folder, _ = made
    decided = [row for row in rows(folder, "claims.csv") if row["decides"] == "yes"]
    assert [(row["claim"], row["network"]) for row in decided] == [
        (claim.name, network) for claim in OWN for network in "01"
    ]
    for row in decided:
        assert (row["verdict"] == "not applicable") == (row["network"] == "1")
        assert (row["mean"] == "") == (row["network"] == "1")


@pytest.mark.slow
def test_data_of_both_networks(made: tuple[Path, list[str]]) -> None:
    """On the other one all lines but those of 12 kJ."""
    folder, _ = made
    for figure in FIGURES:
        lines = {(row["line"], row["network"]) for row in rows(folder, f"{figure}.csv")}
        labels = {line for line, network in lines if network == "0"}
        assert {line for line, network in lines if network == "1"} == {
            label for label in labels if "12 kJ" not in label
        }


@pytest.mark.slow
def test_the_page_counts_networks(made: tuple[Path, list[str]]) -> None:
    page = WrittenPage((made[0] / "report.html").read_text(encoding="utf-8"))
    assert page.mistakes == []
    assert "On how many networks" in [text.text for text in page.all("p", class_="caption")]
    table = page.html.split("On how many networks</p>")[1].split("</table>")[0]
    grid = [line.text for line in WrittenPage(table).all("tr")]
    assert len(grid) == 1 + len(OWN)
    heads = [head.text for head in WrittenPage(table).all("th", scope="col")]
    counts = [cell.text for cell in WrittenPage(table).all("td")]
    for number in range(len(OWN)):
        own = dict(zip(heads[1:], counts[number * (len(heads) - 1) :], strict=False))
        assert own["not applicable"] == "1"
        assert sum(int(own[verdict]) for verdict in ("reproduced", "not reproduced", "undecided"))
    assert "--networks 2 --figure budget" in page.html
