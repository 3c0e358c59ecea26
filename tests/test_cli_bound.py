"""`flexpress bound`: what the theorems promise, as a table and as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import Outcome, Run
from small_run import FOUR, write_scenario

from flexpress.planning import make_plan
from flexpress.planning.plan_file import save_plan
from flexpress.scenario import Scenario

SLOW_LINK: dict[str, object] = {
    "transfer_time": 100.0
}  # round trips of 212 s, 4 slots; on one drone 8

NET = """
from torch import nn

def make_model():
    return nn.Sequential(nn.Flatten(), nn.Linear(784, 8), nn.Tanh(), nn.Linear(8, 10))
"""


def document(outcome: Outcome) -> dict[str, Any]:
    assert (outcome.code, outcome.err) == (0, "")
    loaded = json.loads(outcome.out)
    assert isinstance(loaded, dict)
    return loaded


def assert_refused(outcome: Outcome, *pieces: str) -> None:
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.count("\n") == 1
    for piece in pieces:
        assert piece in outcome.err


def test_a_row_for_every_plan_and_algorithm(run: Run) -> None:
    outcome = run("bound", write_scenario(link=SLOW_LINK))
    assert (outcome.code, outcome.err) == (0, "")
    rows = [line.split()[:3] for line in outcome.out.splitlines()[2:8]]
    assert rows == [
        ["sync", "minmax", "4"],
        ["async", "minmax", "4"],
        ["sync", "sws", "4"],
        ["async", "sws", "4"],
        ["sync", "total", "8"],
        ["async", "total", "8"],
    ]
    assert " L " in outcome.out  # from below, so that it must not be told as a bound
    assert outcome.out.count(" the largest seen, on average ") == 3
    last = outcome.out.splitlines()[-1]
    assert last.startswith(" Fly FedEx-")
    assert not Path("flexpress-out").exists()


def test_the_numbers_are_those_of_the_theorems(run: Run) -> None:
    """The JSON has all that the bound is made of: put together here, by the paper's formulas."""
    found = document(run("bound", write_scenario(link=SLOW_LINK), "--json", "--horizon", "500"))
    measured = found["constants"]
    smooth, grad, sigma = (measured[key]["value"] for key in ("smoothness", "gradient", "noise"))
    gap, n = measured["start_gap"], 4
    assert found["largest_rate"] == pytest.approx(1 / smooth)
    assert found["target"] == pytest.approx(0.1 * measured["start_gradient"])
    for row in found["forecasts"]:
        rate, bound, slots = row["rate"], row["bound"], row["tours"]["slots"]
        start, delay, noise = (2, 10, 1) if row["algorithm"] == "sync" else (4, 44, 2)
        squares = [r * d**2 for r, d in zip(row["tours"]["clients"], slots, strict=True)]
        routes = max(slots) ** 2 if row["algorithm"] == "sync" else sum(squares) / n
        idle = max(slots) / 500 if row["algorithm"] == "sync" else 0.0
        assert bound["start"] == pytest.approx(start * gap / (rate * 500))
        assert bound["first_tour"] == pytest.approx(idle * measured["start_gradient"])
        drift = (rate * grad * smooth) ** 2
        assert bound["delay"] == pytest.approx((1 - idle) * delay * drift * routes)
        assert bound["noise"] == pytest.approx((1 - idle) * noise * smooth * rate * sigma**2 / n)
        assert bound["total"] == pytest.approx(
            bound["start"] + bound["first_tour"] + bound["delay"] + bound["noise"]
        )


def test_every_run_is_alike(run: Run) -> None:
    scenario = write_scenario()
    assert run("bound", scenario, "--json").out == run("bound", scenario, "--json").out


def test_the_horizon_leaves_the_constants_alone(run: Run) -> None:
    scenario = write_scenario()
    few, many = (document(run("bound", scenario, "--json", "--horizon", t)) for t in ("9", "9999"))
    assert few["constants"] == many["constants"]
    assert [row["slots"] for row in few["forecasts"]] == [row["slots"] for row in many["forecasts"]]
    assert few["forecasts"][0]["bound"]["total"] > many["forecasts"][0]["bound"]["total"]


def test_a_target(run: Run) -> None:
    scenario = write_scenario()
    near, far = (
        document(run("bound", scenario, "--json", "--target", eps)) for eps in ("0.5", "0.05")
    )
    assert (near["target"], far["target"]) == (0.5, 0.05)
    for one, other in zip(near["forecasts"], far["forecasts"], strict=True):
        assert one["slots"] < other["slots"]


def test_a_plan_that_is_given(run: Run) -> None:
    save_plan(make_plan(FOUR, objective="total"), "plan.json")
    found = document(run("bound", write_scenario(), "--plan", ".", "--json"))
    rows = [(row["objective"], row["algorithm"]) for row in found["forecasts"]]
    assert rows == [("total", "sync"), ("total", "async")]
    assert found["skew"]["total"]["transporters"] == [0.0, 0.0]  # one flies to all, one is idle


def test_labels_by_location_are_for_sync(run: Run) -> None:
    """A block with its main label on either side of the server: whatever the bound says."""
    scenario = Scenario.preset("paper").replace(
        network={"area": [8000.0, 100.0], "blocks": [2, 1]},
        fleet={"speeds": [10.0, 10.0], "budgets": None},
        learning={"model": "logistic", "partition": "location", "main_label_probability": 0.9},
        plan={"solver": "exact"},
    )
    scenario.save("blocks.toml")
    found = document(run("bound", "blocks.toml", "--json"))
    assert found["skew"]["sws"]["mean"] > 0.25
    assert (found["advice"]["algorithm"], found["advice"]["decided_by"]) == ("sync", "skew")


def test_a_module_of_one_s_own(run: Run) -> None:
    Path("mine.py").write_text(NET)
    scenario = write_scenario(learning={"model": "mine:make_model"})
    found = document(run("bound", scenario, "--json"))
    assert found["constants"]["smoothness"]["value"] > 0


def test_the_exact_clock(run: Run) -> None:
    outcome = run("bound", write_scenario(run={"clock": "exact"}, link=SLOW_LINK))
    assert outcome.code == 0
    assert " 3.53 " in outcome.out
    assert "rounded up" not in outcome.out


def test_what_is_refused(run: Run) -> None:
    scenario = write_scenario(link=SLOW_LINK)
    assert_refused(run("bound", scenario, "--target", "0"), "target 0", "more than 0")
    assert_refused(run("bound", scenario, "--target", "nan"), "target nan", "more than 0")
    assert_refused(run("bound", scenario, "--horizon", "4"), "horizon 4", "round trip, 8 slots")
    assert_refused(run("bound", scenario, "--horizon", "0"), "horizon")
    assert_refused(run("bound", "fuor"), "fuor: no such file")
    assert_refused(run("bound", scenario, "--plan", "none.json"), "none.json: no such plan")


def test_a_rate_that_diverges(run: Run) -> None:
    outcome = run("bound", write_scenario(learning={"learning_rate": 1e6, "model": "mlp"}))
    assert outcome.code == 4
    assert "lower learning.learning_rate" in outcome.err


@pytest.mark.parametrize("columns", ["30", "200"])
def test_other_terminals(run: Run, columns: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert run("bound", write_scenario()).code == 0
