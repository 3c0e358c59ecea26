"""What the theory promises as JSON, for programs to read."""

from __future__ import annotations

import json
from dataclasses import asdict

from flexpress.scenario import Scenario
from flexpress.theory import Estimates, Forecast, Outlook


def outlook_to_json(scenario: Scenario, outlook: Outlook, estimates: Estimates) -> str:
    """One object: what was asked, the constants, forecasts, trials, the advice."""
    document = {
        "scenario": scenario.name,
        "seed": scenario.seed,
        "learning_seed": scenario.learning_seed,
        "clock": outlook.clock,
        "slot_seconds": scenario.slot,
        "horizon": outlook.horizon,
        "target": outlook.target,
        "learning_rate": outlook.learning_rate,
        "largest_rate": outlook.constants.largest_rate,
        "constants": asdict(estimates),
        "forecasts": [forecast(row) for row in outlook.forecasts],
        "skew": {name: asdict(skew) for name, skew in outlook.skews.items()},
        "trials": [asdict(trial) for trial in outlook.trials],
        "advice": asdict(outlook.advice),
    }
    return json.dumps(document, indent=2, allow_nan=False)


def forecast(row: Forecast) -> dict[str, object]:
    return {**asdict(row), "bound": {**asdict(row.bound), "total": row.bound.total}}
