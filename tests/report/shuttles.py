"""Two drones on straight lines: 150 s and 90 s for a round trip, so that all times are known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from flexpress import Job, Metrics, Plan, Scenario, Trace, simulate
from flexpress.learning import Vector
from flexpress.scenario import Algorithm, Clock

SHUTTLES = Scenario.from_dict(
    {
        "name": "shuttles",
        "network": {
            "server": [0, 0],
            "clients": [[75, 0], [-45, 0]],
            "ids": ["east", "west"],
        },
        "fleet": {"speeds": [1.0, 1.0], "budgets": [6000.0, 3000.0]},
        "link": {"transfer_time": 0.0},
        "run": {"horizon": 10, "eval_every": 2, "clock": "exact", "head_start": 0.0},
    }
)
PLAN = Plan.of(SHUTTLES, "minmax", [[1], [2]], solver="search", seed=0, seconds=0.0)


class Still:
    """Learns nothing."""

    def initial_model(self) -> Vector:
        return np.zeros(3)

    def train(self, jobs: Sequence[Job]) -> Vector:
        return np.zeros((len(jobs), 3))

    def evaluate(self, model: Vector) -> Metrics:
        return Metrics(1.0, 0.5)


def flown(algorithm: Algorithm, clock: Clock = "exact", horizon: int = 10) -> Trace:
    scenario = SHUTTLES.replace(run={"clock": clock})
    return simulate(scenario, PLAN, Still(), algorithm=algorithm, horizon=horizon)
