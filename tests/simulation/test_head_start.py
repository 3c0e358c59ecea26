"""Head start and clients with x^0 on board, against the literal loop on hundreds of fleets."""

from __future__ import annotations

from collections import Counter
from math import ceil
from typing import get_args

import numpy as np
import pytest
from runs import Pair, assert_equal_models, drawn, pair
from timetable import Moment

from flexpress.scenario import Algorithm, Clock

FLYING: tuple[Algorithm, ...] = ("sync", "async")
SEEDS = range(200)

each_flying = pytest.mark.parametrize("algorithm", FLYING)
each_algorithm = pytest.mark.parametrize("algorithm", get_args(Algorithm))
each_clock = pytest.mark.parametrize("clock", get_args(Clock))


def both_of(seed: int, algorithm: Algorithm, clock: Clock) -> Pair:
    return pair(seed, algorithm, clock, head_start=True)


def test_the_fleets_are_of_every_kind() -> None:
    """Otherwise the tests below would say less than they seem to."""
    fleets = [drawn(seed, "exact", head_start=True)[0] for seed in SEEDS]
    kinds = Counter(
        (fleet.scenario.run.head_start, fleet.scenario.run.preloaded) for fleet in fleets
    )
    for preloaded in (False, True):
        assert min(kinds[gamma, preloaded] for gamma in (0.0, 1.0)) >= 5
        assert sum(0 < gamma < 1 and there == preloaded for gamma, there in kinds) > 50
    headed = [fleet for fleet in fleets if fleet.scenario.run.head_start]
    assert sum(len(set(fleet.slots)) >= 3 for fleet in headed) > 10
    for preloaded in (False, True):  # some tours take less than a slot, so some bring no steps
        short = [
            tour.round_trip < fleet.scenario.slot / 2
            for fleet in headed
            for tour in fleet.plan.transporters
            if tour.clients and fleet.scenario.run.preloaded == preloaded
        ]
        assert sum(short) > 5


@each_algorithm
def test_the_model_at_every_slot(algorithm: Algorithm) -> None:
    for seed in SEEDS:
        both = both_of(seed, algorithm, "slots")
        assert_equal_models(both.found.models(both.fleet.horizon), both.expected)


@each_algorithm
def test_the_model_at_every_slot_of_the_exact_clock(algorithm: Algorithm) -> None:
    for seed in SEEDS:
        both = both_of(seed, algorithm, "exact")
        assert_equal_models(both.found.models_by_seconds(both.fleet.horizon), both.expected)


@each_clock
@each_flying
def test_what_lands(algorithm: Algorithm, clock: Clock) -> None:
    """When, whose, and the versions of the models that were trained.

    With x^0 on board the first landing brings something already.
    """
    for seed in SEEDS:
        both = both_of(seed, algorithm, clock)
        tours, landings = both.fleet.plan.transporters, dict[Moment, set[tuple[int, int]]]()
        carriers = {i: k for k, tour in enumerate(tours, start=1) for i in tour.clients}
        for moment, upload in both.received:
            who = carriers[upload.client], upload.version
            landings.setdefault(moment, set()).add(who)
        updates = both.found.trace.updates
        assert [update.slot for update in updates] == [ceil(moment) for moment in landings]
        for update, expected in zip(updates, landings.values(), strict=True):
            assert {
                (part.transporter, part.trained_from) for part in update.contributions
            } == expected


@each_clock
@each_flying
def test_tours_and_staleness_of_contributions(algorithm: Algorithm, clock: Clock) -> None:
    """The first is of tour -1 if clients have x^0 on board; then tour by tour."""
    for seed in SEEDS:
        both = both_of(seed, algorithm, clock)
        first = -1 if both.fleet.scenario.run.preloaded else 0
        following = dict.fromkeys(range(1, both.fleet.scenario.num_transporters + 1), first)
        for version, update in enumerate(both.found.trace.updates, start=1):
            assert update.version == version
            for part in update.contributions:
                assert part.tour == following[part.transporter]
                assert part.staleness == version - 1 - part.trained_from
                following[part.transporter] += 1


@each_clock
@each_flying
def test_every_job_once_and_none_in_vain(algorithm: Algorithm, clock: Clock) -> None:
    """All that lands by the horizon, and from the model with its head start."""
    for seed in SEEDS:
        both = both_of(seed, algorithm, clock)
        uploads = [upload for _, upload in both.received if upload.num_steps]
        expected = {(u.client, u.first_step, u.num_steps): u.start for u in uploads}
        jobs = both.found.learner.jobs
        found = {(job.client, job.first_step, job.num_steps): job.model for job in jobs}
        assert len(found) == len(jobs)
        assert found.keys() == expected.keys()
        if jobs:
            starts = np.array([expected[key] for key in found])
            assert_equal_models(np.array(list(found.values())), starts)


@each_clock
def test_an_ideal_link_has_neither(clock: Clock) -> None:
    """To the bit: there is no late update, and nobody who waits for a first visit."""
    for seed in range(20):
        found, plain = both_of(seed, "direct", clock).found, pair(seed, "direct", clock).found
        assert list(found.trace.events()) == list(plain.trace.events())
        assert found.trace.metrics == plain.trace.metrics
        assert found.trace.model.tobytes() == plain.trace.model.tobytes()
