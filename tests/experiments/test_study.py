"""Which runs there are, who shares them, and on which plans."""

from __future__ import annotations

from dataclasses import replace

import made_results
import pytest

from flexpress.errors import InfeasibleError
from flexpress.experiments import study as module
from flexpress.experiments.figures import ASYNC, FIGURES, SYNC, Figure
from flexpress.experiments.setting import QUICK
from flexpress.experiments.study import make_study
from flexpress.planning import Plan
from flexpress.scenario import Scenario


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> list[Scenario]:
    """The scenarios that plans are made for; none can be served with 12 kJ."""
    asked: list[Scenario] = []

    def make_plan(scenario: Scenario, objective: str, seed: int) -> Plan:
        asked.append(scenario)
        assert (objective, seed) == (scenario.plan.objective, 0)
        if scenario.fleet.budgets and scenario.fleet.budgets[0] == 12e3:
            raise InfeasibleError("12 kJ: too little")
        return made_results.plan(float(len(asked)))

    monkeypatch.setattr(module, "make_plan", make_plan)
    return asked


def named(*names: str) -> list[Figure]:
    return [figure for figure in FIGURES if figure.name in names]


def test_figures_share_runs_and_plans(planned: list[Scenario]) -> None:
    study = make_study(named("network", "iid-fmnist", "type1-fmnist", "routes-async"), QUICK)
    assert len(planned) == 3  # Min-Max, SWS and Shortest-Total, whoever flies them
    settings = {setting for setting, _, _ in study.keys}
    assert len(settings) == 4 + 4 + 2  # both clocks twice, two more objectives
    assert study.seeds == (1, 2)
    assert len(study.runs) == 2 * len(settings)
    assert set(study.keys.values()) == set(study.runs)


def test_data_sets_share_the_i_i_d_runs_of_their_stand_in(planned: list[Scenario]) -> None:
    study = make_study(named("iid-fmnist", "iid-svhn"), QUICK)
    assert (len(study.keys), len(study.runs)) == (QUICK.seeds * 8, QUICK.seeds * 4)


def test_networks_and_seeds(planned: list[Scenario]) -> None:
    study = make_study(named("network"), QUICK, networks=3, seeds=2)
    assert list(study.keys) == [(ASYNC, network, seed) for network in range(3) for seed in (1, 2)]
    for (_, network, seed), key in study.keys.items():
        run = study.runs[key]
        assert (run.network, run.seed, run.scenario.learning.seed) == (network, seed, seed)
        assert run.plan is study.plans[ASYNC, network]


def test_what_no_plan_can_serve_is_told_and_left_out(planned: list[Scenario]) -> None:
    told: list[str] = []
    study = make_study(named("budget"), QUICK, networks=2, tell=told.append)
    assert told == [f"network {network}: 12 kJ: too little" for network in (0, 1)]
    assert len(planned) == 2 * 3  # not once more for another objective
    assert {setting for setting, _ in study.plans} == {SYNC, ASYNC}
    assert (replace(ASYNC, budget=12e3), 0, 1) not in study.keys
