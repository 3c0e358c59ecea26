"""Laziness: what the simulator asks its learner for, against the literal server's books."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from runs import assert_equal_models, pair
from thinned import few_and_many
from timetable import Moment, flying

from flexpress.learning import Job
from flexpress.scenario import Algorithm, Clock

seeds_by_default = few_and_many(range(40), range(40, 200))
each_algorithm = pytest.mark.parametrize("algorithm", get_args(Algorithm))
each_clock = pytest.mark.parametrize("clock", get_args(Clock))


@seeds_by_default
@each_clock
@each_algorithm
def test_every_job_once_and_none_in_vain(algorithm: Algorithm, clock: Clock, seeds: range) -> None:
    """All that lands by the horizon, from the right model; a job of no steps needs no training."""
    for seed in seeds:
        both = pair(seed, algorithm, clock)
        uploads = [upload for _, upload in both.received if upload.num_steps]
        expected = {(upload.client, upload.first_step): upload for upload in uploads}
        jobs = [job for job in both.found.learner.jobs if job.num_steps]
        found = {(job.client, job.first_step): job for job in jobs}
        assert len(found) == len(jobs)
        assert found.keys() == expected.keys()
        for key, job in found.items():
            assert job.num_steps == expected[key].num_steps
        if jobs:
            models = np.array([expected[key].start for key in found])
            assert_equal_models(np.array([job.model for job in found.values()]), models)


@seeds_by_default
@each_clock
@each_algorithm
def test_the_local_steps_of_a_client_follow_each_other(
    algorithm: Algorithm, clock: Clock, seeds: range
) -> None:
    for seed in seeds:
        done: dict[int | str, int] = {}
        jobs = pair(seed, algorithm, clock).found.learner.jobs
        for job in sorted(jobs, key=first_and_last):
            assert job.first_step == done.get(job.client, 0)
            done[job.client] = job.first_step + job.num_steps


def first_and_last(job: Job) -> tuple[int, int]:
    return job.first_step, job.num_steps


@seeds_by_default
@each_algorithm
def test_sums_of_steps(algorithm: Algorithm, seeds: range) -> None:
    """With round trips of Delta slots, T slots bring floor(T / Delta) - 1 tours of Delta steps."""
    for seed in seeds:
        both = pair(seed, algorithm, "slots")
        total = dict.fromkeys(both.fleet.scenario.client_ids, 0)
        for job in both.found.learner.jobs:
            total[job.client] += job.num_steps
        for tour in flying(both.fleet.plan):
            delta = tour.round_trip_slots if algorithm == "async" else max(both.fleet.slots)
            num_tours = both.fleet.horizon // delta - (0 if algorithm == "direct" else 1)
            assert {total[client] for client in tour.clients} == {delta * max(0, num_tours)}


@seeds_by_default
@each_clock
@each_algorithm
def test_groups_are_as_large_as_causality_allows(
    algorithm: Algorithm, clock: Clock, seeds: range
) -> None:
    """The learner is called when a landing needs it, then with all whose start model is known."""
    lag = 1 if algorithm == "direct" else 2
    for seed in seeds:
        both = pair(seed, algorithm, clock)
        periods = {client.id: k.period for k in both.loop.transporters for _, client in k.visits}
        needs = [
            (moment, moment - lag * periods[upload.client])
            for moment, upload in both.received
            if upload.num_steps
        ]
        assert len(both.found.learner.calls) == fewest_calls(needs)


def fewest_calls(needs: list[tuple[Moment, Moment]]) -> int:
    """Of pairs (landing, departure with the start model): late, and then all that have begun."""
    num_calls = 0
    trained_until: Moment = -1
    for landing, start in sorted(needs):
        if start > trained_until:
            num_calls += 1
            trained_until = max(departure for _, departure in needs if departure < landing)
    return num_calls
