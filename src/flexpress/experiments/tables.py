"""The tables of the page: claims with their verdicts, networks, lines and sweeps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from flexpress.experiments.claims import STATEMENTS, Claim
from flexpress.experiments.figures import DATASETS, Figure
from flexpress.experiments.protocol import DatasetName, Scale, protocol
from flexpress.experiments.results import Result, Results
from flexpress.experiments.statistics import Interval
from flexpress.experiments.study import Study
from flexpress.experiments.sweeps import Sweep
from flexpress.experiments.swept import SweptPoint
from flexpress.experiments.verdicts import Comparison, Finding, Verdict
from flexpress.report.page.page import Cell, Grid
from flexpress.report.page.page import VerdictColour as Colour

VERDICT_COLOURS: dict[Verdict, Colour] = {
    "reproduced": "good",
    "not reproduced": "bad",
    "undecided": "open",
    "not applicable": "none",
    "not tested": "none",
}
_NOTHING = "-"

_UNITS = {
    "mean accuracy": (100.0, 2, "points"),
    "final accuracy": (100.0, 2, "points"),
    "range of energies": (1.0, 0, "J"),
    "deviation of energies": (1.0, 0, "J"),
    "longest tour": (1.0, 2, "slots"),
    "cost": (1.0, 2, "slots"),
    "slots to target": (1.0, 0, "slots"),
}
"""The factor, the decimals and the unit in which a measure is shown."""


def data_name(scale: Scale, dataset: DatasetName) -> str:
    """The data that a run used, whatever the figure is about."""
    if not scale.stand_in:
        return DATASETS[dataset]
    return "a part of FMNIST" + ("" if dataset == "fmnist" else " instead of SVHN")


def chip(finding: Finding) -> Cell:
    return Cell(finding.verdict, VERDICT_COLOURS[finding.verdict])


def summary_grid(findings: Sequence[Finding]) -> Grid:
    """What the paper says, and whether it is seen here, in both readings."""
    names = [reading.name for reading in protocol().readings]
    head = ("the paper says", "figure", *(part for name in names for part in (name, "by")))
    rows = []
    for claim, own in groupby(findings, key=lambda each: each.claim):
        cells = [cell for each in own for cell in (chip(each), _headline(each))]
        rows.append(
            (Cell(claim.sentence, link=claim.figure.name), str(claim.figure.number), *cells)
        )
    return Grid(head, tuple(rows))


def _headline(finding: Finding) -> str:
    """Numbers of another data set stand below the figure, where their origin is said."""
    return _NOTHING if finding.verdict == "not tested" else _decided_by(finding, named=False)


def _decided_by(finding: Finding, *, named: bool) -> str:
    """The deciding measures; without their names where one alone decides."""
    several = len(finding.deciding) > 1
    texts = [
        f"{each.measure} {_text(finding.claim, each)}"
        if named or several
        else _text(finding.claim, each)
        for each in finding.deciding
    ]
    return "; ".join(texts) or _NOTHING


def _text(claim: Claim, compared: Comparison) -> str:
    """The mean difference with its interval; of convergence, the accuracy itself."""
    factor, decimals, unit = _UNITS[compared.measure]
    sign = "+"
    if claim.expects == "converge":
        sign, unit = "", "%"
    text = interval_text(compared.difference, factor, decimals, sign)
    target = "" if compared.target is None else f" to {100 * compared.target:.0f} %"
    return f"{text} {unit}{target}"


def interval_text(found: Interval, factor: float, decimals: int, sign: str = "+") -> str:
    shown = f"{factor * found.mean:{sign}.{decimals}f}"
    if found.low is None or found.high is None:
        return shown
    low, high = (f"{factor * each:{sign}.{decimals}f}" for each in (found.low, found.high))
    return f"{shown} ({low} to {high})"


def claims_grid(findings: Sequence[Finding], study: Study) -> Grid:
    """The claims of a figure in both readings: verdicts, all measures, and what was run."""
    rows = tuple(
        (
            finding.claim.sentence,
            finding.reading.name,
            chip(finding),
            _decided_by(finding, named=True),
            _also_measured(finding),
            _what_was_run(finding, study),
        )
        for finding in findings
    )
    return Grid(("claim", "read", "verdict", "decided by", "beside it", "what was run"), rows)


def _also_measured(finding: Finding) -> str:
    others = finding.measured[len(finding.claim.measures) :]
    names = {"slots to target": "sooner by"}
    texts = [
        f"{names.get(each.measure, each.measure)} {_text(finding.claim, each)}" for each in others
    ]
    return "; ".join(texts) or _NOTHING


def _what_was_run(finding: Finding, study: Study) -> str:
    claim, count = finding.claim, len(finding.networks)
    if not count:
        return "nothing: no plan keeps the budgets"
    networks = "network 0" if finding.networks == (0,) else f"{count} networks"
    if claim.is_about_plans:
        return f"{claim.comparison}: plans of {networks}"
    scale, dataset = study.scale, claim.figure.dataset
    seeds = "1 seed" if study.seeds == 1 else f"{study.seeds} seeds"
    slots = f"{scale.horizon[dataset]:,} slots"
    return f"{claim.comparison}: {networks}, {seeds} each, {slots}, {data_name(scale, dataset)}"


def networks_grid(findings: Sequence[Finding]) -> Grid:
    """The deciding measure of each claim of a figure on each network."""
    shown = [(finding, each) for finding in findings for each in finding.deciding]
    networks = sorted({network for finding in findings for network in finding.networks})
    head = ("network", *(_column_title(finding, each) for finding, each in shown))
    rows = tuple(
        (str(network), *(_number(each, network) for _, each in shown)) for network in networks
    )
    return Grid(head, rows, "Network by network", folded=True)


def _column_title(finding: Finding, compared: Comparison) -> str:
    unit = "%" if finding.claim.expects == "converge" else _UNITS[compared.measure][2]
    return f"{finding.claim.comparison}, {compared.measure} ({unit}), {finding.reading.name}"


def _number(compared: Comparison, network: int) -> str:
    factor, decimals, _ = _UNITS[compared.measure]
    value = compared.by_network.get(network)
    return _NOTHING if value is None else f"{factor * value:.{decimals}f}"


def lines_grid(figure: Figure, results: Results) -> Grid:
    """The results of each line in each reading, over all networks and seeds."""
    rows = tuple(
        (line.label, reading.name, *_line_numbers(results.of(line.read_as(reading).setting)))
        for line in figure.lines
        for reading in protocol().readings
    )
    head = ("line", "read", "runs", "mean accuracy", "at the end", "best", "diverged")
    return Grid(head, rows, "Accuracy of each line, lowest and highest run", folded=True)


def _line_numbers(found: dict[tuple[int, int], Result]) -> tuple[str, ...]:
    runs = list(found.values())

    def spread(values: Sequence[float]) -> str:
        low, high, middle = min(values), max(values), sum(values) / len(values)
        return f"{100 * middle:.1f} % ({100 * low:.1f} to {100 * high:.1f})"

    if not runs:
        return ("0", *[_NOTHING] * 4)
    return (
        str(len(runs)),
        spread([run.mean_accuracy for run in runs]),
        spread([run.final_accuracy for run in runs]),
        spread([run.best_accuracy for run in runs]),
        str(sum(not run.complete for run in runs)),
    )


def statements_grid() -> Grid:
    """What the paper proves or argues, without a verdict."""
    rows = tuple((each.sentence, each.place, each.found) for each in STATEMENTS)
    return Grid(("the paper says", "place", "what we say"), rows, "Not judged by runs")


def sweep_grid(sweep: Sweep, points: Iterable[SweptPoint]) -> Grid:
    """The points of a sweep, one by one."""
    rows = tuple(
        (
            _x_text(sweep, point.x),
            point.series,
            interval_text(point.mean, 100.0, 2),
            interval_text(point.final, 100.0, 2),
            str(point.networks),
        )
        for point in points
    )
    title = sweep.x_label or "setting"
    head = (title, "line", "mean accuracy (points)", "final accuracy (points)", "networks")
    return Grid(head, rows)


def _x_text(sweep: Sweep, x: float) -> str:
    return sweep.names[int(x)].replace("\n", ", ") if sweep.names else f"{x:g}"
