"""What `bound` finds out by flying: the constants of the learning problem, and a trial."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from flexpress.cli.run_progress import watch_run
from flexpress.cli.terminal import complain, watch
from flexpress.errors import DivergedError

if TYPE_CHECKING:
    from flexpress.learning import Engine, TrainingLoss, Vector
    from flexpress.planning import Plan
    from flexpress.scenario import Algorithm, Scenario
    from flexpress.theory import Estimates, Trial

MODELS = 5
"""At which constants are measured: x^0, and others on the way."""

LOCAL_STEPS, SLOTS = 16_000, 400
"""Of each run: about so many steps of all clients, at most so many slots."""

LEAST_TOURS = 3
"""Of the slowest transporter, however many steps: the model changes at the end of the second."""

TRIAL_TOURS = 10
"""Fewer, or fewer than all the slots, would mislead: who lands first is ahead at first."""

EVAL_EVERY = 20


def fly(
    scenario: Scenario, plans: Sequence[Plan], loss: TrainingLoss, engine: Engine
) -> tuple[Estimates, list[Trial]]:
    """L, G and sigma at models of FedEx-Sync, and a trial of both algorithms.

    Each flies its best plan. No trial if both are the same, or if it would have to be too short.
    """
    from flexpress.theory import RoundTrips
    from flexpress.theory.advice import one_algorithm

    sync, free = (best_plan(scenario, plans, each) for each in ("sync", "async"))
    tours, others = RoundTrips.of(scenario, sync), RoundTrips.of(scenario, free)
    slots = min(LOCAL_STEPS // scenario.num_clients, SLOTS)
    slots = max(slots, LEAST_TOURS * math.ceil(tours.longest))
    models, trial = short_run(scenario, sync, "sync", slots, engine)
    trials = []
    enough = max(SLOTS, TRIAL_TOURS * max(tours.longest, others.longest))
    if slots >= enough and not one_algorithm(tours, others):
        trials = [trial, tried_async(scenario, free, slots, engine)]
    return estimate_constants(scenario, models, loss), trials


def best_plan(scenario: Scenario, plans: Sequence[Plan], algorithm: Algorithm) -> Plan:
    """The one with the smallest delay, whatever the constants are."""
    from flexpress.theory import RoundTrips

    return min(plans, key=lambda plan: RoundTrips.of(scenario, plan).routes(algorithm))


def tried_async(scenario: Scenario, plan: Plan, slots: int, engine: Engine) -> Trial:
    from flexpress.theory import Trial

    try:
        return short_run(scenario, plan, "async", slots, engine)[1]
    except DivergedError:
        return Trial("async", plan.objective, slots, None)


def short_run(
    scenario: Scenario, plan: Plan, algorithm: Algorithm, slots: int, engine: Engine
) -> tuple[list[Vector], Trial]:
    """x^0 and every other global model, and what came of them."""
    from flexpress.learning import make_learner
    from flexpress.simulation.events import Event, Update
    from flexpress.simulation.simulate import Simulation, run
    from flexpress.theory import Trial

    changes = {"algorithm": algorithm, "horizon": slots, "eval_every": EVAL_EVERY}
    learner = make_learner(scenario, engine=engine, tell=complain)
    simulation = Simulation(scenario.replace(run=changes), plan, learner)
    models = [simulation.model]
    with watch_run(simulation, lambda: False) as listener:

        def on_event(event: Event) -> None:
            listener(event)
            if isinstance(event, Update) and algorithm == "sync":  # there the constants are asked
                models.append(simulation.model)

        metrics = run(simulation, on_event=on_event).metrics
    accuracy = sum(each.accuracy for each in metrics) / len(metrics)
    return models, Trial(algorithm, plan.objective, slots, accuracy)


def estimate_constants(
    scenario: Scenario, models: Sequence[Vector], loss: TrainingLoss
) -> Estimates:
    """At a few of these models, evenly spread, x^0 among them."""
    from flexpress.planning import Progress
    from flexpress.theory import estimate

    last = len(models) - 1
    with watch("estimate", lambda _: "", lambda: False) as listener:
        return estimate(
            loss,
            [models[round(j * last / (MODELS - 1))] for j in range(MODELS)],
            seed=scenario.learning_seed,
            on_progress=lambda part: listener(Progress(part, None)),
        )
