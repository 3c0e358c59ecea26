"""A remedy as a change of the draft."""

from __future__ import annotations

import numpy as np

from flexpress.planning import Problem
from flexpress.planning.diagnosis import Remedy
from flexpress.planning.infeasible import shares_alone
from flexpress.scenario import Scenario
from flexpress.scenario.units import DATA_SIZE, ENERGY, SPEED, TIME, Quantity

Keys = dict[str, dict[str, object]]


def remedy_changes(scenario: Scenario, remedy: Remedy) -> Keys:
    """The keys that it sets; none if no such change is enough."""
    factor = remedy.factor
    if factor is None:
        return {}
    if remedy.change == "transporters":
        return {"fleet": _more_transporters(scenario, factor)}
    if remedy.change == "budgets":
        given = scenario.fleet.budgets or ()
        return {"fleet": {"budgets": [_plain(ENERGY.rounded_up(factor * b, b)) for b in given]}}
    if remedy.change == "speeds":
        rounded = SPEED.rounded_up if factor > 1 else SPEED.rounded_down
        return {"fleet": {"speeds": [_plain(rounded(factor * v, v)) for v in scenario.speeds]}}
    if remedy.change == "model size" and scenario.link.model_size is not None:
        size = scenario.link.model_size
        return {"link": {"model_size": _plain(DATA_SIZE.rounded_down(factor * size, size))}}
    seconds = scenario.transfer_time
    return {"link": {"transfer_time": _plain(TIME.rounded_down(factor * seconds, seconds))}}


def _plain(text: str) -> str:
    """Without the commas between thousands, which are for people."""
    return text.replace(",", "")


def _more_transporters(scenario: Scenario, factor: float) -> dict[str, object]:
    """As `diagnose` counts them: like the one that reaches every client, else of every kind."""
    have = scenario.num_transporters
    alone = shares_alone(Problem.of(scenario)).max(axis=1)  # (transporters,)
    like = [int(np.argmin(alone))] if alone.min() <= 1 + 1e-9 else list(range(have))
    rows = list(range(have)) + like * ((round(factor * have) - have) // len(like))
    keys: dict[str, object] = {"speeds": [_given(scenario.speeds[k]) for k in rows]}
    if scenario.fleet.budgets is not None:
        keys["budgets"] = [_given(scenario.fleet.budgets[k]) for k in rows]
    return keys


def _given(value: float) -> object:
    """As it was written."""
    return (isinstance(value, Quantity) and value.text) or float(value)
