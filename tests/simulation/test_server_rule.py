"""The server divides by all clients, as in the paper; for experiments, by those that landed."""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import get_args

import numpy as np
import pytest
from literal import LiteralLoop
from runs import assert_equal_models, drawn, timetables

from flexpress.arrays import FloatArray
from flexpress.scenario import Algorithm, Clock
from flexpress.simulation.events import Update
from flexpress.simulation.simulate import ServerRule, Simulation

SEEDS = range(30)


def models(seed: int, algorithm: Algorithm, clock: Clock, rule: ServerRule) -> FloatArray:
    """x at every slot, by the simulator."""
    fleet, learner = drawn(seed, clock)
    run = {"algorithm": algorithm, "horizon": fleet.horizon}
    simulation = Simulation(fleet.scenario.replace(run=run), fleet.plan, learner, rule)
    found = np.array([learner.initial_model()] * (fleet.horizon + 1))
    for event in simulation.play():
        if isinstance(event, Update):
            exactly = ceil(Fraction(event.seconds) / Fraction(fleet.scenario.slot))
            since = event.slot if clock == "slots" else exactly
            found[since:] = simulation.model
    return found


@pytest.mark.parametrize("clock", get_args(Clock))
@pytest.mark.parametrize("algorithm", ["sync", "async"])
def test_by_landed_as_the_literal_loop_does(algorithm: Algorithm, clock: Clock) -> None:
    for seed in SEEDS:
        fleet, learner = drawn(seed, clock)
        loop = LiteralLoop(
            timetables(fleet),
            learner.initial_model(),
            learner.gradient,
            learner.learning_rate,
            sync=algorithm == "sync",
        )
        loop.server.by_landed = True
        expected = np.array(list(loop.models(fleet.horizon)))
        assert_equal_models(models(seed, algorithm, clock, "landed"), expected)


@pytest.mark.parametrize("clock", get_args(Clock))
def test_sync_is_the_same_under_both_rules(clock: Clock) -> None:
    """Bit for bit: all clients land together."""
    for seed in SEEDS:
        paper, other = (models(seed, "sync", clock, rule) for rule in get_args(ServerRule))
        np.testing.assert_array_equal(paper, other)


def test_async_is_not() -> None:
    differ = 0
    for seed in SEEDS:
        paper, other = (models(seed, "async", "slots", rule) for rule in get_args(ServerRule))
        differ += not np.array_equal(paper, other)
    assert differ > 5  # in many of these fleets nothing lands twice, or all land together
