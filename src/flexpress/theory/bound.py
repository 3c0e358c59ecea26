"""What the theorems promise for a scenario: constants from short runs, then the outlook."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import get_args

from flexpress.arguments import check_all, check_callable
from flexpress.callbacks import Tell, ignore_note
from flexpress.errors import DivergedError
from flexpress.learning import Engine, TrainingLoss, Vector, make_learner
from flexpress.planning import Plan, Progress, make_plan
from flexpress.planning.plan_file import check_plan
from flexpress.planning.progress import OnProgress, ignore_progress
from flexpress.scenario import DEFAULT_HEAD_START, Algorithm, Objective, Scenario, check_scenario
from flexpress.simulation.compare import OnRun, ignore_run, simulate
from flexpress.theory.advice import Trial, better, one_algorithm
from flexpress.theory.bounds import RoundTrips, check_horizon
from flexpress.theory.estimates import Estimates, estimate
from flexpress.theory.outlook import Outlook, outlook
from flexpress.theory.rates import check_target

_OBJECTIVES: tuple[Objective, ...] = get_args(Objective)

_MODELS = 5
"""Number of models at which constants are measured: x^0 and later ones."""

_LOCAL_STEPS, SLOTS = 16_000, 400
"""Length of each short run: about this many steps of all clients, at most this many slots."""

_LEAST_TOURS = 3
"""Tours of the slowest transporter in a short run: the model changes after the second."""

_TRIAL_TOURS = 10
"""A trial with fewer tours would mislead: whoever lands first is ahead at first."""

_EVAL_EVERY = 20


@dataclass(frozen=True)
class BoundResult:
    """The outlook, and the estimates that it is made from."""

    outlook: Outlook
    estimates: Estimates


def bound(
    scenario: Scenario,
    plans: Sequence[Plan] | None = None,
    *,
    horizon: int | None = None,
    target: float | None = None,
    head_start: float | None = None,
    engine: Engine = "auto",
    on_progress: OnRun = ignore_run,
    on_planning: OnProgress = ignore_progress,
    tell: Tell = ignore_note,
) -> BoundResult:
    """Evaluate the bounds for these plans, by default one for each objective.

    The constants are estimated at models of a short run of FedEx-Sync. Where a trial is cheap
    enough, FedEx-Async is simulated as well, and the better algorithm is advised; it is also tried
    without a head start if the scenario has one, else with one. `target` is for the mean of
    |grad f|^2, by default a tenth of its value at the start.
    """
    check_scenario(scenario)
    check_callable(on_progress=on_progress, on_planning=on_planning, tell=tell)
    given = {"horizon": horizon, "head_start": head_start}
    scenario = scenario.replace(
        run={key: value for key, value in given.items() if value is not None}
    )
    if target is not None:
        check_target(target)
    if plans is not None:
        for plan in check_all("plans", plans, Plan, "make them with make_plan(scenario)"):
            check_plan(scenario, plan)
    # Before plans are made: what it refuses should not be refused after that work.
    loss = TrainingLoss.of(scenario, engine=engine, tell=tell)
    plans = _plans(scenario, on_planning) if plans is None else plans
    round_trips = [RoundTrips.of(scenario, plan) for plan in plans]
    longest = max(round_trips, key=lambda each: each.longest)
    check_horizon(longest, scenario.run.horizon)
    models, trials, pair = _try(scenario, plans, engine, on_progress, tell)
    estimates = _estimate(scenario, models, loss, on_planning)
    counts = loss.task.label_counts()
    found = outlook(
        scenario,
        plans,
        estimates.constants,
        counts,
        target=target,
        trials=trials,
        head_start_trials=pair,
    )
    return BoundResult(found, estimates)


def best_plan(scenario: Scenario, plans: Sequence[Plan], algorithm: Algorithm) -> Plan:
    """The plan with the smallest delay, whatever the constants are."""
    return min(plans, key=lambda plan: RoundTrips.of(scenario, plan).routes(algorithm))


def short_run(
    scenario: Scenario,
    plan: Plan,
    algorithm: Algorithm,
    slots: int,
    engine: Engine = "auto",
    on_progress: OnRun = ignore_run,
    tell: Tell = ignore_note,
) -> tuple[list[Vector], Trial]:
    """All global models, x^0 first, and the mean accuracy."""
    models: list[Vector] = []
    metrics = simulate(
        scenario,
        plan,
        make_learner(scenario, engine=engine, tell=tell),
        algorithm=algorithm,
        horizon=slots,
        eval_every=_EVAL_EVERY,
        on_update=lambda slot, model: models.append(model),
        on_progress=on_progress,
        tell=tell,
    ).metrics
    accuracy = sum(each.accuracy for each in metrics) / len(metrics)
    return models, Trial(algorithm, plan.objective, slots, accuracy, scenario.run.head_start)


def _plans(scenario: Scenario, on_planning: OnProgress) -> list[Plan]:
    """A plan for each objective."""

    def make(objective: Objective) -> Plan:
        stage = f"{objective} plan"
        return make_plan(
            scenario,
            objective=objective,
            on_progress=lambda progress: on_planning(replace(progress, stage=stage)),
        )

    return [make(objective) for objective in _OBJECTIVES]


def _try(
    scenario: Scenario, plans: Sequence[Plan], engine: Engine, on_progress: OnRun, tell: Tell
) -> tuple[list[Vector], list[Trial], list[Trial]]:
    """Models of FedEx-Sync, a trial of each algorithm on its best plan, two with and without gamma.

    There is one algorithm only if all tours are equal, and no trial if it would have to be too
    short.
    """
    sync, free = (best_plan(scenario, plans, each) for each in ("sync", "async"))
    tours, others = RoundTrips.of(scenario, sync), RoundTrips.of(scenario, free)
    slots = min(_LOCAL_STEPS // scenario.num_clients, SLOTS)
    slots = max(slots, _LEAST_TOURS * math.ceil(tours.longest))
    models, trial = short_run(scenario, sync, "sync", slots, engine, on_progress, tell)
    enough = max(SLOTS, _TRIAL_TOURS * max(tours.longest, others.longest))
    if slots < enough:
        return models, [], []

    def fly(scenario: Scenario, algorithm: Algorithm) -> Trial:
        plan = free if algorithm == "async" else sync
        return _flown(scenario, plan, algorithm, slots, engine, on_progress, tell)

    other = scenario.replace(run={"head_start": 0.0 if trial.head_start else DEFAULT_HEAD_START})
    if one_algorithm(tours, others):
        return models, [], [trial, fly(other, "sync")]
    trials = [trial, fly(scenario, "async")]
    ahead = better(trials)
    (own,) = [each for each in trials if each.algorithm == ahead]
    return models, trials, [own, fly(other, ahead)]


def _flown(
    scenario: Scenario,
    plan: Plan,
    algorithm: Algorithm,
    slots: int,
    engine: Engine,
    on_progress: OnRun,
    tell: Tell,
) -> Trial:
    try:
        return short_run(scenario, plan, algorithm, slots, engine, on_progress, tell)[1]
    except DivergedError:
        return Trial(algorithm, plan.objective, slots, None, scenario.run.head_start)


def _estimate(
    scenario: Scenario, models: Sequence[Vector], loss: TrainingLoss, on_planning: OnProgress
) -> Estimates:
    """At x^0 and a few other models, evenly spread."""
    last = len(models) - 1
    return estimate(
        loss,
        [models[round(j * last / (_MODELS - 1))] for j in range(_MODELS)],
        seed=scenario.learning_seed,
        on_progress=lambda part: on_planning(Progress(part, None, stage="constants")),
    )
