"""Puts a reproduction into the documentation.

    python tools/publish_reproduction.py FOLDER "1 h 20 min on two cores of an AMD EPYC"

FOLDER was written by `flexpress reproduce`, in this time. Figures, tables and the protocol are
copied to docs/reproduction. Its README is reproduction_readme.md beside this file, with the results
in the place of the mark: verdicts, sweeps and figures, all of which follow from the numbers.
"""

from __future__ import annotations

import csv
import json
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from flexpress.experiments.figures import FIGURES
from flexpress.experiments.protocol import protocol
from flexpress.experiments.sweeps import SWEEP_NAMES, sweeps_of
from flexpress.files.versions import versions

DOCS = Path(__file__).parent.parent / "docs" / "reproduction"
TEMPLATE, MARK = Path(__file__).with_name("reproduction_readme.md"), "<!-- results -->\n"
TABLES = ("claims.csv", "differences.csv", "protocol.toml")
UNITS = {
    "mean accuracy": (100, 2, "points"),
    "final accuracy": (100, 2, "points"),
    "range of energies": (1, 0, "J"),
    "deviation of energies": (1, 0, "J"),
    "longest tour": (1, 2, "slots"),
    "cost": (1, 2, "slots"),
}

Finding = dict[str, Any]


def main(folder: Path, time: str, docs: Path = DOCS) -> None:
    figures = folder / "figures"
    if (figures / "protocol.toml").read_text(encoding="utf-8") != protocol().text:
        sys.exit(f"{folder}: was made by another protocol")
    for source in [*sorted(figures.glob("*.svg")), *(figures / name for name in TABLES)]:
        shutil.copyfile(source, docs / source.name)
    findings = json.loads((figures / "findings.json").read_text(encoding="utf-8"))
    text = TEMPLATE.read_text(encoding="utf-8").replace(MARK, results(findings, figures, time))
    (docs / "README.md").write_text(text, encoding="utf-8")


def results(findings: list[Finding], figures: Path, time: str) -> str:
    """From the heading of the verdicts to the figures."""
    parts = ["## Verdicts\n", facts(findings, time), counts(findings)]
    parts += [table(claim_rows(findings)), "## Beyond the paper\n"]
    for name in SWEEP_NAMES:
        if (figures / f"{name}.csv").exists():
            parts += [f"![{name}]({name}.svg)\n", table(sweep_rows(figures / f"{name}.csv"))]
    parts.append("## Figures\n")
    for figure in FIGURES:
        parts += [f"### {figure.title}: {figure.place}\n", *pictures(figure.name)]
    return "\n".join(parts)


def facts(findings: list[Finding], time: str) -> str:
    cells = {tuple(cell) for each in findings for m in each["measured"] for cell in m["cells"]}
    networks = len({network for network, _ in cells})
    seeds = len({cell for cell in cells if cell[0] == 0 and cell[1]})
    used = ", ".join(f"{name} {version}" for name, version in versions().items())
    rows = [("networks", f"{networks}, {seeds} seeds each"), ("time", time), ("versions", used)]
    return table([("", ""), *rows])


def counts(findings: list[Finding]) -> str:
    """How many claims have each verdict, in each reading."""
    lines = [f"Made by the protocol with the SHA-256 {protocol().digest}.\n"]
    for reading in protocol().readings:
        own = Counter(each["verdict"] for each in findings if each["read"] == reading.name)
        found = ", ".join(f"{number} {verdict}" for verdict, number in own.most_common())
        lines.append(f"{reading.title}, of {own.total()} claims: {found}.\n")
    return "\n".join(lines)


def claim_rows(findings: list[Finding]) -> Iterable[Sequence[str]]:
    paper, flown = (reading.name for reading in protocol().readings)
    yield "the paper says", "figure", paper, "by", flown, "by"
    for _, own in groupby(findings, key=lambda each: each["claim"]):
        first, second = own
        sentence = f"[{first['sentence']}]({first['figure']}.svg)"
        verdicts = [(f"**{each['verdict']}**", decided_by(each)) for each in (first, second)]
        yield sentence, str(first["number"]), *(cell for pair in verdicts for cell in pair)


def decided_by(finding: Finding) -> str:
    deciding = finding["measured"][: len(finding["measures"])]
    texts = [number(finding, each) for each in deciding]
    if len(texts) > 1:
        texts = [f"{each['measure']} {text}" for each, text in zip(deciding, texts, strict=True)]
    return "; ".join(texts) or "-"


def number(finding: Finding, measured: Finding) -> str:
    factor, decimals, unit = UNITS[measured["measure"]]
    if finding["expects"] == "converge":
        unit = "%"
    found = measured["difference"]
    return f"{interval(found['mean'], found['low'], found['high'], factor, decimals)} {unit}"


def interval(
    mean: float, low: float | None, high: float | None, factor: float, decimals: int
) -> str:
    bounds = (
        ""
        if low is None or high is None
        else (f" ({factor * low:+.{decimals}f} to {factor * high:+.{decimals}f})")
    )
    return f"{factor * mean:+.{decimals}f}{bounds}"


def sweep_rows(path: Path) -> Iterable[Sequence[str]]:
    yield "line", "x", "networks", "mean accuracy (points)", "final accuracy (points)"
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            both = (numbers(row, ""), numbers(row, "final_"))
            yield row["line"], x_text(path.stem, row["x"]), row["networks"], *both


def x_text(sweep: str, x: str) -> str:
    names = next(each.names for each in sweeps_of(protocol().full) if each.name == sweep)
    return names[int(float(x))].replace("\n", ", ") if names else f"{float(x):g}"


def numbers(row: dict[str, str], start: str) -> str:
    mean, low, high = (
        float(text) if (text := row[f"{start}{name}"]) else None for name in ("mean", "low", "high")
    )
    assert mean is not None
    return interval(mean, low, high, 100, 2)


def pictures(name: str) -> list[str]:
    paper, flown = protocol().readings
    return [
        f"![{name}, {paper.name}]({name}.svg)\n",
        f"![{name}, {flown.name}]({name}-flown.svg)\n",
    ]


def table(rows: Iterable[Sequence[str]]) -> str:
    head, *body = rows
    lines = [head, ["---"] * len(head), *body]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
