"""What the documentation says came out is what the numbers beside it say."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from flexpress.experiments.claims import CLAIMS
from flexpress.experiments.figures import FIGURES
from flexpress.experiments.protocol import protocol
from flexpress.experiments.sweeps import SWEEP_NAMES

FOLDER = Path(__file__).parents[2] / "docs" / "reproduction"
README = (FOLDER / "README.md").read_text(encoding="utf-8")
EARLIER = "These results are from before the protocol"

of_the_protocol = pytest.mark.skipif(EARLIER in README, reason="published before the protocol")
from_before = pytest.mark.skipif(EARLIER not in README, reason="published with the protocol")


def deciding() -> list[dict[str, str]]:
    with (FOLDER / "claims.csv").open(newline="", encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if row["decides"] == "yes"]


def table() -> list[list[str]]:
    return [line.split(" | ") for line in README.splitlines() if line.startswith("| [")]


@of_the_protocol
def test_every_claim_has_a_verdict_in_both_readings() -> None:
    found = list(dict.fromkeys((row["claim"], row["read"]) for row in deciding()))
    readings = [reading.name for reading in protocol().readings]
    assert found == [(claim.name, reading) for claim in CLAIMS for reading in readings]


@of_the_protocol
def test_it_was_made_by_this_protocol() -> None:
    assert (FOLDER / "protocol.toml").read_text(encoding="utf-8") == protocol().text
    assert protocol().digest in README


@of_the_protocol
def test_the_table_is_that_of_the_numbers() -> None:
    verdicts = {(row["claim"], row["read"]): row["verdict"] for row in deciding()}
    assert len(table()) == len(CLAIMS)
    for cells, claim in zip(table(), CLAIMS, strict=True):
        assert claim.sentence in cells[0]
        assert [cells[2], cells[4]] == [
            f"**{verdicts[claim.name, reading.name]}**" for reading in protocol().readings
        ]


@of_the_protocol
def test_every_figure_is_there() -> None:
    names = [figure.name for figure in FIGURES]
    for name in (*names, *(f"{name}-flown" for name in names), *SWEEP_NAMES):
        assert (FOLDER / f"{name}.svg").stat().st_size > 1000
        assert f"]({name}.svg)" in README


@from_before
def test_the_earlier_table_is_that_of_its_numbers() -> None:
    for cells, row in zip(table(), deciding(), strict=True):
        factor = 100 if row["measure"] == "mean accuracy" else 1
        assert row["sentence"] in cells[0]
        assert cells[1] == f"**{row['verdict']}**"
        assert float(cells[2].split()[0]) == round(factor * float(row["mean"]), 2)
