"""All runs of the chosen figures: which there are, who shares them, and on which plans."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from flexpress.errors import InfeasibleError
from flexpress.experiments.figures import Figure
from flexpress.experiments.run import Run
from flexpress.experiments.setting import FIRST_SEED, Scale, Setting
from flexpress.learning.datasets import load_dataset
from flexpress.planning import Plan, make_plan

Case = tuple[Setting, int, int]
"""Setting, network, seed."""

Tell = Callable[[str], None]

Means = tuple[int, int, float, float | None]
"""Network, and how many transporters of which speed and budget."""


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

    `tell` hears of downloads, and of cases that no plan can serve.
    """
    settings = list(dict.fromkeys(line.setting for figure in figures for line in figure.lines))
    every = tuple(range(networks))
    chosen = tuple(range(FIRST_SEED, FIRST_SEED + (scale.seeds if seeds is None else seeds)))
    for setting in {setting.dataset: setting for setting in settings}.values():
        load_dataset(setting.scenario(scale, 0, FIRST_SEED).learning, tell)
    study = Study(scale, every, chosen, {}, {}, {})
    for network in every:
        for setting in settings:
            add(study, setting, network, tell)
    return study


def add(study: Study, setting: Setting, network: int, tell: Tell) -> None:
    means = network, setting.transporters, setting.speed, setting.budget
    if means in study.too_little:
        return
    try:
        plan = plan_for(study, setting, network)
    except InfeasibleError as error:
        tell(f"network {network}: {error}")
        study.too_little.add(means)
        return
    study.plans[setting, network] = plan
    for seed in study.seeds:
        run = Run(setting, network, seed, setting.scenario(study.scale, network, seed), plan)
        study.keys[setting, network, seed] = run.key
        study.runs.setdefault(run.key, run)


def plan_for(study: Study, setting: Setting, network: int) -> Plan:
    """The data do not matter to it, nor does the clock."""
    for (other, place), plan in study.plans.items():
        if place == network and fleet(other) == fleet(setting):
            return plan
    scenario = setting.scenario(study.scale, network, FIRST_SEED)
    return make_plan(scenario, objective=setting.objective, seed=0)


def fleet(setting: Setting) -> tuple[object, ...]:
    return setting.objective, setting.transporters, setting.speed, setting.budget
