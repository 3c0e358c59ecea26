"""The numbers of the reproduction: as tables of the page, as CSV, and as JSON.

The same results give the same bytes. Floats are written so that they can be read back exactly.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict

from flexpress.experiments.figures import Figure
from flexpress.experiments.results import Results
from flexpress.experiments.statistics import Interval
from flexpress.experiments.study import Study
from flexpress.experiments.verdicts import Comparison, Finding, OverNetworks, Verdict
from flexpress.report.page.page import Cell, Grid
from flexpress.report.page.page import VerdictColour as Colour

VERDICT_COLOURS: dict[Verdict, Colour] = {
    "reproduced": "good",
    "not reproduced": "bad",
    "undecided": "open",
    "not applicable": "none",
}
_NOTHING = "-"

_SCALES = {
    "mean accuracy": (100.0, "points"),
    "energy spread": (1.0, "J"),
    "energy deviation": (1.0, "J"),
}
"""The factor and the unit in which a measure is shown."""


def summary_grid(findings: Sequence[Finding]) -> Grid:
    """What the paper saw on its network, and whether it is seen here."""
    rows = tuple(_summary_row(finding) for finding in findings if finding.network == 0)
    head = ("the paper saw", "here", "difference", "95 % interval", "sooner by")
    return Grid(head, rows)


def _summary_row(finding: Finding) -> tuple[str | Cell, ...]:
    decides = finding.deciding
    return (
        Cell(finding.claim.sentence, link=finding.claim.figure),
        Cell(finding.verdict, VERDICT_COLOURS[finding.verdict]),
        mean_text(decides),
        bounds_text(decides),
        _sooner_text(finding),
    )


def mean_text(measured: Comparison | None) -> str:
    if measured is None:
        return _NOTHING
    factor, unit = _SCALES.get(measured.measure, (1.0, ""))
    return f"{factor * measured.difference.mean:+.2f} {unit}".strip()


def bounds_text(measured: Comparison | None) -> str:
    return _NOTHING if measured is None else _interval_text(measured, measured.difference)


def _interval_text(measured: Comparison, found: Interval) -> str:
    factor, _ = _SCALES.get(measured.measure, (1.0, ""))
    if found.low is None or found.high is None:
        return _NOTHING
    return f"{factor * found.low:+.2f} to {factor * found.high:+.2f}"


def _sooner_text(finding: Finding) -> str:
    """Slots to the accuracy that all of its runs reached."""
    slots = [each for each in finding.measured if each.measure == "slots to target"]
    if not slots or finding.target is None:
        return _NOTHING
    return f"{slots[0].difference.mean:+.0f} slots to {100 * finding.target:.0f} %"


def details_grid(findings: Iterable[Finding]) -> Grid:
    """Every measure of every claim, seed by seed."""
    found = [
        (finding, each) for finding in findings for each in (*finding.measured, *finding.by_slots)
    ]
    seeds = sorted({seed for _, each in found for seed in each.seeds})
    columns = [f"seed {seed}" for seed in seeds]
    head = ("claim", "network", "clock", "measure", "difference", "95 % interval", *columns)
    rows = tuple(_detail_row(finding, each, seeds) for finding, each in found)
    return Grid(head, rows, "All measures, seed by seed", folded=True)


def _detail_row(finding: Finding, each: Comparison, seeds: Sequence[int]) -> tuple[str | Cell, ...]:
    """The cells of the seeds are empty if the measure does not depend on them."""
    factor, _ = _SCALES.get(each.measure, (1.0, ""))
    numbers = zip(each.seeds, each.difference.values, strict=bool(each.seeds))
    values = {seed: f"{factor * value:+.2f}" for seed, value in numbers}
    target = "" if each.target is None else f" {100 * each.target:.0f} %"
    return (
        finding.claim.name,
        str(finding.network),
        each.clock or _NOTHING,
        f"{each.measure}{target}",
        mean_text(each),
        _interval_text(each, each.difference),
        *(values.get(seed, "") for seed in seeds),
    )


def networks_grid(claims: Sequence[OverNetworks]) -> Grid:
    """The number of networks with each verdict, and which claims depend on the map."""
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


_Row = Sequence[object]

_CURVES = ("figure", "line", "network", "seed", "slot", "seconds", "loss", "accuracy")
_ENERGY = ("network", "line", "transporter", "energy", "budget", "round_trip")
_NETWORK = ("network", "line", "client", "x", "y", "transporter", "visit")
_CLAIM = (
    *("claim", "figure", "kind", "network", "verdict"),
    *("decides", "measure", "clock", "target", "mean", "low", "high"),
)


def figure_csv(figure: Figure, study: Study, results: Results) -> str:
    """The data of the picture: points of curves, energies of plans, or visits."""
    if figure.kind == "energy":
        return _text(_ENERGY, _energy_rows(figure, study))
    if figure.kind == "map":
        return _text(_NETWORK, _network_rows(figure, study))
    return _text(_CURVES, _curve_rows(figure, study, results))


def _curve_rows(figure: Figure, study: Study, results: Results) -> Iterator[_Row]:
    for line in figure.lines:
        for network in study.networks:
            for seed, run in results.per_seed(line.setting, network).items():
                for point in run.metrics:
                    numbers = point.slot, point.seconds, point.loss, point.accuracy
                    yield figure.name, line.label, network, seed, *numbers


def _energy_rows(figure: Figure, study: Study) -> Iterator[_Row]:
    """Joules and seconds; the cell of a missing budget is empty."""
    for network in study.networks:
        for line in figure.lines:
            plan = study.plans.get((line.setting, network))
            for k, tour in enumerate(plan.transporters if plan else (), start=1):
                yield network, line.label, k, tour.energy, tour.budget, tour.round_trip


def _network_rows(figure: Figure, study: Study) -> Iterator[_Row]:
    """Metres; the row of the server has no client, transporter or visit."""
    for network in study.networks:
        for line in figure.lines:
            scenario = line.setting.scenario(study.scale, network, study.seeds[0])
            plan = study.plans.get((line.setting, network))
            visits = {
                client: (k, visit)
                for k, tour in enumerate(plan.transporters if plan else (), start=1)
                for visit, client in enumerate(tour.clients, start=1)
            }
            places = zip((None, *scenario.client_ids), scenario.positions.tolist(), strict=True)
            for client, (x, y) in places:
                carrier = (None, None) if client is None else visits.get(client, (None, None))
                yield network, line.label, client, x, y, *carrier


def claims_csv(findings: Sequence[Finding]) -> str:
    """One row per claim, network, clock and measure; `decides` marks those behind the verdicts."""
    measured = [each for finding in findings for each in (*finding.measured, *finding.by_slots)]
    seeds = sorted({seed for each in measured for seed in each.seeds})
    head = (*_CLAIM, *map(_seed_column, seeds), "sentence")
    rows = (row for finding in findings for row in _claim_rows(finding))
    return _text(head, ([row.get(column) for column in head] for row in rows))


def _seed_column(seed: int) -> str:
    return f"seed_{seed}"


def _claim_rows(finding: Finding) -> Iterator[dict[str, object]]:
    """By column; missing values become empty cells."""
    claim = finding.claim
    about = {
        "claim": claim.name,
        "figure": claim.figure,
        "kind": claim.kind,
        "network": finding.network,
        "verdict": finding.verdict,
        "sentence": claim.sentence,
    }
    if not finding.measured:
        yield {**about, "decides": "yes", "measure": claim.measure}
    for each in (*finding.measured, *finding.by_slots):
        found = each.difference
        yield {
            **about,
            "decides": "yes" if each is finding.deciding else "no",
            "measure": each.measure,
            "clock": each.clock,
            "target": each.target,
            "mean": found.mean,
            "low": found.low,
            "high": found.high,
            **dict(zip(map(_seed_column, each.seeds), found.values, strict=bool(each.seeds))),
        }


def findings_json(findings: Iterable[Finding]) -> str:
    """Includes the numbers of every line, seed by seed."""
    return json.dumps([_as_document(each) for each in findings], indent=2, allow_nan=False) + "\n"


def _as_document(finding: Finding) -> dict[str, object]:
    claim = finding.claim
    return {
        "claim": claim.name,
        "sentence": claim.sentence,
        "figure": claim.figure,
        "kind": claim.kind,
        "measure": claim.measure,
        "lines": [line.label for line in claim.lines],
        "network": finding.network,
        "verdict": finding.verdict,
        "target": finding.target,
        "measured": [asdict(each) for each in finding.measured],
        "by_slots": [asdict(each) for each in finding.by_slots],
    }


def _text(head: _Row, rows: Iterable[_Row]) -> str:
    """None is an empty cell."""
    content = io.StringIO()
    writer = csv.writer(content, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(rows)
    return content.getvalue()
