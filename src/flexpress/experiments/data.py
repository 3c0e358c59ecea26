"""The numbers of the reproduction as CSV and JSON.

The same results give the same bytes. Floats are written so that they can be read back exactly.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict

from flexpress.experiments.figures import Figure
from flexpress.experiments.protocol import protocol
from flexpress.experiments.results import Results
from flexpress.experiments.statistics import Interval
from flexpress.experiments.study import Study
from flexpress.experiments.swept import SweptPoint
from flexpress.experiments.verdicts import Comparison, Finding

_Row = Sequence[object]

_CURVES = ("figure", "line", "read", "network", "seed", "slot", "seconds", "loss", "accuracy")
_ENERGY = ("network", "line", "read", "transporter", "energy", "budget", "round_trip", "slots")
_NETWORK = ("network", "line", "read", "client", "x", "y", "transporter", "visit")
_CLAIM = (
    *("claim", "figure", "number", "read", "verdict", "decides", "measure", "target"),
    *("networks", "mean", "low", "high", "sentence"),
)
_DIFFERENCE = ("claim", "read", "measure", "network", "seed", "difference", "line", "value")
_SWEEP = (
    *("sweep", "line", "x", "networks", "mean", "low", "high"),
    *("final_mean", "final_low", "final_high"),
)


def figure_csv(figure: Figure, study: Study, results: Results) -> str:
    """The data of the pictures: points of curves, energies of plans, or visits."""
    if figure.kind == "energy":
        return _text(_ENERGY, _energy_rows(figure, study))
    if figure.kind == "map":
        return _text(_NETWORK, _network_rows(figure, study))
    return _text(_CURVES, _curve_rows(figure, results))


def _curve_rows(figure: Figure, results: Results) -> Iterator[_Row]:
    for line in figure.lines:
        for reading in protocol().readings:
            for cell, run in results.of(line.read_as(reading).setting).items():
                for point in run.metrics:
                    numbers = point.slot, point.seconds, point.loss, point.accuracy
                    yield figure.name, line.label, reading.name, *cell, *numbers


def _energy_rows(figure: Figure, study: Study) -> Iterator[_Row]:
    """Joules and seconds; the cell of a missing budget is empty."""
    for network in study.networks:
        for line in figure.lines:
            for reading in protocol().readings:
                plan = study.plans.get((line.read_as(reading).setting, network))
                for k, tour in enumerate(plan.transporters if plan else (), start=1):
                    trip = tour.round_trip, tour.round_trip_slots
                    its = k, tour.energy, tour.budget, *trip
                    yield network, line.label, reading.name, *its


def _network_rows(figure: Figure, study: Study) -> Iterator[_Row]:
    """Metres; the row of the server has no client, transporter or visit."""
    for network in study.networks:
        for line in figure.lines:
            for reading in protocol().readings:
                setting = line.read_as(reading).setting
                scenario = setting.scenario(study.scale, network, 1)
                plan = study.plans.get((setting, network))
                visits = {
                    client: (k, visit)
                    for k, tour in enumerate(plan.transporters if plan else (), start=1)
                    for visit, client in enumerate(tour.clients, start=1)
                }
                places = zip((None, *scenario.client_ids), scenario.positions.tolist(), strict=True)
                for client, (x, y) in places:
                    carrier = (None, None) if client is None else visits.get(client, (None, None))
                    yield network, line.label, reading.name, client, x, y, *carrier


def claims_csv(findings: Sequence[Finding]) -> str:
    """One row per claim, reading and measure; `decides` marks those behind the verdicts."""
    rows = (row for finding in findings for row in _claim_rows(finding))
    return _text(_CLAIM, ([row.get(column) for column in _CLAIM] for row in rows))


def _claim_rows(finding: Finding) -> Iterator[dict[str, object]]:
    """By column; missing values become empty cells."""
    claim = finding.claim
    about = {
        "claim": claim.name,
        "figure": claim.figure.name,
        "number": claim.figure.number,
        "read": finding.reading.name,
        "verdict": finding.verdict,
        "sentence": claim.sentence,
    }
    if not finding.measured:
        for measure in claim.measures:
            yield {**about, "decides": "yes", "measure": measure}
    for each in finding.measured:
        found = each.difference
        yield {
            **about,
            "decides": "yes" if each in finding.deciding else "no",
            "measure": each.measure,
            "target": each.target,
            "networks": len(each.by_network),
            "mean": found.mean,
            "low": found.low,
            "high": found.high,
        }


def differences_csv(findings: Sequence[Finding]) -> str:
    """Network by network and seed by seed, with the value of every line. Plans have seed 0."""
    rows = (
        row for finding in findings for each in finding.measured for row in _rows(finding, each)
    )
    return _text(_DIFFERENCE, rows)


def _rows(finding: Finding, compared: Comparison) -> Iterator[_Row]:
    about = finding.claim.name, finding.reading.name, compared.measure
    for number, cell in enumerate(compared.cells):
        for line, values in zip(finding.claim.lines, compared.lines, strict=True):
            yield *about, *cell, compared.values[number], line.label, values[number]


def sweep_csv(name: str, points: Iterable[SweptPoint]) -> str:
    def numbers(found: Interval) -> _Row:
        return found.mean, found.low, found.high

    rows = (
        (name, each.series, each.x, each.networks, *numbers(each.mean), *numbers(each.final))
        for each in points
    )
    return _text(_SWEEP, rows)


def findings_json(findings: Iterable[Finding]) -> str:
    """Includes the numbers of every line, network by network and seed by seed."""
    return json.dumps([_as_document(each) for each in findings], indent=2, allow_nan=False) + "\n"


def _as_document(finding: Finding) -> dict[str, object]:
    claim = finding.claim
    return {
        "claim": claim.name,
        "sentence": claim.sentence,
        "figure": claim.figure.name,
        "number": claim.figure.number,
        "place": claim.figure.topic,
        "expects": claim.expects,
        "measures": claim.measures,
        "lines": [line.label for line in claim.lines],
        "read": finding.reading.name,
        "verdict": finding.verdict,
        "measured": [asdict(each) for each in finding.measured],
    }


def _text(head: _Row, rows: Iterable[_Row]) -> str:
    """None is an empty cell."""
    content = io.StringIO()
    writer = csv.writer(content, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(rows)
    return content.getvalue()
