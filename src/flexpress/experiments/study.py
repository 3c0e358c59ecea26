"""All runs of the chosen settings and their plans. Equal runs are shared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import product

from flexpress.callbacks import Tell, ignore_note
from flexpress.errors import InfeasibleError
from flexpress.experiments.protocol import Reading, Scale, as_paper, seeds_of
from flexpress.experiments.run import Run
from flexpress.experiments.setting import Setting
from flexpress.learning.datasets import load_dataset
from flexpress.planning import Plan, Problem, make_plan
from flexpress.planning.search import load
from flexpress.scenario import Objective, Scenario
from flexpress.workers.processes import num_cores

Cell = tuple[int, int]
"""Network, seed."""

Case = tuple[Setting, int, int]
"""Setting, network, seed."""


@dataclass(frozen=True)
class _Fleet:
    """All that a plan depends on, except its objective."""

    network: int
    reading: Reading
    transporters: int
    speed: float
    budget: float | None
    remote: float | None

    @classmethod
    def of(cls, setting: Setting, network: int) -> _Fleet:
        return cls(
            network,
            setting.reading,
            setting.transporters,
            setting.speed,
            setting.budget,
            setting.remote,
        )


_Plans = dict[Objective, Plan]


@dataclass(frozen=True, eq=False)
class Study:
    """Runs by their key, and the key of every case. Cases without a feasible plan are missing."""

    scale: Scale
    networks: tuple[int, ...]
    seeds: int  # per network
    runs: dict[str, Run]
    keys: dict[Case, str]
    plans: dict[tuple[Setting, int], Plan]
    infeasible: set[_Fleet] = field(
        default_factory=set
    )  # without a plan; of both readings the first


def make_study(
    settings: Iterable[Setting],
    scale: Scale,
    *,
    networks: int | None = None,
    seeds: int | None = None,
    tell: Tell = ignore_note,
) -> Study:
    """Plan once for each network and fleet. By default as many networks and seeds as the scale has.

    `tell` receives notes about downloads, compilation, and cases without a feasible plan.
    """
    chosen = list(dict.fromkeys(settings))
    every = tuple(range(scale.networks if networks is None else networks))
    for setting in {setting.dataset: setting for setting in chosen}.values():
        load_dataset(setting.scenario(scale, 0, 1).learning, tell)
    study = Study(scale, every, scale.seeds if seeds is None else seeds, {}, {}, {})
    plans = _make_plans(chosen, scale, every, tell)
    for network, setting in product(every, chosen):
        _add(study, setting, network, plans, tell)
    return study


def _make_plans(
    settings: Iterable[Setting], scale: Scale, networks: Iterable[int], tell: Tell
) -> dict[_Fleet, _Plans | InfeasibleError]:
    """For each fleet the plans of its objectives, or the reason why there are none.

    Threads plan several fleets at a time: the compiled search releases the interpreter.
    """
    fleets: dict[_Fleet, dict[Objective, Scenario]] = {}
    for network, setting in product(networks, settings):
        scenarios = fleets.setdefault(_Fleet.of(setting, network), {})
        scenarios.setdefault(setting.objective, setting.scenario(scale, network, 1))
    example = next(iter(next(iter(fleets.values())).values()))
    load(Problem.of(example), tell)
    with ThreadPoolExecutor(num_cores()) as pool:
        return dict(zip(fleets, pool.map(_plan_all, fleets.values()), strict=True))


def _plan_all(scenarios: Mapping[Objective, Scenario]) -> _Plans | InfeasibleError:
    """Plans do not depend on the data or the clock."""
    try:
        return {objective: make_plan(each, seed=0) for objective, each in scenarios.items()}
    except InfeasibleError as error:
        return error


def _add(
    study: Study,
    setting: Setting,
    network: int,
    plans: Mapping[_Fleet, _Plans | InfeasibleError],
    tell: Tell,
) -> None:
    fleet = _Fleet.of(setting, network)
    found = plans[fleet]
    if isinstance(found, InfeasibleError):
        known = replace(fleet, reading=as_paper())
        if known not in study.infeasible:
            tell(f"network {network}: {found}")
        study.infeasible.add(known)
        return
    scenario = setting.scenario(study.scale, network, 1)
    plan = _with_higher_budget(scenario, setting, network, plans) or found[setting.objective]
    study.plans[setting, network] = plan
    for seed in seeds_of(network, study.seeds):
        run = _run_of(setting, network, seed, setting.scenario(study.scale, network, seed), plan)
        study.keys[setting, network, seed] = run.key
        study.runs.setdefault(run.key, run)


def _with_higher_budget(
    scenario: Scenario,
    setting: Setting,
    network: int,
    plans: Mapping[_Fleet, _Plans | InfeasibleError],
) -> Plan | None:
    """The plan for the paper's budget, if it keeps the lower one of this setting as well.

    Solvers start anew for each budget and may end elsewhere, though nothing has to change.
    """
    usual = Setting(setting.algorithm, setting.objective).budget
    if setting.budget is None or usual is None or setting.budget >= usual:
        return None
    found = plans.get(_Fleet.of(replace(setting, budget=usual), network))
    if found is None or isinstance(found, InfeasibleError) or setting.objective not in found:
        return None
    plan = _remade(scenario, found[setting.objective])
    return plan if plan.feasible else None


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
