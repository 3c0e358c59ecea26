"""The constants of a scenario's learning problem, measured where its training goes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flexpress.cli.run_progress import watch_run
from flexpress.cli.terminal import complain, watch

if TYPE_CHECKING:
    from flexpress.learning import Engine, TrainingLoss, Vector
    from flexpress.planning import Plan
    from flexpress.scenario import Scenario
    from flexpress.theory import Estimates

MODELS = 5
"""At which constants are measured: x^0, and others on the way."""

LOCAL_STEPS, MOST_SLOTS = 16_000, 400
"""Of the run that comes to them: about so many steps of all clients, at most so many slots."""

LEAST_TOURS = 3
"""Of the slowest transporter, however many steps: the model changes at the end of the second."""


def estimate_constants(
    scenario: Scenario, plan: Plan, loss: TrainingLoss, engine: Engine
) -> Estimates:
    """L, G and sigma at models of FedEx-Sync along the plan."""
    from flexpress.planning import Progress
    from flexpress.theory import estimate

    models = models_on_the_way(scenario, plan, engine)
    with watch("estimate", lambda _: "", lambda: False) as listener:
        return estimate(
            loss,
            models,
            seed=scenario.learning_seed,
            on_progress=lambda part: listener(Progress(part, None)),
        )


def models_on_the_way(scenario: Scenario, plan: Plan, engine: Engine) -> list[Vector]:
    """x^0, and global models of a short run, evenly spread."""
    from flexpress.learning import make_learner
    from flexpress.simulation.events import Event, Update
    from flexpress.simulation.simulate import Simulation, run
    from flexpress.theory import Tours

    slots = min(LOCAL_STEPS // scenario.num_clients, MOST_SLOTS)
    slots = max(slots, LEAST_TOURS * math.ceil(Tours.of(scenario, plan).longest))
    short = scenario.replace(run={"algorithm": "sync", "horizon": slots, "eval_every": slots})
    simulation = Simulation(short, plan, make_learner(scenario, engine=engine, tell=complain))
    models = [simulation.model]
    with watch_run(simulation, lambda: False) as listener:

        def on_event(event: Event) -> None:
            listener(event)
            if isinstance(event, Update):
                models.append(simulation.model)

        run(simulation, on_event=on_event)
    last = len(models) - 1
    return [models[round(j * last / (MODELS - 1))] for j in range(MODELS)]
