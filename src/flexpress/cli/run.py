"""Simulations at work on the terminal: several algorithms on one plan, the same data and seed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from flexpress.cli.found import stored_plan
from flexpress.cli.interrupt import interruptible
from flexpress.cli.run_folders import (
    CURVES,
    check_folders,
    plan_of_runs,
    run_folders,
    shared_folder,
)
from flexpress.cli.run_progress import watch_run
from flexpress.cli.terminal import complain
from flexpress.cli.watched import watched_plan
from flexpress.errors import DivergedError

if TYPE_CHECKING:
    from flexpress.files.provenance import Outputs
    from flexpress.learning import Engine, Learner
    from flexpress.planning import Plan
    from flexpress.scenario import Algorithm, Scenario
    from flexpress.simulation import Trace

INTERRUPTED = 130


@dataclass
class Outcome:
    """What the algorithms came to, and the exit code that tells it."""

    plan: Plan
    traces: dict[Algorithm, Trace] = field(default_factory=dict)
    exit_code: int = 0


def run_all(
    scenario: Scenario,
    algorithms: Sequence[Algorithm],
    folder: Path | None,
    outputs: Outputs,
    *,
    plan_path: Path | None,
    engine: Engine,
    ray: str | None,
    resume: bool,
) -> Outcome:
    """Simulate one algorithm after the other; if one diverges, the others are not held up."""
    folders = run_folders(folder, algorithms)
    check_folders(scenario, folder, folders, outputs, resume=resume)
    path = plan_path or (plan_of_runs(folders) if resume else None)
    plan = stored_plan(scenario, path) if path else None
    # Before a plan is made: what it may complain about should not come after that work.
    with trainer(scenario, engine, ray) as learner:
        outcome = Outcome(plan or new_plan(scenario))
        check_folders(scenario, folder, folders, outputs, outcome.plan, learner, resume=resume)
        with shared_folder(scenario, outcome.plan, folder, folders, outputs):
            for algorithm, place in folders.items():
                chosen = scenario.replace(run={"algorithm": algorithm})
                if not run_one(chosen, learner, place, outcome, resume=resume):
                    outcome.exit_code = INTERRUPTED
                    break
                if place:
                    outputs.saved.append(place)
            if folder:
                write_curves(scenario, outcome, folder, outputs)
    return outcome


@contextmanager
def trainer(scenario: Scenario, engine: Engine, ray: str | None) -> Iterator[Learner]:
    """The learner of the scenario, in this process or on the Ray cluster at this address."""
    if ray is None:
        from flexpress.learning import make_learner

        yield make_learner(scenario, engine=engine, tell=complain)
        return
    from flexpress.learning.on_ray import RayLearner

    with RayLearner(scenario, address=ray, engine=engine, tell=complain) as learner:
        yield learner


def choose_plan(scenario: Scenario, path: Path | None) -> Plan:
    """The one in the file or folder, or a new one."""
    return stored_plan(scenario, path) if path else new_plan(scenario)


def new_plan(scenario: Scenario) -> Plan:
    return watched_plan(scenario, scenario.plan.objective, keep_interrupted=False)


def run_one(
    scenario: Scenario, learner: Learner, folder: Path | None, outcome: Outcome, *, resume: bool
) -> bool:
    """Add its trace to the outcome; False if it was interrupted."""
    from flexpress.simulation.run_folder import run_in_folder
    from flexpress.simulation.simulate import Simulation, run

    simulation = Simulation(scenario, outcome.plan, learner)
    work = partial(run_in_folder, folder=folder, resume=resume) if folder else run
    failure: DivergedError | KeyboardInterrupt | None = None
    with interruptible() as stop, watch_run(simulation, stop.requested) as listener:
        try:
            work(simulation, on_event=listener, should_stop=stop.requested)
        except (DivergedError, KeyboardInterrupt) as error:
            failure = error
    if isinstance(failure, KeyboardInterrupt):
        how = "; --resume goes on from its last checkpoint" if folder else ""
        complain(f"{scenario.run.algorithm}: aborted at slot {simulation.slot}{how}")
        raise typer.Exit(INTERRUPTED)
    outcome.traces[scenario.run.algorithm] = simulation.trace()
    if failure:
        complain(str(failure))
        outcome.exit_code = failure.exit_code
    elif not simulation.complete:
        how = "; --resume goes on" if folder else ""
        complain(f"{scenario.run.algorithm}: interrupted at slot {simulation.slot}{how}")
    return simulation.complete or failure is not None


def write_curves(scenario: Scenario, outcome: Outcome, folder: Path, outputs: Outputs) -> None:
    from flexpress.report.figures.curves import curves_png

    learning = scenario.learning
    title = f"{scenario.name}: {learning.model} on {learning.dataset}, {learning.partition}"
    outputs.write(folder, [(CURVES, curves_png(outcome.traces, title))])
