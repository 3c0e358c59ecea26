"""Claims on several networks, one of which cannot be served with 12 kJ."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from small_reproduction import reproduce
from written_page import WrittenPage

from flexpress.experiments.claims import CLAIMS

FIGURES = ("budget", "energy")
OWN = [claim for claim in CLAIMS if claim.figure.name in FIGURES]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """The folder, and what was said."""
    folder = tmp_path_factory.mktemp("made")
    figures = [word for name in FIGURES for word in ("--figure", name)]
    return folder, reproduce(folder, *figures, "--networks", "3", model="logistic")


def rows(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / "figures" / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.slow
def test_a_budget_that_cannot_be_kept_is_told_in_one_line(made: tuple[Path, list[str]]) -> None:
    _, (note,) = made
    assert note.startswith("flexpress: network 2: no plan")
    assert "has 12,000 J" in note


@pytest.mark.slow
def test_claims_are_judged_on_the_networks_that_can_be_served(
    made: tuple[Path, list[str]],
) -> None:
    folder, _ = made
    decided = [row for row in rows(folder, "claims.csv") if row["decides"] == "yes"]
    assert list(dict.fromkeys(row["claim"] for row in decided)) == [claim.name for claim in OWN]
    assert {row["networks"] for row in decided} == {"2"}
    assert "not applicable" not in {row["verdict"] for row in decided}
    assert {row["network"] for row in rows(folder, "differences.csv")} == {"0", "1"}


@pytest.mark.slow
def test_data_of_all_networks(made: tuple[Path, list[str]]) -> None:
    """On the barren one all lines but those of 12 kJ."""
    folder, _ = made
    for figure in FIGURES:
        lines = {(row["line"], row["network"]) for row in rows(folder, f"{figure}.csv")}
        labels = {line for line, network in lines if network == "0"}
        assert {line for line, network in lines if network == "2"} == {
            label for label in labels if "12 kJ" not in label
        }


@pytest.mark.slow
def test_the_page_has_a_row_for_each_network(made: tuple[Path, list[str]]) -> None:
    page = WrittenPage((made[0] / "report.html").read_text(encoding="utf-8"))
    assert page.mistakes == []
    for part in page.html.split("Network by network</summary>")[1:]:
        heads = WrittenPage(part.split("</table>")[0]).all("th", scope="row")
        assert [head.text for head in heads] == ["0", "1"]
    assert "--networks 3 --figure budget" in page.html
    assert "with 3 networks with 1 seeds each: it says 2 with 1" in page.html
