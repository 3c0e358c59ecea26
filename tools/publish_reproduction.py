"""Puts a reproduction into the documentation: python tools/publish_reproduction.py FOLDER

FOLDER was written by `flexpress reproduce`. Figures and claims.csv are copied to docs/reproduction;
in its README the table of claims, and nothing else, is written anew.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent.parent / "docs" / "reproduction"
BEGIN, END = (
    "<!-- claims: written by tools/publish_reproduction.py -->\n",
    "<!-- end of claims -->\n",
)


def main(folder: Path) -> None:
    figures = folder / "figures"
    for source in [*sorted(figures.glob("*.svg")), figures / "claims.csv"]:
        shutil.copyfile(source, DOCS / source.name)
    findings = json.loads((figures / "findings.json").read_text(encoding="utf-8"))
    readme = DOCS / "README.md"
    before, rest = readme.read_text(encoding="utf-8").split(BEGIN)
    _, after = rest.split(END)
    readme.write_text(before + BEGIN + table(findings) + END + after, encoding="utf-8")


def table(findings: list[dict[str, Any]]) -> str:
    rows = [row(finding) for finding in findings if finding["network"] == 0]
    head = ("the paper saw", "here", "difference", "95 % interval", "seed by seed", "sooner by")
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def row(finding: dict[str, Any]) -> list[str]:
    decides = finding["measured"][0]
    points = decides["measure"] == "mean accuracy"
    factor, unit = (100, "points") if points else (1, "J")
    found = decides["difference"]
    numbers = [f"{factor * value:+.2f}" for value in found["values"]]
    certain = found["low"] is None
    return [
        f"[{finding['sentence']}]({finding['figure']}.svg)",
        f"**{finding['verdict']}**",
        f"{factor * found['mean']:+.2f} {unit}",
        "-" if certain else f"{factor * found['low']:+.2f} to {factor * found['high']:+.2f}",
        "-" if certain else ", ".join(numbers),
        sooner(finding),
    ]


def sooner(finding: dict[str, Any]) -> str:
    """In slots, which are minutes in the paper, to the accuracy that all runs reached."""
    slots = [each for each in finding["measured"] if each["measure"] == "slots to target"]
    if not slots:
        return "-"
    found, target = slots[0]["difference"], slots[0]["target"]
    reach = "" if found["low"] is None else f" ({found['low']:+.0f} to {found['high']:+.0f})"
    return f"{found['mean']:+.0f}{reach} slots to {100 * target:.0f} %"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
