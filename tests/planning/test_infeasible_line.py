"""What a user reads whose budgets are too small: true, in his units, and as `diagnose` says it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from flexpress import (
    InfeasibleError,
    InputError,
    Scenario,
    diagnose,
    load_plan,
    make_plan,
    save_plan,
)
from flexpress.planning.diagnosis import Remedy, _Remedies
from flexpress.planning.progress import UNWATCHED

JOULES = {"J": 1.0, "kJ": 1e3, "Wh": 3600.0}

TIGHT = Scenario.from_dict(
    {
        "network": {
            "server": [0, 0],
            "clients": [[300, 0], [300, 400], [-300, 0], [-300, -400]],
            "ids": ["east", "S14", "west", "S15"],
        },
        "fleet": {"speeds": [10, 10], "budgets": ["3.5 kJ", "3.5 kJ"]},
        "link": {"transfer_time": 10},
    }
)


def line_of(scenario: Scenario) -> str:
    with pytest.raises(InfeasibleError) as caught:
        make_plan(scenario, solver="exact")
    return str(caught.value)


def larger_budgets(scenario: Scenario) -> Remedy:
    """Of `diagnose`, without the rest, which takes longer."""
    return _Remedies(scenario, 0, UNWATCHED).budgets()


def more_transporters(scenario: Scenario) -> Remedy:
    return _Remedies(scenario, 0, UNWATCHED).transporters()


def fits(scenario: Scenario) -> bool:
    try:
        return make_plan(scenario, objective="total", solver="exact").feasible
    except InfeasibleError:
        return False


def joules(text: str) -> float:
    number, unit = text.split()
    return float(number.replace(",", "")) * JOULES[unit]


def budgets_of(scenario: Scenario) -> tuple[float, ...]:
    assert scenario.fleet.budgets is not None
    return scenario.fleet.budgets


def as_advised(scenario: Scenario, line: str) -> Scenario:
    """With the budgets that the line says are enough."""
    if found := re.search(r"raise the budgets by (\d+) %", line):
        budgets = [budget * (1 + int(found[1]) / 100) for budget in budgets_of(scenario)]
    else:
        found = re.search(r"raise (?:the budgets|its budget) to ([\d.,]+ \w+)", line)
        assert found, line
        budgets = [joules(found[1])] * scenario.num_transporters
    return scenario.replace(fleet={"budgets": budgets})


def with_fleet(scenario: Scenario, text: str) -> Scenario:
    """As `diagnose` says: "4 instead of 2, the new ones like transporter 1"."""
    more = int(text.split()[0]) - scenario.num_transporters
    like = re.search(r"like transporter (\d+)", text)
    own = list(range(scenario.num_transporters))
    added = [int(like[1]) - 1] * more if like else (own * more)[:more]
    fleet = [*own, *added]
    return scenario.replace(
        fleet={
            "speeds": [scenario.speeds[k] for k in fleet],
            "budgets": [budgets_of(scenario)[k] for k in fleet],
        }
    )


def random_scenarios(seeds: range) -> list[Scenario]:
    """Two to five clients, one to three transporters, budgets that are too small."""
    found = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        fleet = int(rng.integers(1, 3, endpoint=True))
        equal = seed % 2 == 0
        speeds = [10.0] * fleet if equal else rng.uniform(5, 15, fleet).tolist()
        unit = ("J", "kJ", "Wh")[seed % 3]
        wanted = rng.uniform(2500, 6500, 1 if equal else fleet) / JOULES[unit]
        budgets = [f"{value:.4g} {unit}" for value in np.resize(wanted, fleet).tolist()]
        clients = rng.uniform(-600, 600, (int(rng.integers(2, 5, endpoint=True)), 2)).tolist()
        found.append(
            Scenario.from_dict(
                {
                    "network": {"server": [0, 0], "clients": clients},
                    "fleet": {"speeds": speeds, "budgets": budgets},
                    "link": {"transfer_time": float(rng.uniform(0, 60))},
                }
            )
        )
    return [scenario for scenario in found if not fits(scenario)]


@pytest.mark.parametrize(
    "seeds", [range(16), pytest.param(range(16, 200), marks=pytest.mark.slow)], ids=str
)
def test_what_the_line_advises_is_enough_and_diagnose_says_the_same(seeds: range) -> None:
    cases, out_of_reach = random_scenarios(seeds), 0
    assert len(cases) > len(seeds) / 3
    for scenario in cases:
        line, more = line_of(scenario), more_transporters(scenario)
        assert "\n" not in line
        assert fits(as_advised(scenario, line)), line
        assert ("add transporters" in line) == (more.factor is not None), (line, more)
        if more.factor is None:
            assert "is out of reach of every transporter" in line
            out_of_reach += 1
        else:
            assert fits(with_fleet(scenario, more.text)), (line, more)
        assert fits(as_diagnosed(scenario, larger_budgets(scenario).text)), line
        if line.endswith((" each", " each, or add transporters")):
            enough = larger_budgets(scenario).text.split(" instead of ")[0]
            assert f"raise the budgets to {enough} each" in line
    assert 0 < out_of_reach < len(cases)


def as_diagnosed(scenario: Scenario, text: str) -> Scenario:
    """With the budgets of "4 kJ instead of 3 kJ, the others in proportion"."""
    enough, now = re.fullmatch(
        r"(.+) instead of (.+?)(?:, the others in proportion)?", text
    ).groups()  # type: ignore[union-attr]  # must match
    factor = joules(enough) / joules(now)
    return scenario.replace(fleet={"budgets": [budget * factor for budget in budgets_of(scenario)]})


def test_it_reads_well() -> None:
    """1200 m at 10 m/s and 30 W, and 2 x 10 s at 20.1 W."""
    assert line_of(TIGHT) == (
        "no plan fits the budgets: proven by trying all; even with the best-balanced load, "
        "transporter 1 needs 4.002 kJ but has 3.5 kJ; raise the budgets to 4.002 kJ each, "
        "or add transporters"
    )


def test_whose_budget_and_no_transporters_where_they_cannot_help() -> None:
    """S14 is 500 m away: 3000 J there and back, and 201 J for the transfer."""
    scenario = TIGHT.replace(fleet={"budgets": ["2 kJ", "3 kJ"]})
    line = line_of(scenario)
    assert line == (
        "no plan fits the budgets: client S14 is out of reach of every transporter: for a flight "
        "to it alone transporter 2, which comes nearest, needs 3.201 kJ but has 3 kJ; "
        "raise the budgets by 93 %"
    )
    assert fits(as_advised(scenario, line))
    assert not fits(as_advised(scenario, line.replace("93", "91")))
    far = more_transporters(scenario)
    assert far.factor is None
    assert far.text == "more do not help: none can fly straight to client S14 and back"


@pytest.mark.parametrize(
    ("budget", "shown"),
    [
        ("0.9 Wh", "needs 1.112 Wh but has 0.9 Wh; raise the budgets to 1.112 Wh each"),
        (3500, "needs 4,002 J but has 3,500 J; raise the budgets to 4,002 J each"),
        (np.float64(3500.5), "needs 4,002 J but has 3,500.5 J"),
        ("0.00095 kWh", "needs 0.001112 kWh but has 0.00095 kWh"),
    ],
)
def test_in_the_unit_that_was_given(budget: object, shown: str) -> None:
    scenario = TIGHT.replace(fleet={"budgets": [budget, budget]})
    changed = scenario.replace(name="other", run={"horizon": 5})  # which keeps the unit
    assert shown in line_of(changed)
    unit = shown.split(" each")[0].split()[-1]
    assert f" {unit} instead of " in larger_budgets(changed).text


def test_no_advice_on_a_model_whose_size_is_not_given() -> None:
    assert {remedy.change for remedy in diagnose(TIGHT)} == {
        "budgets",
        "speeds",
        "transporters",
        "transfer time",
    }
    slow = TIGHT.replace(link={"transfer_time": "0.5 min"}, fleet={"budgets": ["4 kJ", "4 kJ"]})
    found = _Remedies(slow, 0, UNWATCHED).model_size()
    assert found.change == "transfer time"
    enough = re.fullmatch(r"([\d.]+) min instead of 0\.5 min", found.text)
    assert enough, found.text
    assert fits(slow.replace(link={"transfer_time": f"{enough[1]} min"}))


def test_more_than_eight_transporters_if_need_be() -> None:
    """Twelve clients in a ring, each of which takes nearly a whole budget."""
    angles = np.linspace(0, 2 * np.pi, 12, endpoint=False)
    ring = [[500 * float(np.cos(a)), 500 * float(np.sin(a))] for a in angles]
    scenario = TIGHT.replace(
        network={"clients": ring, "ids": None}, fleet={"budgets": [3202, 3202]}
    )
    found = more_transporters(scenario)
    assert found.text == "12 instead of 2"


def test_a_fleet_of_which_only_one_reaches_all() -> None:
    """The strongest battery is in the thirstiest drone: what is added must help."""
    scenario = TIGHT.replace(fleet={"speeds": [10, 5], "budgets": ["3.3 kJ", "4 kJ"]})
    found = more_transporters(scenario)
    assert found.text.endswith("the new ones like transporter 1")
    assert fits(with_fleet(scenario, found.text))


def test_a_plan_that_overdraws_a_budget_is_refused_in_its_unit(tmp_path: Path) -> None:
    large = TIGHT.replace(fleet={"budgets": ["2 Wh", "2 Wh"]})
    save_plan(make_plan(large, solver="exact"), tmp_path / "plan.json")
    small = large.replace(fleet={"budgets": ["1.1 Wh", "1.1 Wh"]})
    with pytest.raises(InputError, match=r"transporter 1 needs 1\.112 Wh but has 1\.1 Wh; raise"):
        load_plan(tmp_path / "plan.json", small)
