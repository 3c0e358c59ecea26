"""All runs of the chosen figures and their plans. Figures share equal runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import product

from flexpress.callbacks import Tell, ignore_note
from flexpress.errors import InfeasibleError
from flexpress.experiments.figures import Figure
from flexpress.experiments.run import Run
from flexpress.experiments.setting import FIRST_SEED, Scale, Setting
from flexpress.learning.datasets import load_dataset
from flexpress.planning import Plan, Problem, make_plan
from flexpress.planning.search import load
from flexpress.scenario import Objective, Scenario
from flexpress.workers.processes import num_cores

Case = tuple[Setting, int, int]
"""Setting, network, seed."""

_Fleet = tuple[int, int, float, float | None]
"""Network, number of transporters, their speed and budget."""

_Plans = dict[Objective, Plan]


@dataclass(frozen=True, eq=False)
class Study:
    """Runs by their key, and the key of every case. Cases without a feasible plan are missing."""

    scale: Scale
    networks: tuple[int, ...]
    seeds: tuple[int, ...]
    runs: dict[str, Run]
    keys: dict[Case, str]
    plans: dict[tuple[Setting, int], Plan]
    infeasible: set[_Fleet] = field(default_factory=set)  # no plan, whatever the objective


def make_study(
    figures: Iterable[Figure],
    scale: Scale,
    *,
    networks: int = 1,
    seeds: int | None = None,
    tell: Tell = ignore_note,
) -> Study:
    """Plan once for each network and fleet. Lines of several figures share their runs.

    `tell` receives notes about downloads, compilation, and cases without a feasible plan.
    """
    settings = list(dict.fromkeys(line.setting for figure in figures for line in figure.lines))
    every = tuple(range(networks))
    chosen = tuple(range(FIRST_SEED, FIRST_SEED + (scale.seeds if seeds is None else seeds)))
    for setting in {setting.dataset: setting for setting in settings}.values():
        load_dataset(setting.scenario(scale, 0, FIRST_SEED).learning, tell)
    study = Study(scale, every, chosen, {}, {}, {})
    plans = _make_plans(settings, scale, every, tell)
    for network in every:
        for setting in settings:
            _add(study, setting, network, plans[_fleet_of(setting, network)], tell)
    return study


def _make_plans(
    settings: Iterable[Setting], scale: Scale, networks: Iterable[int], tell: Tell
) -> dict[_Fleet, _Plans | InfeasibleError]:
    """For each fleet the plans of its objectives, or the reason why there are none.

    Threads plan several fleets at a time: the compiled search releases the interpreter.
    """
    fleets: dict[_Fleet, dict[Objective, Scenario]] = {}
    for network, setting in product(networks, settings):
        scenarios = fleets.setdefault(_fleet_of(setting, network), {})
        scenarios.setdefault(setting.objective, setting.scenario(scale, network, FIRST_SEED))
    example = next(iter(next(iter(fleets.values())).values()))
    load(Problem.of(example), tell)
    with ThreadPoolExecutor(num_cores()) as pool:
        return dict(zip(fleets, pool.map(_plan_all, fleets.values()), strict=True))


def _plan_all(scenarios: Mapping[Objective, Scenario]) -> _Plans | InfeasibleError:
    """Plans do not depend on the data or the clock."""
    try:
        return {
            objective: make_plan(scenario, objective=objective, seed=0)
            for objective, scenario in scenarios.items()
        }
    except InfeasibleError as error:
        return error


def _add(
    study: Study, setting: Setting, network: int, plans: _Plans | InfeasibleError, tell: Tell
) -> None:
    fleet = _fleet_of(setting, network)
    if isinstance(plans, InfeasibleError):
        if fleet not in study.infeasible:
            tell(f"network {network}: {plans}")
        study.infeasible.add(fleet)
        return
    plan = study.plans[setting, network] = plans[setting.objective]
    for seed in study.seeds:
        run = Run(setting, network, seed, setting.scenario(study.scale, network, seed), plan)
        study.keys[setting, network, seed] = run.key
        study.runs.setdefault(run.key, run)


def _fleet_of(setting: Setting, network: int) -> _Fleet:
    return network, setting.transporters, setting.speed, setting.budget
