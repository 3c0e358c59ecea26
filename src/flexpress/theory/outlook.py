"""What the theory says about a scenario: forecasts for every plan and both algorithms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from flexpress.arguments import check_all
from flexpress.errors import InputError
from flexpress.planning import Plan
from flexpress.planning.plan_file import check_plan
from flexpress.scenario import Algorithm, Clock, Objective, Scenario
from flexpress.theory.advice import Advice, Trial, advise
from flexpress.theory.bounds import Constants, RoundTrips
from flexpress.theory.forecast import Forecast, forecast
from flexpress.theory.label_mixes import Counts, label_mixes, mean_skew

_BOTH: tuple[Algorithm, ...] = ("sync", "async")

_TARGET = 0.1
"""Default target, relative to |grad f(x^0)|^2."""


@dataclass(frozen=True)
class Skew:
    """Distances of the transporters' label mixes from that of all the data, in total variation."""

    transporters: tuple[float, ...]  # 0 for idle ones
    mean: float  # over clients


@dataclass(frozen=True)
class Outlook:
    """Forecasts for `horizon` slots and for a target, and the advice that follows."""

    constants: Constants
    clock: Clock
    horizon: int
    target: float  # of the mean of |grad f(x^t)|^2
    learning_rate: float  # of the scenario, for comparison
    forecasts: tuple[Forecast, ...]
    skews: Mapping[Objective, Skew]
    trials: tuple[Trial, ...]  # empty if they were not made or not needed
    advice: Advice
    head_start: float  # of the scenario
    head_start_trials: tuple[Trial, ...]  # what is advised, without one and with one; or empty


def outlook(
    scenario: Scenario,
    plans: Sequence[Plan],
    constants: Constants,
    counts: Counts,
    *,
    horizon: int | None = None,
    target: float | None = None,
    trials: Sequence[Trial] = (),
    head_start_trials: Sequence[Trial] = (),
) -> Outlook:
    """Forecast every plan with both algorithms, and advise.

    `counts` holds the samples of each label at every client, in the order of the scenario. `trials`
    are runs of each algorithm on its best plan, and `head_start_trials` two of the better one,
    without a head start and with one; without them, the advice is by theory alone.
    """
    plans = check_all("plans", plans, Plan, "make them with make_plan(scenario, objective=...)")
    for plan in plans:
        check_plan(scenario, plan)
    _check_counts(scenario, counts)
    horizon = scenario.run.horizon if horizon is None else horizon
    target = _TARGET * constants.start_gradient if target is None else target
    forecasts = tuple(
        forecast(
            constants,
            RoundTrips.of(scenario, plan),
            objective=plan.objective,
            algorithm=algorithm,
            horizon=horizon,
            target=target,
            head_start=scenario.run.head_start,
        )
        for plan in plans
        for algorithm in _BOTH
    )
    rate = scenario.learning.learning_rate
    skews = {plan.objective: _skew_of(scenario, plan, counts) for plan in plans}
    return Outlook(
        constants=constants,
        clock=scenario.run.clock,
        horizon=horizon,
        target=target,
        learning_rate=rate,
        forecasts=forecasts,
        skews=skews,
        trials=tuple(trials),
        advice=advise(forecasts, rate, trials, head_start_trials, smoothness=constants.smoothness),
        head_start=scenario.run.head_start,
        head_start_trials=tuple(head_start_trials),
    )


def _check_counts(scenario: Scenario, counts: Counts) -> None:
    shape = np.shape(counts)
    if not isinstance(counts, np.ndarray) or len(shape) != 2 or shape[0] != scenario.num_clients:
        raise InputError(
            f"counts of shape {shape}: must be ({scenario.num_clients}, labels), as "
            "task.label_counts() of a TrainingLoss returns them"
        )


def _skew_of(scenario: Scenario, plan: Plan, counts: Counts) -> Skew:
    mixes = label_mixes(scenario, plan, counts)
    return Skew(tuple(mix.distance for mix in mixes), mean_skew(mixes))
