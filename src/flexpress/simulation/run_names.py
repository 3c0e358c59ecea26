"""What runs are called, and the runs of a comparison.

`sync` and `async` are FedEx-Sync and FedEx-Async as in the paper. `sync-head-start` and
`async-head-start` fly the same tours, and their clients have a head start. `direct` is an ideal
link, where a head start has no meaning.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, get_args

from flexpress.scenario import DEFAULT_HEAD_START, Algorithm, Scenario

RunName = Literal["sync", "async", "sync-head-start", "async-head-start", "direct"]

RUN_NAMES: tuple[RunName, ...] = get_args(RunName)

_WITH_HEAD_START: Mapping[Algorithm, RunName] = {
    "sync": "sync-head-start",
    "async": "async-head-start",
}


def compared_runs(
    scenario: Scenario, algorithms: Iterable[Algorithm] | None = None
) -> dict[RunName, Scenario]:
    """The scenario of each run, by its name.

    These algorithms with the scenario's head start; or, without algorithms, all runs that can be
    compared: as in the paper, with a head start, and over an ideal link.
    """
    gamma = scenario.run.head_start
    if algorithms is not None:
        pairs = [(algorithm, gamma) for algorithm in algorithms]
    else:
        both: tuple[Algorithm, ...] = ("sync", "async")
        gammas = (0.0, gamma or DEFAULT_HEAD_START)
        pairs = [(algorithm, each) for each in gammas for algorithm in both]
        pairs.append(("direct", 0.0))
    runs = [(algorithm, _effective(algorithm, each)) for algorithm, each in pairs]
    return {run_name(*run): _scenario_of(scenario, *run) for run in dict.fromkeys(runs)}


def _scenario_of(scenario: Scenario, algorithm: Algorithm, head_start: float) -> Scenario:
    """The same scenario if it is that already: what it has computed is kept."""
    if (scenario.run.algorithm, scenario.run.head_start) == (algorithm, head_start):
        return scenario
    return scenario.replace(run={"algorithm": algorithm, "head_start": head_start})


def head_start_of(scenario: Scenario) -> float:
    """gamma of the run that the scenario describes."""
    return _effective(scenario.run.algorithm, scenario.run.head_start)


def _effective(algorithm: Algorithm, head_start: float) -> float:
    """An ideal link has none."""
    return 0.0 if algorithm == "direct" else head_start


def run_name(algorithm: Algorithm, head_start: float) -> RunName:
    return _WITH_HEAD_START[algorithm] if head_start else algorithm


def run_label(algorithm: Algorithm, head_start: float) -> str:
    """For pictures and titles: "sync", "sync, head start 0.5"."""
    return f"{algorithm}, head start {head_start:g}" if head_start else algorithm
