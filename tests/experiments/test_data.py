"""Numbers as CSV and JSON: all of them, and to the last bit."""

from __future__ import annotations

import csv
import io
import json

import pytest
from made_results import curve, flat, named, of_claim, plan, study

from flexpress.experiments.data import (
    claims_csv,
    differences_csv,
    figure_csv,
    findings_json,
    sweep_csv,
)
from flexpress.experiments.figures import FIGURES, Figure
from flexpress.experiments.protocol import as_paper
from flexpress.experiments.results import Results
from flexpress.experiments.statistics import interval
from flexpress.experiments.swept import SweptPoint
from flexpress.experiments.verdicts import Finding, _find

ODD = 0.1 + 0.2


def read(text: str) -> list[dict[str, str]]:
    assert text.endswith("\n")
    assert "\r" not in text
    return list(csv.DictReader(io.StringIO(text)))


def figure_named(name: str) -> Figure:
    return next(figure for figure in FIGURES if figure.name == name)


def findings() -> list[Finding]:
    """One of curves, one of plans, and one with no plan."""
    claim, closer, missing = named("iid-svhn"), named("energy-closer"), named("speed-sync")
    sure = [flat(0.5 + ODD / 10), flat(0.6 + ODD / 10)]
    base = [flat(0.5), flat(0.6)]
    made, results = of_claim(claim, sure, base)
    low, high = (line.setting for line in closer.lines)
    made.plans.update({(low, 0): plan(1e3, 2e3), (high, 0): plan(1e3, 4e3)})
    return [_find(each, as_paper(), made, results) for each in (claim, closer, missing)]


def test_claims_csv() -> None:
    rows = read(claims_csv(findings()))
    assert [(row["claim"], row["verdict"], row["measure"], row["decides"]) for row in rows] == [
        ("iid-svhn", "reproduced", "mean accuracy", "yes"),
        ("iid-svhn", "reproduced", "final accuracy", "no"),
        ("iid-svhn", "reproduced", "slots to target", "no"),
        ("energy-closer", "reproduced", "range of energies", "yes"),
        ("energy-closer", "reproduced", "deviation of energies", "yes"),
        ("speed-sync", "not applicable", "mean accuracy", "yes"),
    ]
    assert {row["read"] for row in rows} == {"as the paper"}
    assert [row["number"] for row in rows] == [*["6"] * 3, "16", "16", "14"]
    assert rows[0]["sentence"] == named("iid-svhn").sentence
    assert (rows[3]["mean"], rows[3]["low"]) == ("2000.0", "")
    assert (rows[5]["mean"], rows[5]["networks"]) == ("", "")


def test_numbers_of_claims_are_exact() -> None:
    finding = findings()[0]
    row = read(claims_csv([finding]))[0]
    difference = finding.deciding[0].difference
    assert (float(row["mean"]), float(row["low"])) == (difference.mean, difference.low)


def test_every_difference_with_its_lines() -> None:
    finding = findings()[0]
    rows = [row for row in read(differences_csv([finding])) if row["measure"] == "mean accuracy"]
    assert [(row["network"], row["seed"], row["line"]) for row in rows] == [
        ("0", seed, line) for seed in "12" for line in ("Async", "Sync")
    ]
    assert [float(row["difference"]) for row in rows[::2]] == list(finding.deciding[0].values)
    first, second = (float(row["value"]) for row in rows[:2])
    assert first - second == pytest.approx(float(rows[0]["difference"]))


def test_findings_json() -> None:
    document = json.loads(findings_json(findings()))
    assert [each["verdict"] for each in document] == ["reproduced", "reproduced", "not applicable"]
    first = document[0]
    assert (first["lines"], first["read"]) == (["Async", "Sync"], "as the paper")
    assert first["measured"][0]["lines"][1] == pytest.approx([0.5, 0.6])
    assert first["measured"][0]["cells"] == [[0, 1], [0, 2]]
    assert set(first["measured"][0]["difference"]) == {"values", "mean", "low", "high"}
    assert document[2]["measured"] == []


def test_the_same_bytes() -> None:
    assert claims_csv(findings()) == claims_csv(findings())
    assert findings_json(findings()) == findings_json(findings())


def test_sweep_csv() -> None:
    points = [SweptPoint("as the paper", 3.0, interval([ODD, 0.5]), interval([0.2]), 2)]
    (row,) = read(sweep_csv("remote", points))
    assert (row["sweep"], row["line"], row["x"], row["networks"]) == (
        *("remote", "as the paper"),
        *("3.0", "2"),
    )
    assert float(row["mean"]) == interval([ODD, 0.5]).mean
    assert (row["final_mean"], row["final_low"]) == ("0.2", "")


def test_curves_csv() -> None:
    claim = named("routes-async-sws-total")
    made, results = of_claim(claim, [curve(0.1, ODD), curve(0.2, 0.4, complete=False)], [])
    rows = read(figure_csv(figure_named("routes-async"), made, results))
    assert ",".join(rows[0]) == "figure,line,read,network,seed,slot,seconds,loss,accuracy"
    its = ("routes-async", "Async, SWS", "as the paper", "0")
    assert [tuple(row.values()) for row in rows] == [
        (*its, "1", "0", "0.0", "2.0", "0.1"),
        (*its, "1", "100", "6000.0", "1.0", "0.30000000000000004"),
        (*its, "2", "0", "0.0", "2.0", "0.2"),
        (*its, "2", "90", "5400.0", "1.0", "0.4"),
    ]


def test_energy_csv() -> None:
    figure = figure_named("energy")
    first, second = (line.setting for line in figure.lines)
    plans = {(first, 0): plan(9e3, 13e3), (second, 0): plan(11e3), (first, 1): plan(ODD)}
    rows = read(figure_csv(figure, study(plans, networks=2), Results({})))
    assert ",".join(rows[0]) == "network,line,read,transporter,energy,budget,round_trip,slots"
    found = [(row["network"], row["line"], row["transporter"], row["energy"]) for row in rows]
    assert found == [
        ("0", "Async, 15 kJ", "1", "9000.0"),
        ("0", "Async, 15 kJ", "2", "13000.0"),
        ("0", "Async, 12 kJ", "1", "11000.0"),
        ("1", "Async, 15 kJ", "1", "0.30000000000000004"),
    ]
    assert float(rows[3]["round_trip"]) == ODD / 30


def test_network_csv() -> None:
    """The server first, then all clients; the plan made by hand visits client 1 alone."""
    figure = figure_named("network")
    (line,) = figure.lines
    every = read(figure_csv(figure, study({(line.setting, 0): plan(1.0)}), Results({})))
    rows = [row for row in every if row["read"] == "as the paper"]
    assert len(every) == 2 * len(rows)
    scenario = line.setting.scenario(study({}).scale, 0, 1)
    assert [(float(row["x"]), float(row["y"])) for row in rows] == [
        tuple(place) for place in scenario.positions.tolist()
    ]
    assert [row["client"] for row in rows] == ["", *(str(i) for i in scenario.client_ids)]
    assert [(row["transporter"], row["visit"]) for row in rows[:3]] == [
        ("", ""),
        ("1", "1"),
        ("", ""),
    ]
