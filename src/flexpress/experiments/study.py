"""All runs of the chosen figures: which there are, who shares them, and on which plans."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import product

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

Tell = Callable[[str], None]

Means = tuple[int, int, float, float | None]
"""Network, and how many transporters of which speed and budget."""

Plans = dict[Objective, Plan]


@dataclass(frozen=True, eq=False)
class Study:
    """Runs by their key, and the key of every case; cases that no plan can serve are missing."""

    scale: Scale
    networks: tuple[int, ...]
    seeds: tuple[int, ...]
    runs: dict[str, Run]
    keys: dict[Case, str]
    plans: dict[tuple[Setting, int], Plan]
    too_little: set[Means] = field(default_factory=set)  # to be served, whatever the objective


def make_study(
    figures: Iterable[Figure],
    scale: Scale,
    *,
    networks: int = 1,
    seeds: int | None = None,
    tell: Tell = lambda note: None,
) -> Study:
    """Plans are made once for each network and fleet; lines of several figures share their runs.

    `tell` hears of downloads, of compilation, and of cases that no plan can serve.
    """
    settings = list(dict.fromkeys(line.setting for figure in figures for line in figure.lines))
    every = tuple(range(networks))
    chosen = tuple(range(FIRST_SEED, FIRST_SEED + (scale.seeds if seeds is None else seeds)))
    for setting in {setting.dataset: setting for setting in settings}.values():
        load_dataset(setting.scenario(scale, 0, FIRST_SEED).learning, tell)
    study = Study(scale, every, chosen, {}, {}, {})
    plans = make_plans(settings, scale, every, tell)
    for network in every:
        for setting in settings:
            add(study, setting, network, plans[means_of(setting, network)], tell)
    return study


def make_plans(
    settings: Iterable[Setting], scale: Scale, networks: Iterable[int], tell: Tell
) -> dict[Means, Plans | InfeasibleError]:
    """For each fleet the plan of every objective; or why it can serve no plan.

    Fleets are planned side by side, as the compiled search lets other threads run.
    """
    fleets: dict[Means, dict[Objective, Scenario]] = {}
    for network, setting in product(networks, settings):
        scenarios = fleets.setdefault(means_of(setting, network), {})
        scenarios.setdefault(setting.objective, setting.scenario(scale, network, FIRST_SEED))
    example = next(iter(next(iter(fleets.values())).values()))
    load(Problem.of(example), tell)
    with ThreadPoolExecutor(num_cores()) as pool:
        return dict(zip(fleets, pool.map(plan_all, fleets.values()), strict=True))


def plan_all(scenarios: Mapping[Objective, Scenario]) -> Plans | InfeasibleError:
    """Neither the data nor the clock matter to a plan."""
    try:
        return {
            objective: make_plan(scenario, objective=objective, seed=0)
            for objective, scenario in scenarios.items()
        }
    except InfeasibleError as error:
        return error


def add(
    study: Study, setting: Setting, network: int, plans: Plans | InfeasibleError, tell: Tell
) -> None:
    means = means_of(setting, network)
    if isinstance(plans, InfeasibleError):
        if means not in study.too_little:
            tell(f"network {network}: {plans}")
        study.too_little.add(means)
        return
    plan = study.plans[setting, network] = plans[setting.objective]
    for seed in study.seeds:
        run = Run(setting, network, seed, setting.scenario(study.scale, network, seed), plan)
        study.keys[setting, network, seed] = run.key
        study.runs.setdefault(run.key, run)


def means_of(setting: Setting, network: int) -> Means:
    return network, setting.transporters, setting.speed, setting.budget
