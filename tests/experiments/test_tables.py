"""Numbers as CSV and JSON: all of them, and to the last bit."""

from __future__ import annotations

import csv
import io
import json

import pytest
from made_results import curve, flat, named, of_claim, plan, study

from flexpress.experiments.claims import _figure_named
from flexpress.experiments.results import Results
from flexpress.experiments.tables import claims_csv, figure_csv, findings_json
from flexpress.experiments.verdicts import Finding, _find

ODD = 0.1 + 0.2


def read(text: str) -> list[dict[str, str]]:
    assert text.endswith("\n")
    assert "\r" not in text
    return list(csv.DictReader(io.StringIO(text)))


def findings() -> list[Finding]:
    """One by both clocks, one of plans, and one with no plan."""
    claim, closer, missing = named("iid-svhn"), named("energy-closer"), named("speed-sync")
    sure = [flat(0.5 + ODD / 10), flat(0.6 + ODD / 10)]
    base = [flat(0.5), flat(0.6)]
    made, results = of_claim(claim, sure, base, by_slots=[base, base])
    low, high = (line.setting for line in closer.lines)
    made.plans.update({(low, 0): plan(1e3, 2e3), (high, 0): plan(1e3, 4e3)})
    return [_find(each, 0, made, results) for each in (claim, closer, missing)]


def test_claims_csv() -> None:
    rows = read(claims_csv(findings()))
    deciding = [row for row in rows if row["decides"] == "yes"]
    assert [(row["claim"], row["verdict"]) for row in deciding] == [
        ("iid-svhn", "reproduced"),
        ("energy-closer", "reproduced"),
        ("speed-sync", "not applicable"),
    ]
    assert [(row["measure"], row["clock"]) for row in rows] == [
        ("mean accuracy", "exact"),
        ("slots to target", "exact"),
        ("minutes to target", "exact"),
        ("mean accuracy", "slots"),
        ("slots to target", "slots"),
        ("minutes to target", "slots"),
        ("energy spread", ""),
        ("energy deviation", ""),
        ("mean accuracy", ""),
    ]
    assert list(rows[0])[-3:] == ["seed_1", "seed_2", "sentence"]
    assert rows[0]["sentence"] == named("iid-svhn").sentence
    assert (deciding[1]["mean"], deciding[1]["seed_1"]) == ("2000.0", "")
    assert (deciding[2]["mean"], deciding[2]["seed_1"]) == ("", "")


def test_numbers_of_claims_are_exact() -> None:
    finding = findings()[0]
    row = read(claims_csv([finding]))[0]
    assert finding.deciding is not None
    difference = finding.deciding.difference
    assert (float(row["seed_1"]), float(row["seed_2"])) == difference.values
    assert (float(row["mean"]), float(row["low"])) == (difference.mean, difference.low)


def test_findings_json() -> None:
    document = json.loads(findings_json(findings()))
    assert [each["verdict"] for each in document] == ["reproduced", "reproduced", "not applicable"]
    first = document[0]
    assert first["lines"] == ["Async", "Sync"]
    assert first["target"] == 0.5
    assert first["measured"][0]["lines"][1] == pytest.approx([0.5, 0.6])
    assert first["measured"][0]["seeds"] == [1, 2]
    assert first["by_slots"][0]["clock"] == "slots"
    assert set(first["measured"][0]["difference"]) == {"values", "mean", "low", "high"}
    assert (document[2]["measured"], document[2]["target"]) == ([], None)


def test_the_same_bytes() -> None:
    assert claims_csv(findings()) == claims_csv(findings())
    assert findings_json(findings()) == findings_json(findings())


def test_curves_csv() -> None:
    claim = named("routes-async-sws-total")
    made, results = of_claim(claim, [curve(0.1, ODD), curve(0.2, 0.4, complete=False)], [])
    rows = read(figure_csv(_figure_named("routes-async"), made, results))
    assert ",".join(rows[0]) == "figure,line,network,seed,slot,seconds,loss,accuracy"
    assert [tuple(row.values()) for row in rows] == [
        ("routes-async", "Async, SWS", "0", "1", "0", "0.0", "2.0", "0.1"),
        ("routes-async", "Async, SWS", "0", "1", "100", "6000.0", "1.0", "0.30000000000000004"),
        ("routes-async", "Async, SWS", "0", "2", "0", "0.0", "2.0", "0.2"),
        ("routes-async", "Async, SWS", "0", "2", "90", "5400.0", "1.0", "0.4"),
    ]


def test_energy_csv() -> None:
    figure = _figure_named("energy")
    first, second = (line.setting for line in figure.lines)
    plans = {(first, 0): plan(9e3, 13e3), (second, 0): plan(11e3), (first, 1): plan(ODD)}
    rows = read(figure_csv(figure, study(plans, networks=2), Results({})))
    assert ",".join(rows[0]) == "network,line,transporter,energy,budget,round_trip"
    assert [tuple(row.values())[:5] for row in rows] == [
        ("0", "Async, 15 kJ", "1", "9000.0", "12000.0"),
        ("0", "Async, 15 kJ", "2", "13000.0", "12000.0"),
        ("0", "Async, 12 kJ", "1", "11000.0", "12000.0"),
        ("1", "Async, 15 kJ", "1", "0.30000000000000004", "12000.0"),
    ]
    assert float(rows[3]["round_trip"]) == ODD / 30


def test_network_csv() -> None:
    """The server first, then all clients; the plan made by hand visits client 1 alone."""
    figure = _figure_named("network")
    (line,) = figure.lines
    rows = read(figure_csv(figure, study({(line.setting, 0): plan(1.0)}), Results({})))
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
