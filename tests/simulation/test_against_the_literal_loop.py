"""The simulator against the literal slot-by-slot loop, on hundreds of random fleets."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import ceil
from typing import get_args

import numpy as np
import pytest
from fleets import Fleet, plan_of, random_fleet
from quadratic import Quadratic, Regrouped
from runs import assert_equal_models, drawn, literal_run, pair, run, watch
from thinned import few_and_many
from timetable import drawn_in_slots, flying

from flexpress.learning import Vector
from flexpress.scenario import Algorithm, Clock
from flexpress.simulation import simulate

ALGORITHMS: tuple[Algorithm, ...] = get_args(Algorithm)
CLOCKS: tuple[Clock, ...] = get_args(Clock)
SEEDS = range(200)
FEW_SEEDS = range(20)

seeds_by_default = few_and_many(range(40), range(40, 200))

each_algorithm = pytest.mark.parametrize("algorithm", ALGORITHMS)
each_clock = pytest.mark.parametrize("clock", CLOCKS)


def test_the_fleets_are_of_every_kind() -> None:
    """Otherwise the tests below would say less than they seem to."""
    fleets = [drawn(seed, "slots")[0] for seed in SEEDS]
    assert {fleet.scenario.num_clients for fleet in fleets} == set(range(1, 13))
    assert {fleet.scenario.num_transporters for fleet in fleets} == set(range(1, 7))
    assert any(len(fleet.slots) < fleet.scenario.num_transporters for fleet in fleets)  # idle
    assert any(len(set(fleet.slots)) < len(fleet.slots) for fleet in fleets)  # ties
    assert any(max(fleet.slots) == 1 for fleet in fleets)
    assert any(max(fleet.slots) > 1 == min(fleet.slots) for fleet in fleets)
    assert any(fleet.horizon < min(fleet.slots) for fleet in fleets)  # nobody comes back
    assert any(len(set(fleet.slots)) >= 4 for fleet in fleets)
    kinds = {type(i) for fleet in fleets for i in fleet.scenario.client_ids}
    assert kinds == {int, str}


@seeds_by_default
@each_algorithm
def test_the_model_at_every_slot(algorithm: Algorithm, seeds: range) -> None:
    for seed in seeds:
        both = pair(seed, algorithm, "slots")
        assert_equal_models(both.found.models(both.fleet.horizon), both.expected)


@seeds_by_default
@each_algorithm
def test_the_model_at_every_slot_of_the_exact_clock(algorithm: Algorithm, seeds: range) -> None:
    """At the moment when the slot begins."""
    for seed in seeds:
        both = pair(seed, algorithm, "exact")
        assert_equal_models(both.found.models_by_seconds(both.fleet.horizon), both.expected)


@seeds_by_default
@each_clock
@each_algorithm
def test_the_slots_that_are_announced(algorithm: Algorithm, clock: Clock, seeds: range) -> None:
    """Slot 0, then the first slot to begin with what a landing brought; the first tour brings none.

    Whoever lands at one moment is announced once.
    """
    for seed in seeds:
        both = pair(seed, algorithm, clock)
        landings = sorted({moment for moment, _ in both.received})
        announced = [slot for slot, _ in both.found.updates]
        assert announced == [0, *(ceil(moment) for moment in landings)]


@each_clock
@each_algorithm
def test_offsets_never_change_the_model(algorithm: Algorithm, clock: Clock) -> None:
    """Neither the loop's, drawn at random, nor the simulator's, by tours flown backwards.

    With the exact clock they do change how many steps fall between two visits: there the loop has
    the plan's own, and the tours flown backwards are compared with it too.
    """
    for seed in FEW_SEEDS:
        fleet, learner = drawn(seed, clock)
        rng = np.random.default_rng(seed)
        backwards = flown_backwards(fleet)
        again = run(backwards, learner, algorithm)
        if clock == "exact":
            found = again.models_by_seconds(fleet.horizon)
            expected, _ = literal_run(backwards, learner, algorithm)
        else:
            found = again.models(fleet.horizon)
            assert backwards.slots == fleet.slots
            times = [drawn_in_slots(tour, rng, ordered=False) for tour in flying(fleet.plan)]
            expected, _ = literal_run(fleet, learner, algorithm, times)
        assert_equal_models(found, expected)


def flown_backwards(fleet: Fleet) -> Fleet:
    nodes = {client: node for node, client in enumerate(fleet.scenario.client_ids, start=1)}
    tours = [[nodes[client] for client in k.clients[::-1]] for k in fleet.plan.transporters]
    return replace(fleet, plan=plan_of(fleet.scenario, tours))


@seeds_by_default
@each_clock
@each_algorithm
def test_the_first_change(algorithm: Algorithm, clock: Clock, seeds: range) -> None:
    """Not before two round trips, or one with the ideal link; then at once."""
    for seed in seeds:
        both = pair(seed, algorithm, clock)
        slot = both.fleet.scenario.slot
        trips = [tour.round_trip / slot for tour in flying(both.fleet.plan)]
        if clock == "slots":
            trips = [float(delta) for delta in both.fleet.slots]
        delta = min(trips) if algorithm == "async" else max(trips)
        first = (1 if algorithm == "direct" else 2) * delta
        updates = both.found.trace.updates
        assert bool(updates) == (first <= both.fleet.horizon)
        if updates:
            assert updates[0].seconds == pytest.approx(first * slot, rel=1e-9)


@each_clock
@each_algorithm
def test_a_horizon_before_the_first_landing(algorithm: Algorithm, clock: Clock) -> None:
    """x stays x^0 and nobody trains for nothing."""
    for seed in FEW_SEEDS:
        fleet, learner = drawn(seed, clock)
        tours = 1 if algorithm == "direct" else 2
        delta = min(fleet.slots) if algorithm == "async" else max(fleet.slots)
        horizon = tours * (delta - 1) if clock == "exact" else tours * delta - 1
        if horizon:
            found = watch(fleet.scenario, fleet.plan, learner, algorithm, horizon)
            assert found.learner.jobs == []
            ((slot, model),) = found.updates
            assert slot == 0
            assert np.array_equal(model, learner.start)


@each_clock
@each_algorithm
def test_without_gradients_nothing_changes(algorithm: Algorithm, clock: Clock) -> None:
    for seed in FEW_SEEDS:
        fleet, learner = drawn(seed, clock)
        flat = replace(learner, curvatures=0 * learner.curvatures, noise=0 * learner.noise)
        for _, model in run(fleet, flat, algorithm).updates:
            assert np.array_equal(model, learner.start)


@each_clock
@each_algorithm
def test_grouping_changes_no_bit(algorithm: Algorithm, clock: Clock) -> None:
    for seed in FEW_SEEDS:
        both = pair(seed, algorithm, clock)
        regrouped = Regrouped(**vars(both.learner), rng=np.random.default_rng(seed))
        again = run(both.fleet, regrouped, algorithm).updates
        for (slot, model), (slot_before, before) in zip(again, both.found.updates, strict=True):
            assert slot == slot_before
            assert np.array_equal(model, before)


@each_algorithm
def test_models_that_were_announced_stay_as_they_were(algorithm: Algorithm) -> None:
    for seed in FEW_SEEDS:
        both, kept = pair(seed, algorithm, "slots"), list[Vector]()
        simulate(
            both.fleet.scenario,
            both.fleet.plan,
            both.learner,
            algorithm=algorithm,
            horizon=both.fleet.horizon,
            on_update=partial(keep, kept),
        )
        assert np.array_equal(kept, [model for _, model in both.found.updates])


def keep(kept: list[Vector], slot: int, model: Vector) -> None:
    kept.append(model)


@each_clock
@each_algorithm
def test_the_precision_is_the_learners(algorithm: Algorithm, clock: Clock) -> None:
    fleet = random_fleet(2).with_clock(clock)
    learner = Quadratic.drawn(fleet.scenario.client_ids, 3, dtype=np.float32)
    found = run(fleet, learner, algorithm)
    assert len(found.updates) > 2
    assert {model.dtype for _, model in found.updates} == {np.dtype(np.float32)}
    assert {job.model.dtype for job in found.learner.jobs} == {np.dtype(np.float32)}
