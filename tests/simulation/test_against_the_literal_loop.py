"""The simulator against the literal slot-by-slot loop, on hundreds of random fleets."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import get_args

import numpy as np
import pytest
from fleets import Fleet, plan_of, random_fleet
from quadratic import Quadratic, Regrouped
from runs import assert_equal_models, literal_run, run, watch
from timetable import Moment, drawn_in_slots, flying

from flexpress.learning import Job, Vector
from flexpress.scenario import Algorithm, Clock
from flexpress.simulation import simulate

ALGORITHMS: tuple[Algorithm, ...] = get_args(Algorithm)
CLOCKS: tuple[Clock, ...] = get_args(Clock)
SEEDS = range(240)
FEW_SEEDS = range(1000, 1060)

each_algorithm = pytest.mark.parametrize("algorithm", ALGORITHMS)
each_clock = pytest.mark.parametrize("clock", CLOCKS)


def fleet_of(seed: int, clock: Clock = "slots") -> tuple[Fleet, Quadratic]:
    fleet = random_fleet(seed).with_clock(clock)
    return fleet, Quadratic.drawn(fleet.scenario.client_ids, seed)


def test_the_fleets_are_of_every_kind() -> None:
    """Otherwise the tests below would say less than they seem to."""
    fleets = [random_fleet(seed) for seed in SEEDS]
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


@each_clock
@each_algorithm
def test_the_model_at_every_slot(algorithm: Algorithm, clock: Clock) -> None:
    for seed in SEEDS:
        fleet, learner = fleet_of(seed, clock)
        expected, _ = literal_run(fleet, learner, algorithm)
        assert_equal_models(run(fleet, learner, algorithm).models(fleet.horizon), expected)


@each_algorithm
def test_the_model_is_announced_when_a_landing_brings_something(algorithm: Algorithm) -> None:
    """Once a slot, whoever lands in it; slot 0 shows the initial model; the first tour nothing."""
    for seed in SEEDS:
        fleet, learner = fleet_of(seed)
        _, loop = literal_run(fleet, learner, algorithm)
        announced = [slot for slot, _ in run(fleet, learner, algorithm).updates]
        assert announced == [0, *sorted({moment for moment, _ in loop.server.received})]


@each_clock
@each_algorithm
def test_what_is_trained(algorithm: Algorithm, clock: Clock) -> None:
    """All that lands by the horizon, each job once, from the right model; and nothing else."""
    for seed in SEEDS:
        fleet, learner = fleet_of(seed, clock)
        _, loop = literal_run(fleet, learner, algorithm)
        expected = {
            (upload.client, upload.first_step): upload
            for moment, upload in loop.server.received
            if moment <= fleet.horizon and upload.num_steps
        }
        jobs = [job for job in run(fleet, learner, algorithm).learner.jobs if job.num_steps]
        found = {(job.client, job.first_step): job for job in jobs}
        assert len(found) == len(jobs)
        assert found.keys() == expected.keys()
        for key, job in found.items():
            assert job.num_steps == expected[key].num_steps
        if jobs:
            models = np.array([expected[key].model for key in found])
            assert_equal_models(np.array([job.model for job in found.values()]), models)


@each_clock
@each_algorithm
def test_the_local_steps_of_a_client_follow_each_other(algorithm: Algorithm, clock: Clock) -> None:
    for seed in FEW_SEEDS:
        fleet, learner = fleet_of(seed, clock)
        done: dict[int | str, int] = {}
        for job in sorted(run(fleet, learner, algorithm).learner.jobs, key=first_and_last):
            assert job.first_step == done.get(job.client, 0)
            done[job.client] = job.first_step + job.num_steps


def first_and_last(job: Job) -> tuple[int, int]:
    return job.first_step, job.num_steps


@each_algorithm
def test_sums_of_steps(algorithm: Algorithm) -> None:
    """With round trips of Delta slots, T slots bring floor(T / Delta) - 1 tours of Delta steps."""
    for seed in FEW_SEEDS:
        fleet, learner = fleet_of(seed)
        total = dict.fromkeys(fleet.scenario.client_ids, 0)
        for job in run(fleet, learner, algorithm).learner.jobs:
            total[job.client] += job.num_steps
        for tour in flying(fleet.plan):
            delta = tour.round_trip_slots if algorithm == "async" else max(fleet.slots)
            num_tours = fleet.horizon // delta - (0 if algorithm == "direct" else 1)
            assert {total[client] for client in tour.clients} == {delta * max(0, num_tours)}


@each_clock
@each_algorithm
def test_groups_are_as_large_as_causality_allows(algorithm: Algorithm, clock: Clock) -> None:
    """The learner is called when a landing needs it, then with all whose start model is known."""
    for seed in SEEDS:
        fleet, learner = fleet_of(seed, clock)
        _, loop = literal_run(fleet, learner, algorithm)
        lag = 1 if algorithm == "direct" else 2
        periods = {c.id: k.period for k in loop.transporters for _, c in k.visits}
        needs = [
            (moment, moment - lag * periods[upload.client])
            for moment, upload in loop.server.received
            if moment <= fleet.horizon and upload.num_steps
        ]
        calls = run(fleet, learner, algorithm).learner.calls
        asked = [call for call in calls if any(job.num_steps for job in call)]
        assert len(asked) == fewest_calls(needs)


def fewest_calls(needs: list[tuple[Moment, Moment]]) -> int:
    """Of pairs (landing, departure with the start model): late, and then all that have begun."""
    calls: int = 0
    trained_until: Moment = -1
    for landing, start in sorted(needs):
        if start > trained_until:
            calls, trained_until = calls + 1, max(s for _, s in needs if s < landing)
    return calls


@each_algorithm
def test_offsets_never_change_the_model(algorithm: Algorithm) -> None:
    """Neither the loop's, drawn at random, nor the simulator's, by tours flown backwards."""
    for seed in FEW_SEEDS:
        fleet, learner = fleet_of(seed)
        rng = np.random.default_rng(seed)
        found = run(fleet, learner, algorithm).models(fleet.horizon)
        for _ in range(2):
            times = [drawn_in_slots(tour, rng, ordered=False) for tour in flying(fleet.plan)]
            assert_equal_models(found, literal_run(fleet, learner, algorithm, times)[0])
        backwards = reversed_fleet(fleet)
        if backwards.slots == fleet.slots:
            again = run(backwards, learner, algorithm).models(fleet.horizon)
            assert_equal_models(again, found)


def reversed_fleet(fleet: Fleet) -> Fleet:
    nodes = {client: node for node, client in enumerate(fleet.scenario.client_ids, start=1)}
    tours = [[nodes[client] for client in k.clients[::-1]] for k in fleet.plan.transporters]
    return replace(fleet, plan=plan_of(fleet.scenario, tours))


@each_clock
@each_algorithm
def test_the_first_change(algorithm: Algorithm, clock: Clock) -> None:
    """Not before two round trips, at once with the ideal link; then it does change."""
    for seed in FEW_SEEDS:
        fleet, learner = fleet_of(seed, clock)
        seconds = [tour.round_trip for tour in flying(fleet.plan)]
        if clock == "slots":
            seconds = [delta * fleet.scenario.slot for delta in fleet.slots]
        delta = min(seconds) if algorithm == "async" else max(seconds)
        models = run(fleet, learner, algorithm).models(fleet.horizon)
        changed = np.flatnonzero((models != learner.start).any(axis=1))
        first = (1 if algorithm == "direct" else 2) * delta / fleet.scenario.slot
        assert all(t >= first * (1 - 1e-12) for t in changed)
        assert len(changed) > 0 or fleet.horizon < first or clock == "exact"


@each_clock
@each_algorithm
def test_a_horizon_before_the_first_landing(algorithm: Algorithm, clock: Clock) -> None:
    """x stays x^0 and nobody trains for nothing."""
    for seed in FEW_SEEDS:
        fleet, learner = fleet_of(seed, clock)
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
        fleet, learner = fleet_of(seed, clock)
        flat = replace(learner, curvatures=0 * learner.curvatures, noise=0 * learner.noise)
        for _, model in run(fleet, flat, algorithm).updates:
            assert np.array_equal(model, learner.start)


@each_clock
@each_algorithm
def test_grouping_changes_no_bit(algorithm: Algorithm, clock: Clock) -> None:
    for seed in FEW_SEEDS:
        fleet, learner = fleet_of(seed, clock)
        regrouped = Regrouped(**vars(learner), rng=np.random.default_rng(seed))
        plain = run(fleet, learner, algorithm).updates
        again = run(fleet, regrouped, algorithm).updates
        assert [slot for slot, _ in again] == [slot for slot, _ in plain]
        for (_, found), (_, expected) in zip(again, plain, strict=True):
            assert np.array_equal(found, expected)


@each_algorithm
def test_models_that_were_announced_stay_as_they_were(algorithm: Algorithm) -> None:
    for seed in FEW_SEEDS:
        fleet, learner = fleet_of(seed)
        kept: list[Vector] = []
        simulate(
            fleet.scenario,
            fleet.plan,
            learner,
            algorithm=algorithm,
            horizon=fleet.horizon,
            on_update=partial(keep, kept),
        )
        copies = [model for _, model in run(fleet, learner, algorithm).updates]
        assert np.array_equal(kept, copies)


def keep(kept: list[Vector], slot: int, model: Vector) -> None:
    kept.append(model)


@each_clock
@each_algorithm
def test_the_precision_is_the_learners(algorithm: Algorithm, clock: Clock) -> None:
    fleet = random_fleet(1000).with_clock(clock)
    learner = Quadratic.drawn(fleet.scenario.client_ids, 3, dtype=np.float32)
    found = run(fleet, learner, algorithm)
    assert {model.dtype for _, model in found.updates} == {np.dtype(np.float32)}
    assert {job.model.dtype for job in found.learner.jobs} <= {np.dtype(np.float32)}
