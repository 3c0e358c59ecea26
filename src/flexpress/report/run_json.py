"""Simulations as JSON, for programs to read."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict

from flexpress.planning import Plan
from flexpress.report.run_summary import RunSummary, summarise
from flexpress.scenario import Algorithm, Scenario
from flexpress.simulation import Measurement, Trace
from flexpress.simulation.trace import common_target


def runs_to_json(scenario: Scenario, plan: Plan, traces: Mapping[Algorithm, Trace]) -> str:
    """One object: what was simulated, and for each algorithm its figures and its curve."""
    summaries = {algorithm: summarise(trace) for algorithm, trace in traces.items()}
    target = common_target(each.best_accuracy for each in summaries.values())
    document = {
        "scenario": scenario.name,
        "seed": scenario.seed,
        "learning_seed": scenario.learning_seed,
        "objective": plan.objective,
        "cost": plan.cost,
        "clock": scenario.run.clock,
        "slot_seconds": scenario.slot,
        "horizon": max((trace.horizon for trace in traces.values()), default=0),
        "target_accuracy": target,
        "algorithms": {
            algorithm: run(trace, summaries[algorithm], target)
            for algorithm, trace in traces.items()
        },
    }
    return json.dumps(document, indent=2, allow_nan=False)


def run(trace: Trace, summary: RunSummary, target: float | None) -> dict[str, object]:
    figures = {key: value for key, value in asdict(summary).items() if key != "algorithm"}
    return {
        **{key: plain(value) for key, value in figures.items()},
        "slots_to_target": trace.slots_to(target),
        "metrics": [point(measured) for measured in trace.metrics],
    }


def point(measured: Measurement) -> dict[str, object]:
    return {key: plain(value) for key, value in asdict(measured).items()}


def plain(value: object) -> object:
    """JSON knows neither NaN nor infinity, and a learner of the user's own may return them."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
