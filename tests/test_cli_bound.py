"""`flexpress bound`: what the theorems promise, as a table and as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import Outcome, Run
from small_run import FOUR, write_scenario

from flexpress import Plan, make_learner, simulate
from flexpress.planning import make_plan
from flexpress.planning.plan_file import save_plan
from flexpress.scenario import DEFAULT_HEAD_START, Algorithm, Scenario
from flexpress.theory import (
    Constants,
    RoundTrips,
    Trial,
    bound,
    stable_rate,
    theorem2,
    theorem3,
)
from flexpress.theory.advice import WORTH

SLOW_LINK: dict[str, object] = {
    "transfer_time": 100.0
}  # round trips of 212 s, 4 slots; on one drone 8

NET = """
from torch import nn

def make_model():
    return nn.Sequential(nn.Flatten(), nn.Linear(784, 8), nn.Tanh(), nn.Linear(8, 10))
"""


def document(outcome: Outcome) -> dict[str, Any]:
    """What is printed; a busy machine may have told of its progress."""
    assert outcome.code == 0
    assert [line for line in outcome.err.splitlines() if ": slot " not in line] == []
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
    *_, advice, head_start = outcome.out.splitlines()
    assert advice.startswith(" Fly FedEx-")
    assert "head_start = 0.5" in head_start
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


@pytest.mark.slow
def test_every_run_is_alike(run: Run) -> None:
    scenario = write_scenario()
    assert run("bound", scenario, "--json").out == run("bound", scenario, "--json").out


@pytest.mark.slow
def test_the_horizon_leaves_the_constants_alone(run: Run) -> None:
    scenario = write_scenario()
    few, many = (document(run("bound", scenario, "--json", "--horizon", t)) for t in ("9", "9999"))
    assert few["constants"] == many["constants"]
    assert [row["slots"] for row in few["forecasts"]] == [row["slots"] for row in many["forecasts"]]
    assert few["forecasts"][0]["bound"]["total"] > many["forecasts"][0]["bound"]["total"]


@pytest.mark.slow
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


def unequal(**changes: Any) -> Scenario:
    """Two clients nearby, two far away: tours of 2 and 5 slots, so that Async need not wait."""
    return FOUR.replace(
        network={"clients": [[30.0, 0.0], [30.0, 40.0], [-900.0, 0.0], [-900.0, -40.0]]},
        fleet={"speeds": [10.0, 10.0], "budgets": None},
        link={"transfer_time": 50.0},
        plan={"solver": "exact"},
        **changes,
    )


def test_the_advice_was_tried(run: Run) -> None:
    """Both algorithms, each on its best plan: what is advised follows from these two runs."""
    scenario = unequal()
    scenario.save("unequal.toml")
    found = document(run("bound", "unequal.toml", "--json"))
    assert [trial["algorithm"] for trial in found["trials"]] == ["sync", "async"]
    accuracies = []
    for trial in found["trials"]:
        assert trial["slots"] == 400
        plan = make_plan(scenario, objective=trial["objective"])
        one = scenario.replace(run={"eval_every": 20})
        trace = simulate(one, plan, make_learner(one), algorithm=trial["algorithm"], horizon=400)
        mean = sum(each.accuracy for each in trace.metrics) / len(trace.metrics)
        assert trial["accuracy"] == pytest.approx(mean)
        accuracies.append(mean)
    ahead = "async" if accuracies[1] - accuracies[0] >= WORTH else "sync"
    advice = found["advice"]
    assert (advice["algorithm"], advice["decided_by"]) == (ahead, "trial")
    assert f"Fly FedEx-{ahead.capitalize()} on the {advice['objective']} plan" in advice["sentence"]
    shown = run("bound", "unequal.toml").out
    last = [line.strip() for line in shown.splitlines()[-2:]]
    assert last == [advice["sentence"], advice["head_start_sentence"]]
    for trial, accuracy in zip(found["trials"], accuracies, strict=True):
        row = f" {trial['algorithm']} {trial['objective']} "
        assert f"{accuracy:.1%}" in next(line for line in shown.splitlines() if row in line)


def test_what_cannot_be_tried_is_decided_by_stability(run: Run) -> None:
    """A slot of 5 s: tours of up to 79 slots, of which 400 slots would show too few."""
    unequal(slot=5.0, run={"horizon": 1000}).save("long.toml")
    found = document(run("bound", "long.toml", "--json"))
    assert found["trials"] == []
    stable = {row["algorithm"]: row["stable_rate"] for row in found["forecasts"]}
    assert found["learning_rate"] > stable["async"]
    assert (found["advice"]["algorithm"], found["advice"]["decided_by"]) == ("sync", "stability")
    assert found["advice"]["sentence"].endswith("This was not tried: simulate both.")


def test_async_that_diverges_is_not_advised(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    fly = bound._flown

    def diverge(scenario: Scenario, plan: Plan, algorithm: Algorithm, *others: Any) -> Trial:
        if algorithm == "async":
            return Trial("async", "sws", 400, None)
        return fly(scenario, plan, algorithm, *others)

    monkeypatch.setattr(bound, "_flown", diverge)
    unequal().save("unequal.toml")
    shown = run("bound", "unequal.toml").out
    assert "diverged" in next(line for line in shown.splitlines() if " async sws " in line)
    assert shown.splitlines()[-2].startswith(" Fly FedEx-Sync on the ")


def test_tours_of_one_length_are_not_tried(run: Run) -> None:
    found = document(run("bound", write_scenario(), "--json"))
    assert found["trials"] == []
    assert (found["advice"]["algorithm"], found["advice"]["decided_by"]) == ("sync", "tours")


@pytest.mark.parametrize("equal", [True, False])
def test_a_head_start_was_tried(run: Run, equal: bool) -> None:
    """What is advised, without and with one; also where both algorithms are the same."""
    scenario = FOUR if equal else unequal()
    scenario.save("mine.toml")
    found = document(run("bound", "mine.toml", "--json"))
    advice, pair = found["advice"], found["head_start_trials"]
    assert [trial["head_start"] for trial in pair] == [0.0, DEFAULT_HEAD_START]
    accuracies = []
    for trial in pair:
        assert (trial["algorithm"], trial["objective"]) == (
            advice["algorithm"],
            advice["objective"],
        )
        plan = make_plan(scenario, objective=trial["objective"])
        one = scenario.replace(run={"eval_every": 20, "head_start": trial["head_start"]})
        trace = simulate(one, plan, make_learner(one), algorithm=trial["algorithm"], horizon=400)
        accuracies.append(sum(each.accuracy for each in trace.metrics) / len(trace.metrics))
        assert trial["accuracy"] == pytest.approx(accuracies[-1])
        assert f"{accuracies[-1]:.1%}" in advice["head_start_sentence"]
    ahead = accuracies[1] - accuracies[0] >= WORTH
    assert advice["head_start"] == (DEFAULT_HEAD_START if ahead else 0.0)
    assert advice["head_start_sentence"].startswith("Fly it with head_start = 0.5") == ahead


@pytest.mark.slow
def test_a_scenario_with_a_head_start(run: Run) -> None:
    """Sync by Theorem 3, Async by Theorem 2 with it; stability and the trials with it as well."""
    scenario = unequal(run={"head_start": 0.25})
    scenario.save("mine.toml")
    found = document(run("bound", "mine.toml", "--json", "--horizon", "500"))
    assert found["head_start"] == 0.25
    assert [trial["head_start"] for trial in found["trials"]] == [0.25, 0.25]
    assert [trial["head_start"] for trial in found["head_start_trials"]] == [0.25, 0.0]
    measured = found["constants"]
    values = {
        key: each["value"] if isinstance(each, dict) else each for key, each in measured.items()
    }
    constants = Constants(**values)
    for row in found["forecasts"]:
        tours = RoundTrips(tuple(row["tours"]["clients"]), tuple(row["tours"]["slots"]))
        theorem = theorem3 if row["algorithm"] == "sync" else theorem2
        right = theorem(constants, row["rate"], tours, 500, 0.25)
        assert row["bound"]["total"] == pytest.approx(right.total)
        stable = stable_rate(row["algorithm"], tours, constants.smoothness, 0.25)
        assert row["stable_rate"] == pytest.approx(stable)
    shown = run("bound", "mine.toml").out
    assert "by Theorem 3 for sync, by Theorem 2 for async" in shown
    assert "head_start = 0.25; Theorem 2 holds with it, but does not show what it gains" in shown
    assert " zeta " in shown


@pytest.mark.slow
def test_a_scenario_that_does_not_say_has_one(run: Run) -> None:
    """The other one of the pair is without; what is advised can be written into the scenario."""
    unequal(run={"head_start": None}).save("mine.toml")
    text = Path("mine.toml").read_text()
    Path("mine.toml").write_text(text.replace("head_start = 0.5\n", ""))
    found = document(run("bound", "mine.toml", "--json"))
    assert found["head_start"] == DEFAULT_HEAD_START == 0.5
    gammas = [trial["head_start"] for trial in found["head_start_trials"]]
    assert gammas == [0.5, 0.0]
    accuracies = [trial["accuracy"] for trial in found["head_start_trials"]]
    advice = found["advice"]
    assert advice["head_start"] == (0.0 if accuracies[1] - accuracies[0] >= WORTH else 0.5)
    shown = run("bound", "mine.toml").out.splitlines()
    (caution,) = [line for line in shown if "learning.learning_rate" in line]
    assert "up to which Theorem 3 holds" in caution
    paper = document(run("bound", "mine.toml", "--head-start", "0", "--json"))
    assert paper["head_start"] == 0
    assert [trial["head_start"] for trial in paper["head_start_trials"]] == [0.0, 0.5]


@pytest.mark.slow
def test_the_option_is_the_scenario_s_setting(run: Run) -> None:
    unequal().save("without.toml")
    unequal(run={"head_start": 0.25}).save("with.toml")
    option = document(run("bound", "without.toml", "--head-start", "0.25", "--json"))
    assert option == document(run("bound", "with.toml", "--json"))
    assert_refused(run("bound", "with.toml", "--head-start", "2"), "run.head_start", "0 and 1")


@pytest.mark.slow
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
@pytest.mark.slow
def test_other_terminals(run: Run, columns: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert run("bound", write_scenario()).code == 0
