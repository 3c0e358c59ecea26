"""The constants of a scenario's learning problem, measured where its training goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flexpress.cli.terminal import complain, watch

if TYPE_CHECKING:
    from flexpress.learning import Engine, Task, Vector
    from flexpress.planning import Plan
    from flexpress.scenario import Scenario
    from flexpress.theory import Estimates

MODELS = 5
"""At which constants are measured: x^0, and others on the way."""

LOCAL_STEPS, MOST_SLOTS = 16_000, 400
"""Of the run that comes to them: about so many steps of all clients, at most so many slots."""

LEAST_TOURS = 6
"""Of the slowest transporter: the global model changes from the second on."""


def estimate_constants(scenario: Scenario, plan: Plan, engine: Engine) -> tuple[Estimates, Task]:
    """L, G and sigma at models of FedEx-Sync along the plan, and the data they are of."""
    from flexpress.learning import TrainingLoss
    from flexpress.planning import Progress
    from flexpress.theory import estimate

    loss = TrainingLoss.of(scenario, engine=engine, tell=complain)
    models = models_on_the_way(scenario, plan, engine)
    with watch("estimate", lambda _: "", lambda: False) as listener:
        estimates = estimate(
            loss,
            models,
            seed=scenario.seed,
            on_progress=lambda part: listener(Progress(part, None)),
        )
    return estimates, loss.task


def models_on_the_way(scenario: Scenario, plan: Plan, engine: Engine) -> list[Vector]:
    """x^0, and global models of a short run, evenly spread."""
    from flexpress.learning import make_learner
    from flexpress.simulation import simulate
    from flexpress.theory import Tours

    slots = min(LOCAL_STEPS // scenario.num_clients, MOST_SLOTS)
    slots = max(slots, LEAST_TOURS * round(Tours.of(scenario, plan).longest + 0.5))
    models: list[Vector] = []
    simulate(
        scenario.replace(run={"eval_every": slots}),
        plan,
        make_learner(scenario, engine=engine, tell=complain),
        algorithm="sync",
        horizon=slots,
        on_update=lambda slot, model: models.append(model),
    )
    last = len(models) - 1
    return [models[round(j * last / (MODELS - 1))] for j in range(MODELS)]
