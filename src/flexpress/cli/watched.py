"""Solvers at work on the terminal: a progress line, and Ctrl-C for the best so far."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from flexpress.cli.interrupt import Interruption, interruptible
from flexpress.cli.terminal import complain, watch
from flexpress.errors import InfeasibleError

if TYPE_CHECKING:
    from flexpress.planning import Plan, Progress
    from flexpress.planning.diagnosis import Remedy
    from flexpress.scenario import Objective, Scenario, SolverName

    Listener = Callable[[Progress], None]


def watched_plan(
    scenario: Scenario,
    objective: Objective,
    solver: SolverName | None = None,
    seconds: float | None = None,
    iterations: int | None = None,
    seed: int | None = None,
    *,
    starts: int = 1,
    jobs: int | None = None,
    keep_interrupted: bool = True,
) -> Plan:
    """`make_plan`: interrupted, it gives the best plan so far, or else KeyboardInterrupt."""
    from flexpress.planning import make_plan
    from flexpress.report.texts import cost_text

    def show(cost: float | None) -> str:
        return "no plan yet" if cost is None else f"best {cost_text(objective, cost)}"

    solver = solver or scenario.plan.solver
    with watched(solver, show) as (listener, stop):
        try:
            plan = make_plan(
                scenario,
                objective=objective,
                solver=solver,
                seconds=seconds,
                iterations=iterations,
                seed=seed,
                starts=starts,
                jobs=jobs,
                on_progress=listener,
                should_stop=stop.requested,
            )
        except InfeasibleError:
            if stop.requested():
                raise KeyboardInterrupt from None
            raise
    if stop.requested():
        if not keep_interrupted:
            raise KeyboardInterrupt
        complain("interrupted: best plan so far")
    return plan


def watched_certificate(scenario: Scenario, plan: Plan, seconds: float | None) -> Plan:
    """`certify_plan`: interrupted, it gives the best bound so far."""
    from flexpress.planning.bounds import certify_plan
    from flexpress.report.texts import cost_text

    def show(bound: float | None) -> str:
        return "" if bound is None else f"at least {cost_text(plan.objective, bound)}"

    with watched("certify", show) as (listener, stop):
        certified = certify_plan(
            scenario, plan, seconds=seconds, on_progress=listener, should_stop=stop.requested
        )
    if stop.requested():
        complain("interrupted: best bound so far")
    return certified


def watched_diagnosis(scenario: Scenario, seed: int | None) -> list[Remedy]:
    """`diagnose`: interrupted, it gives what was found so far."""
    from flexpress.planning.diagnosis import diagnose

    with watched("diagnose", lambda _: "") as (listener, stop):
        return diagnose(
            scenario,
            seed=scenario.seed if seed is None else seed,
            on_progress=listener,
            should_stop=stop.requested,
        )


@contextmanager
def watched(
    name: str, show_value: Callable[[float | None], str]
) -> Iterator[tuple[Listener, Interruption]]:
    """A listener for progress, and whether the user has asked to stop."""
    with (
        interruptible() as interruption,
        watch(name, show_value, interruption.requested) as listener,
    ):
        yield listener, interruption
