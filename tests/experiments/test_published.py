"""What the documentation says came out is what the numbers beside it say."""

from __future__ import annotations

import csv
from pathlib import Path

from flexpress.experiments.claims import CLAIMS
from flexpress.experiments.figures import FIGURES

FOLDER = Path(__file__).parents[2] / "docs" / "reproduction"


def deciding() -> list[dict[str, str]]:
    with (FOLDER / "claims.csv").open(newline="", encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if row["decides"] == "yes"]


def test_every_claim_has_a_verdict() -> None:
    assert [row["claim"] for row in deciding()] == [claim.name for claim in CLAIMS]
    for row in deciding():
        values = [row[f"seed_{seed}"] for seed in (1, 2, 3, 4)]
        assert all(values) != (row["claim"] == "energy-closer"), "plans know no seeds"


def test_the_table_is_that_of_the_numbers() -> None:
    lines = (FOLDER / "README.md").read_text(encoding="utf-8").splitlines()
    told = [line.split(" | ") for line in lines if line.startswith("| [")]
    assert len(told) == len(CLAIMS)
    for cells, row in zip(told, deciding(), strict=True):
        factor = 100 if row["measure"] == "mean accuracy" else 1
        assert row["sentence"] in cells[0]
        assert cells[1] == f"**{row['verdict']}**"
        assert float(cells[2].split()[0]) == round(factor * float(row["mean"]), 2)


def test_the_counts_in_the_text() -> None:
    verdicts = [row["verdict"] for row in deciding()]
    counts = [verdicts.count(name) for name in ("reproduced", "not reproduced", "undecided")]
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert (
        "Of {} claims {} are reproduced, {} are not, and {} are undecided.".format(
            len(verdicts), *counts
        )
        in text
    )


def test_every_figure_is_there() -> None:
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    for figure in FIGURES:
        assert (FOLDER / f"{figure.name}.svg").stat().st_size > 1000
        assert f"]({figure.name}.svg)" in text
