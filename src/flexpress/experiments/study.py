"""All runs of the chosen settings and their plans. Equal runs are shared."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

from flexpress.callbacks import Tell, ignore_note
from flexpress.experiments.plans import Planned, make_plans, plan_key
from flexpress.experiments.protocol import Scale, seeds_of
from flexpress.experiments.run import Run
from flexpress.experiments.setting import USUAL_BUDGET, Setting
from flexpress.learning.datasets import load_dataset
from flexpress.planning import Plan
from flexpress.scenario import Scenario

Cell = tuple[int, int]
"""Network, seed."""

Case = tuple[Setting, int, int]
"""Setting, network, seed."""


@dataclass(frozen=True, eq=False)
class Study:
    """Runs by their key, and the key of every case. Cases without a feasible plan are missing."""

    scale: Scale
    networks: tuple[int, ...]
    seeds: int  # per network
    runs: dict[str, Run]
    keys: dict[Case, str]
    plans: dict[tuple[Setting, int], Plan]


def make_study(
    settings: Iterable[Setting],
    scale: Scale,
    *,
    networks: int | None = None,
    seeds: int | None = None,
    plans: Path | None = None,
    jobs: int = 1,
    tell: Tell = ignore_note,
) -> Study:
    """Plan, `jobs` at a time. By default as many networks and seeds as the scale has.

    Plans are kept in the folder `plans`. `tell` receives notes about downloads, compilation, and
    settings without a feasible plan.
    """
    chosen = list(dict.fromkeys(settings))
    every = tuple(range(scale.networks if networks is None else networks))
    for setting in {setting.dataset: setting for setting in chosen}.values():
        load_dataset(setting.scenario(scale, 0, 1).learning, tell)
    study = Study(scale, every, scale.seeds if seeds is None else seeds, {}, {}, {})
    planned = _Planned.of(list(product(chosen, every)), scale, plans, jobs, tell)
    _tell_infeasible(planned, tell)
    for network, setting in product(every, chosen):
        plan = planned.plan(setting, network)
        if plan is not None:
            _add(study, setting, network, plan)
    return study


@dataclass(frozen=True, eq=False)
class _Planned:
    """What was planned for each setting on each network."""

    scenarios: dict[tuple[Setting, int], Scenario]
    found: dict[tuple[Setting, int], Planned]

    @classmethod
    def of(
        cls,
        cases: Iterable[tuple[Setting, int]],
        scale: Scale,
        folder: Path | None,
        jobs: int,
        tell: Tell,
    ) -> _Planned:
        """Settings that differ in their learning alone share a plan."""
        scenarios = {case: case[0].scenario(scale, case[1], 1) for case in cases}
        keys = {case: plan_key(scenario) for case, scenario in scenarios.items()}
        once = {keys[case]: scenario for case, scenario in scenarios.items()}
        made = make_plans(once, folder, jobs, tell)
        return cls(scenarios, {case: made[key] for case, key in keys.items()})

    def plan(self, setting: Setting, network: int) -> Plan | None:
        """A plan for the paper's budget that keeps a lower one is flown with both.

        Solvers start anew for each budget and may end elsewhere, though nothing has to change.
        """
        own = self.found[setting, network]
        usual = replace(setting, budget=USUAL_BUDGET)
        higher = self.found.get((usual, network))
        if setting.budget and setting.budget < USUAL_BUDGET and isinstance(higher, Plan):
            remade = _remade(self.scenarios[setting, network], higher)
            if remade.feasible:
                return remade
        return own if isinstance(own, Plan) else None


def _tell_infeasible(planned: _Planned, tell: Tell) -> None:
    """Once for each network and fleet, whatever the objective and the reading."""
    told = set()
    for (setting, network), found in planned.found.items():
        fleet = network, setting.transporters, setting.speed, setting.budget, setting.remote
        if isinstance(found, str) and fleet not in told:
            tell(f"network {network}: {found}")
            told.add(fleet)


def _add(study: Study, setting: Setting, network: int, plan: Plan) -> None:
    study.plans[setting, network] = plan
    for seed in seeds_of(network, study.seeds):
        run = _run_of(setting, network, seed, setting.scenario(study.scale, network, seed), plan)
        study.keys[setting, network, seed] = run.key
        study.runs.setdefault(run.key, run)


def _remade(scenario: Scenario, plan: Plan) -> Plan:
    """The same tours for another scenario."""
    return Plan.of(
        scenario,
        plan.objective,
        plan.nodes(scenario),
        solver=plan.solver,
        seed=plan.seed,
        seconds=plan.seconds,
        round_trips=plan.round_trips,
    )


def _run_of(setting: Setting, network: int, seed: int, scenario: Scenario, plan: Plan) -> Run:
    """Budgets and objectives have done their work: equal tours give equal runs."""
    flown = scenario.replace(fleet={"budgets": None}, plan=None)
    return Run(setting, network, seed, flown, _remade(flown, plan))
