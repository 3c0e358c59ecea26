"""All numbers of the reproduction as text: CSV for spreadsheets, JSON for programs.

The same results give the same bytes. Floats are written so that they read back as they were.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict

from flexpress.experiments.figures import Figure
from flexpress.experiments.results import Results
from flexpress.experiments.study import Study
from flexpress.experiments.verdicts import Finding

Row = Sequence[object]

CURVES = ("figure", "line", "network", "seed", "slot", "seconds", "loss", "accuracy")
ENERGY = ("network", "line", "transporter", "energy", "budget", "round_trip")
NETWORK = ("network", "line", "client", "x", "y", "transporter", "visit")
CLAIM = (
    *("claim", "figure", "kind", "network", "verdict"),
    *("decides", "measure", "clock", "target", "mean", "low", "high"),
)


def figure_csv(figure: Figure, study: Study, results: Results) -> str:
    """What the picture shows: a curve's points, a plan's energies, or who is visited by whom."""
    if figure.kind == "energy":
        return text(ENERGY, energy_rows(figure, study))
    if figure.kind == "map":
        return text(NETWORK, network_rows(figure, study))
    return text(CURVES, curve_rows(figure, study, results))


def curve_rows(figure: Figure, study: Study, results: Results) -> Iterator[Row]:
    for line in figure.lines:
        for network in study.networks:
            for seed, run in results.per_seed(line.setting, network).items():
                columns = (run.slots, run.seconds, run.loss, run.accuracy)
                for point in zip(*(column.tolist() for column in columns), strict=True):
                    yield figure.name, line.label, network, seed, *point


def energy_rows(figure: Figure, study: Study) -> Iterator[Row]:
    """Joules and seconds; a budget that is not there is left empty."""
    for network in study.networks:
        for line in figure.lines:
            plan = study.plans.get((line.setting, network))
            for k, tour in enumerate(plan.transporters if plan else (), start=1):
                yield network, line.label, k, tour.energy, tour.budget, tour.round_trip


def network_rows(figure: Figure, study: Study) -> Iterator[Row]:
    """Metres; the server has no client's number, and nobody visits it."""
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
    """A row for each claim, network, clock and measure; `decides` marks those of the verdicts."""
    measured = [each for finding in findings for each in (*finding.measured, *finding.by_slots)]
    seeds = sorted({seed for each in measured for seed in each.seeds})
    head = (*CLAIM, *map(seed_column, seeds), "sentence")
    rows = (row for finding in findings for row in claim_rows(finding))
    return text(head, ([row.get(column) for column in head] for row in rows))


def seed_column(seed: int) -> str:
    return f"seed_{seed}"


def claim_rows(finding: Finding) -> Iterator[dict[str, object]]:
    """By column; what is not there is left empty."""
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
            **dict(zip(map(seed_column, each.seeds), found.values, strict=bool(each.seeds))),
        }


def findings_json(findings: Iterable[Finding]) -> str:
    """With the numbers of every line, seed by seed."""
    return json.dumps([as_document(each) for each in findings], indent=2, allow_nan=False) + "\n"


def as_document(finding: Finding) -> dict[str, object]:
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


def text(head: Row, rows: Iterable[Row]) -> str:
    """None is an empty cell."""
    content = io.StringIO()
    writer = csv.writer(content, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(rows)
    return content.getvalue()
