"""Which runs there are, who shares them, and on which plans."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from flexpress.errors import InfeasibleError, InputError
from flexpress.experiments import plans as module
from flexpress.experiments.figures import ASYNC, FIGURES, SYNC
from flexpress.experiments.protocol import as_flown, as_paper, protocol
from flexpress.experiments.reproduce import _settings_of
from flexpress.experiments.setting import Setting
from flexpress.experiments.study import make_study
from flexpress.planning import Plan
from flexpress.scenario import Scenario

QUICK = protocol().quick
LOW = 12e3


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> list[Scenario]:
    """The scenarios that plans are made for: client by client in turn, from another one each."""
    asked: list[Scenario] = []

    def make_plan(scenario: Scenario, seed: int) -> Plan:
        assert seed == 0
        asked.append(scenario)
        number, clients = scenario.num_transporters, scenario.num_clients
        turn = {"minmax": 0, "sws": 1, "total": 2}[scenario.plan.objective]
        tours = [
            [1 + (i + turn) % clients for i in range(k, clients, number)] for k in range(number)
        ]
        return Plan.of(
            scenario,
            scenario.plan.objective,
            tours,
            solver=scenario.plan.solver,
            seed=0,
            seconds=0.0,
            round_trips=scenario.plan.round_trips,
        )

    monkeypatch.setattr(module, "make_plan", make_plan)
    return asked


def named(*names: str) -> list[Setting]:
    return _settings_of([figure for figure in FIGURES if figure.name in names])


def test_figures_share_runs_and_plans(planned: list[Scenario]) -> None:
    study = make_study(named("network", "iid-fmnist", "type1-fmnist", "routes-async"), QUICK)
    assert len(planned) == 2 * 2 * 3  # networks, readings; Min-Max, SWS and Shortest-Total
    settings = {setting for setting, _, _ in study.keys}
    assert len(settings) == 2 * (2 + 2 + 2)  # Sync and Async twice, two more objectives
    assert (study.networks, study.seeds) == ((0, 1), 1)
    assert len(study.runs) == 2 * len(settings)
    assert set(study.keys.values()) == set(study.runs)


def test_plans_of_a_reading(planned: list[Scenario]) -> None:
    make_study(named("network"), QUICK, networks=1)
    assert [(each.plan.solver, each.plan.round_trips) for each in planned] == [
        ("carp", "slots"),
        ("search", "seconds"),
    ]


def test_data_sets_share_the_i_i_d_runs_of_their_stand_in(planned: list[Scenario]) -> None:
    study = make_study(named("iid-fmnist", "iid-svhn"), QUICK)
    assert (len(study.keys), len(study.runs)) == (2 * 8, 2 * 4)


def test_networks_and_seeds(planned: list[Scenario]) -> None:
    study = make_study([ASYNC], QUICK, networks=3, seeds=2)
    assert list(study.keys) == [
        (ASYNC, network, 1000 * network + s) for network in range(3) for s in (1, 2)
    ]
    for (_, network, seed), key in study.keys.items():
        run = study.runs[key]
        assert (run.network, run.seed, run.scenario.learning.seed) == (network, seed, seed)
        tours = [tour.clients for tour in study.plans[ASYNC, network].transporters]
        assert [tour.clients for tour in run.plan.transporters] == tours


@pytest.fixture
def tight(planned: list[Scenario], monkeypatch: pytest.MonkeyPatch) -> list[Scenario]:
    """None can be served with 12 kJ."""
    usual = vars(module)["make_plan"]

    def make_plan(scenario: Scenario, seed: int) -> Plan:
        plan: Plan = usual(scenario, seed=seed)
        if scenario.fleet.budgets and scenario.fleet.budgets[0] == LOW:
            raise InfeasibleError("12 kJ: too little")
        return plan

    monkeypatch.setattr(module, "make_plan", make_plan)
    return planned


def test_what_no_plan_can_serve_is_told_and_left_out(tight: list[Scenario]) -> None:
    told: list[str] = []
    study = make_study(named("budget"), QUICK, networks=2, tell=told.append)
    assert told == [f"network {network}: 12 kJ: too little" for network in (0, 1)]
    assert {setting.budget for setting, _ in study.plans} == {15e3}
    assert (replace(ASYNC, budget=LOW), 0, 1) not in study.keys


def budgets(settings: Iterable[Setting], budget: float) -> list[Setting]:
    return [replace(each, budget=budget) for each in settings]


def test_a_plan_that_keeps_the_lower_budget_too_is_flown_with_both(
    planned: list[Scenario], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the runs are one."""
    monkeypatch.setattr("flexpress.experiments.study.USUAL_BUDGET", 1e9)  # all tours keep it
    settings = [*budgets([SYNC, ASYNC], 1e9), *budgets([SYNC, ASYNC], 1e8)]
    study = make_study(settings, QUICK, networks=1)
    assert (len(study.plans), len(study.runs)) == (4, 2)
    low = study.plans[settings[2], 0]
    assert {tour.budget for tour in low.transporters} == {1e8}


def test_a_plan_that_does_not_keep_it_is_made_anew(planned: list[Scenario]) -> None:
    settings = [ASYNC, replace(ASYNC, budget=LOW)]
    study = make_study(settings, QUICK, networks=1)
    plan = study.plans[settings[1], 0]
    assert not plan.feasible  # what was asked for: these tours keep no budget
    assert len(planned) == 2


FREE = replace(ASYNC, budget=None)


def test_plans_are_kept(planned: list[Scenario], tmp_path: Path) -> None:
    """For other seeds and data too, as they do not depend on them."""
    first = make_study([FREE], QUICK, networks=1, plans=tmp_path)
    more = [FREE, replace(FREE, partition="location", dataset="svhn", algorithm="sync")]
    again = make_study(more, QUICK, networks=1, seeds=2, plans=tmp_path)
    assert len(planned) == len(list(tmp_path.iterdir())) == 1
    assert again.plans[FREE, 0] == again.plans[more[1], 0] == first.plans[FREE, 0]


@pytest.mark.parametrize("damage", ["", "{}"])
def test_a_kept_plan_that_was_damaged(damage: str, planned: list[Scenario], tmp_path: Path) -> None:
    make_study([FREE], QUICK, networks=1, plans=tmp_path)
    (file,) = tmp_path.iterdir()
    file.write_text(damage)
    with pytest.raises(InputError, match=str(file)):
        make_study([FREE], QUICK, networks=1, plans=tmp_path)


def test_what_is_no_matter_to_a_run_is_not_in_it(planned: list[Scenario]) -> None:
    study = make_study([ASYNC, replace(ASYNC, reading=as_flown())], QUICK, networks=1)
    for run in study.runs.values():
        assert run.scenario.fleet.budgets is None
        assert len({each.scenario.plan for each in study.runs.values()}) == 1
    assert {run.scenario.run.clock for run in study.runs.values()} == {"slots", "exact"}
    assert as_paper().clock == "slots"


def test_another_rule_of_the_server_is_another_run(planned: list[Scenario]) -> None:
    study = make_study([ASYNC, replace(ASYNC, server_rule="landed")], QUICK, networks=1)
    assert len(study.runs) == 2
