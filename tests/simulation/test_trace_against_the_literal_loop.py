"""What the Trace tells, against the books of the literal loop."""

from __future__ import annotations

from math import floor
from typing import get_args

import numpy as np
import pytest
from fleets import Fleet
from runs import drawn, literal_run, pair, real_timetables, run
from timetable import flying

from flexpress.scenario import Algorithm, Clock

SEEDS = range(40)
FLYING: tuple[Algorithm, ...] = ("sync", "async")

each_flying = pytest.mark.parametrize("algorithm", FLYING)
each_algorithm = pytest.mark.parametrize("algorithm", get_args(Algorithm))
each_clock = pytest.mark.parametrize("clock", get_args(Clock))


@pytest.mark.parametrize("head_start", [False, True])
@each_clock
@each_flying
def test_visits(algorithm: Algorithm, clock: Clock, head_start: bool) -> None:
    """When, whom, the versions of all three models involved, and the steps in between."""
    for seed in SEEDS:
        fleet, learner = drawn(seed, clock, head_start=head_start)
        _, loop = literal_run(fleet, learner, algorithm, real_timetables(fleet))
        expected = [
            (
                floor(meeting.moment),
                meeting.client,
                meeting.version,
                meeting.server_version - meeting.version,
                meeting.upload.version if meeting.upload else None,
                meeting.upload.num_steps if meeting.upload else 0,
            )
            for meeting in loop.meetings
            if meeting.moment <= fleet.horizon
        ]
        found = [
            (v.slot, v.client, v.version, v.staleness, v.trained_from, v.steps)
            for v in pair(seed, algorithm, clock, head_start=head_start).found.trace.visits
        ]
        assert sorted(found, key=str) == sorted(expected, key=str)


@each_flying
def test_seconds_of_visits(algorithm: Algorithm) -> None:
    """By the exact clock those of the plan: tours follow each other without a break."""
    for seed in SEEDS:
        both = pair(seed, algorithm, "exact")
        tours = {client: tour for tour in flying(both.fleet.plan) for client in tour.clients}
        longest = max(tour.round_trip for tour in tours.values())
        for visit in both.found.trace.visits:
            tour = tours[visit.client]
            period = longest if algorithm == "sync" else tour.round_trip
            arrival = tour.arrivals[tour.clients.index(visit.client)]
            assert visit.seconds == pytest.approx(visit.tour * period + arrival, rel=1e-9)


@each_clock
@each_algorithm
def test_measurements(algorithm: Algorithm, clock: Clock) -> None:
    """Every third slot from 0 on, and at the horizon: the loss of x at that slot."""
    for seed in SEEDS:
        both = pair(seed, algorithm, clock)
        scenario = both.fleet.scenario.replace(run={"eval_every": 3})
        fleet = Fleet(scenario, both.fleet.plan, both.fleet.horizon)
        metrics = run(fleet, both.learner, algorithm).trace.metrics
        slots = sorted({*range(0, fleet.horizon + 1, 3), fleet.horizon})
        assert [measured.slot for measured in metrics] == slots
        for measured in metrics:
            assert measured.seconds == pytest.approx(measured.slot * scenario.slot, rel=1e-9)
            loss, accuracy = both.learner.evaluate(both.expected[measured.slot])
            assert measured.loss == pytest.approx(loss, rel=1e-9)
            assert measured.accuracy == pytest.approx(accuracy, rel=1e-9)


@each_clock
@each_algorithm
def test_the_last_model(algorithm: Algorithm, clock: Clock) -> None:
    for seed in SEEDS:
        found = pair(seed, algorithm, clock).found
        assert np.array_equal(found.trace.model, found.updates[-1][1])


@each_clock
@each_flying
def test_landings(algorithm: Algorithm, clock: Clock) -> None:
    """Tours that have ended by the horizon, the energy of each, and the wait for the slowest."""
    for seed in SEEDS:
        both = pair(seed, algorithm, clock)
        fleet, all_landings = both.fleet, both.found.trace.landings
        seconds = [
            tour.round_trip_slots * fleet.scenario.slot if clock == "slots" else tour.round_trip
            for tour in fleet.plan.transporters
        ]
        for k, tour in enumerate(fleet.plan.transporters):
            landings = [landing for landing in all_landings if landing.transporter == k + 1]
            if not tour.clients:
                assert landings == []
                continue
            period = max(seconds) if algorithm == "sync" else seconds[k]
            waiting = period - seconds[k]
            num_tours = floor(
                (fleet.horizon * fleet.scenario.slot + waiting) / period * (1 + 1e-12)
            )
            assert len(landings) == num_tours
            for number, landing in enumerate(landings):
                ended = number * period + seconds[k]
                assert landing.seconds == pytest.approx(ended, rel=1e-9)
                assert landing.waiting == pytest.approx(waiting, rel=1e-9, abs=1e-9)
                assert landing.energy == tour.energy
