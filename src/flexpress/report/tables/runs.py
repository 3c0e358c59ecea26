"""Simulations side by side: a summary of each, as a table for the terminal and as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from rich.console import Console
from rich.table import Table

from flexpress.planning import Plan
from flexpress.report.tables.columns import Column, down, print_fitting, stacked
from flexpress.report.tables.plan import LONGEST_TITLE
from flexpress.report.texts import column, cost_text, shortened, time_unit
from flexpress.scenario import Algorithm, Scenario
from flexpress.simulation import Measurement, RunName, Trace
from flexpress.simulation.events import Landing, Update
from flexpress.simulation.trace import common_target

_NOTHING = "-"

_LARGEST_LOSS = 1e4
"""Larger losses are written as powers of ten: such runs diverge."""


@dataclass(frozen=True)
class RunSummary:
    """The results of one simulation in SI units; None if nothing was measured or merged."""

    algorithm: Algorithm
    head_start: float  # gamma; 0 in the paper
    complete: bool  # whether it reached its horizon
    slot: int  # the last one reached
    seconds: float  # simulated
    accuracy: float | None  # of the last measurement
    loss: float | None
    best_accuracy: float | None
    updates: int  # of the global model
    tours: int  # completed
    staleness: float | None  # mean age of contributions when merged, in versions
    energy: float  # joules of all completed tours
    waiting: float  # seconds that transporters waited at the server for others


def summarise(trace: Trace) -> RunSummary:
    """Reads the events only once, because a trace computes them anew each time."""
    landings: list[Landing] = []
    staleness: list[int] = []
    updates = 0
    slot, seconds = 0, 0.0
    for event in trace.events():
        slot, seconds = max(slot, event.slot), max(seconds, event.seconds)
        if isinstance(event, Landing):
            landings.append(event)
        elif isinstance(event, Update):
            updates += 1
            staleness += [part.staleness for part in event.contributions]
    last = trace.metrics[-1] if trace.metrics else None
    if last and trace.complete:
        slot, seconds = last.slot, last.seconds
    return RunSummary(
        algorithm=trace.timetable.algorithm,
        head_start=trace.head_start,
        complete=trace.complete,
        slot=slot,
        seconds=seconds,
        accuracy=last.accuracy if last else None,
        loss=last.loss if last else None,
        best_accuracy=max((measured.accuracy for measured in trace.metrics), default=None),
        updates=updates,
        tours=len(landings),
        staleness=sum(staleness) / len(staleness) if staleness else None,
        energy=sum(landing.energy for landing in landings),
        waiting=sum(landing.waiting for landing in landings),
    )


def show_runs(
    console: Console, scenario: Scenario, plan: Plan, traces: Mapping[RunName, Trace]
) -> None:
    """Print accuracy, time and cost of each run, and what was learned."""
    runs = [summarise(trace) for trace in traces.values()]
    figures = run_figures(runs, list(traces.values()))
    print_fitting(console, _beside(figures), down(figures), stacked(figures))
    console.print()
    for line in [*_early_ends(runs, traces), _summary_line(scenario, plan)]:
        console.print(f" {line}", soft_wrap=True)


def run_figures(runs: Sequence[RunSummary], traces: Sequence[Trace]) -> list[Column]:
    """Name, unit, and one text per run. Head starts are only shown if there are any."""
    target = common_target(run.best_accuracy for run in runs)
    reached = _whole([trace.slots_to(target) for trace in traces])
    time, seconds = time_unit(max(run.seconds for run in runs))
    wait, wait_seconds = time_unit(max(run.waiting for run in runs))
    return [
        ("algorithm", "", [run.algorithm for run in runs]),
        *([("head start", "", _head_starts(runs))] if any(r.head_start for r in runs) else []),
        ("simulated", "slots", _whole([run.slot for run in runs])),
        ("", time, column([run.seconds / seconds for run in runs])),
        ("accuracy", "%", _percent([run.accuracy for run in runs])),
        ("best accuracy", "%", _percent([run.best_accuracy for run in runs])),
        *([(f"until {100 * target:.0f} %", "slots", reached)] if target else []),
        ("loss", "", _losses([run.loss for run in runs])),
        ("updates", "", _whole([run.updates for run in runs])),
        ("mean staleness", "versions", _known([run.staleness for run in runs])),
        ("tours", "", _whole([run.tours for run in runs])),
        ("energy", "kJ", column([run.energy / 1e3 for run in runs])),
        ("waiting", wait, column([run.waiting / wait_seconds for run in runs], digits=3)),
    ]


def _head_starts(runs: Sequence[RunSummary]) -> list[str]:
    return [_NOTHING if run.algorithm == "direct" else f"{run.head_start:g}" for run in runs]


def _whole(numbers: Sequence[int | None]) -> list[str]:
    return [_NOTHING if number is None else f"{number:,}" for number in numbers]


def _percent(shares: Sequence[float | None]) -> list[str]:
    return [_NOTHING if share is None else f"{100 * share:.1f}" for share in shares]


def _known(numbers: Sequence[float | None], digits: int = 3) -> list[str]:
    """The numbers of one line, with a dash for missing ones."""
    texts = iter(column([number for number in numbers if number is not None], digits))
    return [_NOTHING if number is None else next(texts) for number in numbers]


def _losses(numbers: Sequence[float | None]) -> list[str]:
    """A huge loss must not take the decimals from the others."""
    usual = [None if loss is None or abs(loss) >= _LARGEST_LOSS else loss for loss in numbers]
    texts = zip(numbers, _known(usual, digits=4), strict=True)
    return [
        f"{loss:.2e}" if loss is not None and abs(loss) >= _LARGEST_LOSS else text
        for loss, text in texts
    ]


def _beside(figures: Sequence[Column]) -> Table:
    """One line per figure, one column per run."""
    (name, _, algorithms), *others = figures
    table = Table(box=None, padding=(0, 1), header_style="bold")
    table.add_column(name)
    for algorithm in algorithms:
        table.add_column(algorithm, justify="right", no_wrap=True)
    table.add_column()
    for name, unit, texts in others:
        table.add_row(name, *texts, unit)
    return table


def _early_ends(runs: Sequence[RunSummary], traces: Mapping[RunName, Trace]) -> list[str]:
    """One line for each run that diverged or was stopped."""
    return [
        f"{name} ended early, in slot {run.slot:,} of {trace.horizon:,}"
        for run, (name, trace) in zip(runs, traces.items(), strict=True)
        if not run.complete
    ]


def _summary_line(scenario: Scenario, plan: Plan) -> str:
    """The plan and the learning settings, with the parameter of the partition."""
    learning = scenario.learning
    setting = {
        "iid": "",
        "dirichlet": f" {learning.alpha:g}",
        "location": f" {learning.main_label_probability:g}",
    }
    name = shortened(scenario.name, LONGEST_TITLE)
    return (
        f"{name}: {plan.objective} {cost_text(plan.objective, plan.cost, plan.round_trips)}; "
        f"{learning.dataset}, {learning.partition}{setting[learning.partition]}; "
        f"{learning.model}, learning rate {learning.learning_rate:g}, batch {learning.batch_size}"
    )


def runs_to_json(scenario: Scenario, plan: Plan, traces: Mapping[RunName, Trace]) -> str:
    """One object: the settings, and the figures and the curve of each run."""
    summaries = {name: summarise(trace) for name, trace in traces.items()}
    target = common_target(each.best_accuracy for each in summaries.values())
    document = {
        "scenario": scenario.name,
        "seed": scenario.seed,
        "learning_seed": scenario.learning_seed,
        "objective": plan.objective,
        "round_trips": plan.round_trips,
        "cost": plan.cost,
        "clock": scenario.run.clock,
        "preloaded": scenario.run.preloaded,
        "slot_seconds": scenario.slot,
        "horizon": max((trace.horizon for trace in traces.values()), default=0),
        "target_accuracy": target,
        "algorithms": {
            name: _run_document(trace, summaries[name], target) for name, trace in traces.items()
        },
    }
    return json.dumps(document, indent=2, allow_nan=False)


def _run_document(trace: Trace, summary: RunSummary, target: float | None) -> dict[str, object]:
    return {
        **{key: _json_value(value) for key, value in asdict(summary).items()},
        "slots_to_target": trace.slots_to(target),
        "metrics": [_point(measured) for measured in trace.metrics],
    }


def _point(measured: Measurement) -> dict[str, object]:
    return {key: _json_value(value) for key, value in asdict(measured).items()}


def _json_value(value: object) -> object:
    """JSON has neither NaN nor infinity, but a user's own learner may return them."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
