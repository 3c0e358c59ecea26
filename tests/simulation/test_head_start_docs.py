"""docs/head_start.md: its tables say what the runs in docs/head_start.csv say."""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path
from statistics import mean

DOCS = Path(__file__).parents[2] / "docs"
NAMES = {"FMNIST": ("fmnist", "paper"), "SVHN": ("svhn", "paper-svhn")}
REMOTE = {"3 km": "remote 3 km", "8 km": "remote 8 km"}
ROWS = {"ideal link": "direct"}
SEEDS = ["11", "12", "13", "14"]

Key = tuple[str, str, str, str]
"""Data, network, partition, row."""


def runs() -> dict[Key, list[dict[str, str]]]:
    """Those of the tables: 2,000 slots at the rate that all rows have, on seeds that judge."""
    found = defaultdict(list)
    with (DOCS / "head_start.csv").open(newline="") as file:
        for run in csv.DictReader(file):
            settings = run["slots"], run["rate"], run["preloaded"]
            if settings == ("2000", "0.1", "False") and run["seed"] in SEEDS:
                found[run["data"], run["network"], run["partition"], run["row"]].append(run)
    return found


def rows() -> list[tuple[Key, list[str]]]:
    """Rows of both large tables: what they are about, and their columns."""
    found = []
    for line in (DOCS / "head_start.md").read_text().splitlines():
        cell, *texts = [text.strip() for text in line.strip("|").split("|")]
        if len(texts) == 9 and texts[0] != "row" and not cell.startswith("-"):
            row = ROWS.get(texts[0], texts[0])
            if cell in REMOTE:
                found.append((("fmnist", REMOTE[cell], "iid", row), texts))
            else:
                name, partition = cell.split()
                found.append(((*NAMES[name], partition, row), texts))
    return found


def test_every_number_of_the_tables() -> None:
    known, shown = runs(), rows()
    assert len(shown) == 5 * (6 + 2)
    for key, texts in shown:
        mean_text, _, final_text, _, *costs = texts[1:]
        assert mean_text == f"{mean(float(r['mean_accuracy']) for r in known[key]):.1f}", key
        assert final_text == f"{mean(float(r['final_accuracy']) for r in known[key]):.1f}", key
        names = ["slots_to_75", "kilojoules_to_75", "slots_to_80", "kilojoules_to_80"]
        for name, cost in zip(names, costs, strict=True):
            if cost:
                assert cost == f"{mean(float(r[name]) for r in known[key]):,.0f}", (key, name)


def test_seeds() -> None:
    known = runs()
    for key, _ in rows():
        assert sorted(run["seed"] for run in known[key]) == SEEDS, key
