"""Simulations side by side as a table for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.table import Table

from flexpress.planning import Plan
from flexpress.report.names import shortened
from flexpress.report.numbers import column, cost_text, time_unit
from flexpress.report.run_summary import RunSummary, summarise
from flexpress.report.table import LONGEST_TITLE, Column, down, print_fitting, stacked
from flexpress.scenario import Algorithm, Scenario
from flexpress.simulation import Trace
from flexpress.simulation.trace import common_target

NOTHING = "-"

LARGEST_LOSS = 1e4
"""From which losses are written with a power of ten: such runs diverge."""


def show_runs(
    console: Console, scenario: Scenario, plan: Plan, traces: Mapping[Algorithm, Trace]
) -> None:
    """How good the model of every algorithm got, how soon, at which cost; and what was learned."""
    runs = [summarise(trace) for trace in traces.values()]
    figures = run_figures(runs, list(traces.values()))
    print_fitting(console, beside(figures), down(figures), stacked(figures))
    console.print()
    for line in [*early_ends(runs, traces), summary_line(scenario, plan)]:
        console.print(f" {line}", soft_wrap=True)


def run_figures(runs: Sequence[RunSummary], traces: Sequence[Trace]) -> list[Column]:
    """Name, unit, and one text per algorithm."""
    target = common_target(run.best_accuracy for run in runs)
    reached = whole([trace.slots_to(target) for trace in traces])
    time, seconds = time_unit(max(run.seconds for run in runs))
    wait, wait_seconds = time_unit(max(run.waiting for run in runs))
    return [
        ("algorithm", "", [run.algorithm for run in runs]),
        ("simulated", "slots", whole([run.slot for run in runs])),
        ("", time, column([run.seconds / seconds for run in runs])),
        ("accuracy", "%", percent([run.accuracy for run in runs])),
        ("best accuracy", "%", percent([run.best_accuracy for run in runs])),
        *([(f"until {100 * target:.0f} %", "slots", reached)] if target else []),
        ("loss", "", losses([run.loss for run in runs])),
        ("updates", "", whole([run.updates for run in runs])),
        ("mean staleness", "versions", known([run.staleness for run in runs])),
        ("tours", "", whole([run.tours for run in runs])),
        ("energy", "kJ", column([run.energy / 1e3 for run in runs])),
        ("waiting", wait, column([run.waiting / wait_seconds for run in runs], digits=3)),
    ]


def whole(numbers: Sequence[int | None]) -> list[str]:
    return [NOTHING if number is None else f"{number:,}" for number in numbers]


def percent(shares: Sequence[float | None]) -> list[str]:
    return [NOTHING if share is None else f"{100 * share:.1f}" for share in shares]


def known(numbers: Sequence[float | None], digits: int = 3) -> list[str]:
    """Numbers of one line, with a dash for those that there are not."""
    texts = iter(column([number for number in numbers if number is not None], digits))
    return [NOTHING if number is None else next(texts) for number in numbers]


def losses(numbers: Sequence[float | None]) -> list[str]:
    """A loss that blows up must not take the decimals from the others."""
    usual = [None if loss is None or abs(loss) >= LARGEST_LOSS else loss for loss in numbers]
    texts = zip(numbers, known(usual, digits=4), strict=True)
    return [
        f"{loss:.2e}" if loss is not None and abs(loss) >= LARGEST_LOSS else text
        for loss, text in texts
    ]


def beside(figures: Sequence[Column]) -> Table:
    """A line per figure, a column per algorithm."""
    (name, _, algorithms), *others = figures
    table = Table(box=None, padding=(0, 1), header_style="bold")
    table.add_column(name)
    for algorithm in algorithms:
        table.add_column(algorithm, justify="right", no_wrap=True)
    table.add_column()
    for name, unit, texts in others:
        table.add_row(name, *texts, unit)
    return table


def early_ends(runs: Sequence[RunSummary], traces: Mapping[Algorithm, Trace]) -> list[str]:
    """Runs that diverged or were stopped must not pass for whole ones."""
    return [
        f"{run.algorithm} ended early, in slot {run.slot:,} of {traces[run.algorithm].horizon:,}"
        for run in runs
        if not run.complete
    ]


def summary_line(scenario: Scenario, plan: Plan) -> str:
    """What was flown and what was learned, the settings of a partition behind its name."""
    learning = scenario.learning
    setting = {
        "iid": "",
        "dirichlet": f" {learning.alpha:g}",
        "location": f" {learning.main_label_probability:g}",
    }
    name = shortened(scenario.name, LONGEST_TITLE)
    return (
        f"{name}: {plan.objective} {cost_text(plan.objective, plan.cost)}; "
        f"{learning.dataset}, {learning.partition}{setting[learning.partition]}; "
        f"{learning.model}, learning rate {learning.learning_rate:g}, batch {learning.batch_size}"
    )
