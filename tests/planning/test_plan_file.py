"""Plans as files: the same bits come back, and whatever is wrong is told in one line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flexpress import InputError, Plan, Scenario, load_plan, save_plan
from flexpress.planning import plan_to_json

VALLEY = Scenario.preset("valley")
PLAN = Plan.of(
    VALLEY,
    "sws",
    [[6, 8, 10, 9, 7], [12, 5, 4, 3], [2, 11, 1]],
    solver="carp",
    seed=3,
    seconds=0.1 + 0.2,
)

PlanData = dict[str, Any]  # as json.loads gives it


def write(tmp_path: Path, data: object) -> Path:
    path = tmp_path / "plan.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    return path


def complaint(path: Path, scenario: Scenario = VALLEY) -> str:
    """What loading the file says: one line that begins with the file's name."""
    with pytest.raises(InputError) as caught:
        load_plan(path, scenario)
    text = str(caught.value)
    assert text.startswith(f"{path}: ")
    assert text.isprintable()
    return text.removeprefix(f"{path}: ")


def test_round_trip_bit_for_bit(tmp_path: Path) -> None:
    save_plan(PLAN, tmp_path / "plan.json")
    loaded = load_plan(tmp_path / "plan.json", VALLEY)
    assert loaded == PLAN
    assert plan_to_json(loaded) == plan_to_json(PLAN)


def test_the_keys() -> None:
    data = json.loads(plan_to_json(PLAN))
    assert list(data) == [
        "objective",
        "round_trips",
        "cost",
        "feasible",
        "lower_bound",
        "gap",
        "bound_method",
        "solver",
        "seed",
        "seconds",
        "transporters",
    ]
    needed = {"clients", "length", "round_trip", "round_trip_slots", "energy", "budget"}
    assert needed <= set(data["transporters"][0])
    assert data["transporters"][0]["clients"] == ["island", "gorge", "spring", "falls", "bend"]
    assert data["transporters"][0]["budget"] == 15000.0


def test_an_unlimited_budget_is_null_and_comes_back(tmp_path: Path) -> None:
    free = VALLEY.replace(fleet={"budgets": None})
    plan = Plan.of(free, "total", [list(range(1, 13)), [], []], solver="exact", seed=0, seconds=1.0)
    assert json.loads(plan_to_json(plan))["transporters"][0]["budget"] is None
    save_plan(plan, tmp_path / "plan.json")
    assert load_plan(tmp_path / "plan.json", free) == plan


def test_figures_rounded_by_hand_are_computed_anew(tmp_path: Path) -> None:
    data = json.loads(plan_to_json(PLAN))
    data["transporters"][0]["round_trip"] = round(PLAN.transporters[0].round_trip, 4)
    assert load_plan(write(tmp_path, data), VALLEY) == PLAN


def edit(change: Callable[[PlanData], object]) -> PlanData:
    data: PlanData = json.loads(plan_to_json(PLAN))
    change(data)
    return data


def swap_in(k: int, client: object) -> Callable[[PlanData], None]:
    def change(data: PlanData) -> None:
        data["transporters"][k]["clients"][0] = client

    return change


EDITS: dict[str, tuple[Callable[[PlanData], object], str]] = {
    "wrong type": (lambda d: d.update(cost="cheap"), "not a plan: cost: "),
    "number as text": (lambda d: d.update(cost="1.0"), "not a plan: cost: "),
    "client of no kind": (swap_in(0, 1.5), "not a plan: transporters.0.clients.0: "),
    "unknown objective": (lambda d: d.update(objective="fast"), "not a plan: objective: "),
    "missing key": (lambda d: d.pop("seed"), "not a plan: seed: "),
    "missing key of a tour": (
        lambda d: d["transporters"][1].pop("length"),
        "not a plan: transporters.1.length: ",
    ),
    "no tours": (lambda d: d.update(transporters=None), "not a plan: transporters: "),
    "unknown client": (swap_in(0, "harbour"), "client harbour not in the scenario; plan"),
    "number for a name": (swap_in(0, 6), "client 6 not in the scenario; plan"),
    "repeated client": (swap_in(0, "gorge"), "client gorge visited more than once; plan"),
    "repeated in another tour": (swap_in(1, "mouth"), "client mouth visited more than once; plan"),
    "missing client": (
        lambda d: d["transporters"][2]["clients"].pop(),
        "client mouth not visited; plan",
    ),
    "too few transporters": (
        lambda d: d["transporters"].pop(),
        "2 transporters in the plan, 3 in the scenario; plan it anew",
    ),
    "too many transporters": (
        lambda d: d["transporters"].append(d["transporters"][0]),
        "4 transporters in the plan, 3 in the scenario; plan it anew",
    ),
    "edited cost": (lambda d: d.update(cost=1.0), "cost is 1.0 in the plan and 1590416."),
    "cost that is no number": (lambda d: d.update(cost=float("nan")), "cost is nan in the plan"),
    "edited length": (
        lambda d: d["transporters"][1].update(length=5.0),
        "transporter 2: length is 5.0 in the plan and 2821.",
    ),
    "edited budget": (
        lambda d: d["transporters"][0].update(budget=None),
        "transporter 1: budget is None in the plan and 15000.0 for this scenario",
    ),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edited_plan(name: str, tmp_path: Path) -> None:
    change, message = EDITS[name]
    assert complaint(write(tmp_path, edit(change))).startswith(message)


@pytest.mark.parametrize(
    "text", ["", "{", "no JSON", "[]", "3", "null", '{"objective": "sws"', "{}", "[" * 5000]
)
def test_text_that_is_no_plan(text: str, tmp_path: Path) -> None:
    assert complaint(write(tmp_path, text)).startswith("not a plan: ")


def test_another_order_with_the_old_figures(tmp_path: Path) -> None:
    data = edit(lambda d: d["transporters"][0]["clients"].reverse())
    loaded = load_plan(write(tmp_path, data), VALLEY)  # the way back is as long
    assert loaded.transporters[0].clients == PLAN.transporters[0].clients[::-1]
    data["transporters"][1]["clients"].sort()
    assert complaint(write(tmp_path, data)).startswith("cost is 1590416.")


def test_over_budget(tmp_path: Path) -> None:
    weaker = VALLEY.replace(fleet={"budgets": ["15 kJ", "12 kJ", "6 kJ"]})
    save_plan(PLAN, tmp_path / "plan.json")
    text = complaint(tmp_path / "plan.json", weaker)
    assert text.startswith("transporter 3 needs 6.084 kJ but has 6 kJ; raise")


def test_a_plan_of_another_scenario(tmp_path: Path) -> None:
    moved = VALLEY.replace(network={"server": [500.0, 300.0]})
    save_plan(PLAN, tmp_path / "plan.json")
    assert "belongs to another scenario or was edited" in complaint(tmp_path / "plan.json", moved)


def test_no_such_file(tmp_path: Path) -> None:
    assert complaint(tmp_path / "plan.json").startswith("no such file")


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "nowhere" / "plan.json"
    with pytest.raises(InputError, match="cannot be written: No such file or directory"):
        save_plan(PLAN, path)
