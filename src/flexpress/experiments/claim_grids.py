"""Claims and their verdicts as tables of the page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from flexpress.experiments.comparison import Measured
from flexpress.experiments.statistics import Interval
from flexpress.experiments.verdicts import Finding, OverNetworks, Verdict
from flexpress.report.page.page import Cell, Grid
from flexpress.report.page.page import VerdictColour as Colour

COLOURS: dict[Verdict, Colour] = {
    "reproduced": "good",
    "not reproduced": "bad",
    "undecided": "open",
    "not applicable": "none",
}
NOTHING = "-"

SCALES = {
    "mean accuracy": (100.0, "points"),
    "energy spread": (1.0, "J"),
    "energy deviation": (1.0, "J"),
}
"""Of a measure: the factor and the unit in which it is told."""


def summary_grid(findings: Sequence[Finding]) -> Grid:
    """On the paper's network: what was seen there, and whether it is seen here."""
    rows = tuple(summary_row(finding) for finding in findings if finding.network == 0)
    head = ("the paper saw", "here", "difference", "95 % interval", "sooner by")
    return Grid(head, rows)


def summary_row(finding: Finding) -> tuple[str | Cell, ...]:
    decides = finding.deciding
    return (
        Cell(finding.claim.sentence, link=finding.claim.figure),
        Cell(finding.verdict, COLOURS[finding.verdict]),
        mean_text(decides),
        bounds_text(decides),
        sooner_text(finding),
    )


def mean_text(measured: Measured | None) -> str:
    if measured is None:
        return NOTHING
    factor, unit = SCALES.get(measured.measure, (1.0, ""))
    return f"{factor * measured.difference.mean:+.2f} {unit}".strip()


def bounds_text(measured: Measured | None) -> str:
    return NOTHING if measured is None else interval_text(measured, measured.difference)


def interval_text(measured: Measured, found: Interval) -> str:
    factor, _ = SCALES.get(measured.measure, (1.0, ""))
    if found.low is None or found.high is None:
        return NOTHING
    return f"{factor * found.low:+.2f} to {factor * found.high:+.2f}"


def sooner_text(finding: Finding) -> str:
    """To the accuracy that all of its runs reached."""
    slots = [each for each in finding.measured if each.measure == "slots to target"]
    if not slots or finding.target is None:
        return NOTHING
    return f"{slots[0].difference.mean:+.0f} slots to {100 * finding.target:.0f} %"


def details_grid(findings: Iterable[Finding]) -> Grid:
    """Every measure of every claim, with the number of each seed."""
    found = [
        (finding, each) for finding in findings for each in (*finding.measured, *finding.by_slots)
    ]
    seeds = sorted({seed for _, each in found for seed in each.seeds})
    columns = [f"seed {seed}" for seed in seeds]
    head = ("claim", "network", "clock", "measure", "difference", "95 % interval", *columns)
    rows = tuple(detail_row(finding, each, seeds) for finding, each in found)
    return Grid(head, rows, "All measures, seed by seed", folded=True)


def detail_row(finding: Finding, each: Measured, seeds: Sequence[int]) -> tuple[str | Cell, ...]:
    """What does not depend on seeds has no number of them."""
    factor, _ = SCALES.get(each.measure, (1.0, ""))
    numbers = zip(each.seeds, each.difference.values, strict=bool(each.seeds))
    values = {seed: f"{factor * value:+.2f}" for seed, value in numbers}
    target = "" if each.target is None else f" {100 * each.target:.0f} %"
    return (
        finding.claim.name,
        str(finding.network),
        each.clock or NOTHING,
        f"{each.measure}{target}",
        mean_text(each),
        interval_text(each, each.difference),
        *(values.get(seed, "") for seed in seeds),
    )


def networks_grid(claims: Sequence[OverNetworks]) -> Grid:
    """How many networks say what, and which claims depend on the map."""
    verdicts = tuple(claims[0].counts) if claims else ()
    rows = tuple(
        (
            Cell(each.claim.sentence, link=each.claim.figure),
            *(str(each.counts[verdict]) for verdict in verdicts),
            "yes" if each.depends else "",
        )
        for each in claims
    )
    head = ("claim", *verdicts, "depends on the map")
    return Grid(head, rows, "On how many networks")
