"""The plans of a study: made in parallel, and kept, as a restart would take minutes to make them.

A plan depends on the network, the fleet, the objective and how it is read, not on the learning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from flexpress.callbacks import ShouldStop, Tell, never
from flexpress.errors import InfeasibleError
from flexpress.files.disk import write_file
from flexpress.files.versions import versions
from flexpress.planning import Plan, Problem, load_plan, make_plan, plan_to_json
from flexpress.planning.search import load
from flexpress.scenario import Scenario
from flexpress.simulation.origin import text_digest
from flexpress.workers.processes import perform_all

_NAME_LENGTH = 20

Planned = Plan | str
"""A plan, or the reason why there is none."""


def make_plans(
    scenarios: Mapping[str, Scenario], folder: Path | None, jobs: int, tell: Tell
) -> dict[str, Planned]:
    """By their keys, `jobs` at a time. Those that the folder holds are not made again."""
    found: dict[str, Planned] = {}
    for key, scenario in scenarios.items():
        if folder is not None and (folder / _name(key)).exists():
            found[key] = load_plan(folder / _name(key), scenario)
    missing = {key: each for key, each in scenarios.items() if key not in found}
    if missing:
        load(Problem.of(next(iter(missing.values()))), tell)  # else every process would compile

    def keep(key: str, planned: Planned) -> None:
        found[key] = planned
        if folder is not None and isinstance(planned, Plan):
            folder.mkdir(parents=True, exist_ok=True)
            write_file(folder / _name(key), f"{plan_to_json(planned)}\n")

    if jobs == 1:
        for key, scenario in missing.items():
            keep(key, plan_of(scenario))
    elif missing:
        tasks = {key: partial(_in_a_process, scenario) for key, scenario in missing.items()}
        perform_all(
            tasks,
            jobs,
            on_start=lambda key: None,
            on_news=lambda key, news: None,
            on_end=keep,
            should_stop=never,
        )
    return found


def plan_key(scenario: Scenario) -> str:
    """Equal for scenarios that have the same plan."""
    bare = scenario.replace(name="plan", learning=None, run=None)
    return text_digest([bare.to_dict(), versions()])[:_NAME_LENGTH]


def plan_of(scenario: Scenario) -> Planned:
    try:
        return make_plan(scenario, seed=0)
    except InfeasibleError as error:
        return str(error)


def _in_a_process(
    scenario: Scenario, send: Callable[[object], None], should_stop: ShouldStop
) -> Planned:
    return plan_of(scenario)


def _name(key: str) -> str:
    return f"{key}.json"
