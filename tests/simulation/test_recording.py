"""Recordings against the literal slot-by-slot loop and the formulas of the convergence analysis.

With visits in the slot of departure the loop's clients train as in the paper's "equivalent view":
step number s in slot s. It is asked for every gradient, so what it asks with is what is to be kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import get_args

import numpy as np
import pytest
from fleets import Fleet
from literal import LiteralDirect, LiteralLoop
from quadratic import FloatArray, Quadratic, Watched
from runs import assert_equal_models, drawn, literal_run, timetables
from small_run import FOUR
from thinned import few_and_many

import flexpress
from flexpress import InputError, make_learner, make_plan
from flexpress.learning import Job, Vector
from flexpress.scenario import Algorithm
from flexpress.simulation import Recording, record, simulate
from flexpress.simulation.recording import _StepByStep

ALGORITHMS: tuple[Algorithm, ...] = get_args(Algorithm)
FEW_SEEDS = range(12)

seeds_by_default = few_and_many(range(30), range(30, 120))

each_algorithm = pytest.mark.parametrize("algorithm", ALGORITHMS)
with_and_without = pytest.mark.parametrize("head_start", [False, True])
"""With a head start, and for half of the fleets with x^0 on board."""


@dataclass(frozen=True, eq=False)
class Noted(Quadratic):
    """The loop's learner: every local model that it is asked about, and eta times its answer."""

    asked: dict[tuple[int | str, int], tuple[Vector, Vector]] = field(default_factory=dict)

    def gradient(self, client: int | str, x: Vector, local_step: int) -> Vector:
        g = super().gradient(client, x, local_step)
        assert (client, local_step) not in self.asked
        self.asked[client, local_step] = x, self.learning_rate * g
        return g


@dataclass(frozen=True, eq=False)
class Case:
    """A recording, and the same by the loop: models and eta g are (horizon, clients, params)."""

    fleet: Fleet
    found: Recording
    real: FloatArray
    local: FloatArray
    steps: FloatArray
    loop: LiteralLoop

    @property
    def periods(self) -> list[int]:
        """Of each client: Delta_k, or Delta, in slots."""
        async_ = self.found.trace.timetable.algorithm == "async"
        longest = max(self.fleet.slots)
        tours = [tour for tour in self.fleet.plan.transporters if tour.clients]
        return [
            tour.round_trip_slots if async_ else longest for tour in tours for _ in tour.clients
        ]


@cache
def case(seed: int, algorithm: Algorithm, *, head_start: bool = False) -> Case:
    """Kept, for several tests look at the same ones."""
    fleet, learner = drawn(seed, "slots", head_start=head_start)
    found = record(fleet.scenario, fleet.plan, learner, algorithm=algorithm, horizon=fleet.horizon)
    noted = Noted(**vars(learner))
    real, loop = literal_run(fleet, noted, algorithm)
    asked = [[noted.asked[i, s] for i in found.client_ids] for s in range(fleet.horizon)]
    local, steps = np.moveaxis(np.array(asked), 2, 0)
    return Case(fleet, found, real, local, steps, loop)


@with_and_without
@seeds_by_default
@each_algorithm
def test_the_global_model_at_every_slot(
    algorithm: Algorithm, seeds: range, head_start: bool
) -> None:
    for seed in seeds:
        both = case(seed, algorithm, head_start=head_start)
        assert_equal_models(both.found.real, both.real)


@with_and_without
@seeds_by_default
@each_algorithm
def test_every_step_of_every_client(algorithm: Algorithm, seeds: range, head_start: bool) -> None:
    """Also of the tours that come home after the horizon."""
    for seed in seeds:
        both = case(seed, algorithm, head_start=head_start)
        assert_equal_models(both.found.local, both.local)
        tolerance = 1e-12 * np.abs(both.local).max()  # x - (x - eta g) is as exact as x
        np.testing.assert_allclose(both.found.steps, both.steps, rtol=0, atol=tolerance)


@each_algorithm
def test_who_the_clients_are(algorithm: Algorithm) -> None:
    for seed in FEW_SEEDS:
        found, plan = case(seed, algorithm).found, case(seed, algorithm).fleet.plan
        assert sorted(map(str, found.client_ids)) == sorted(
            str(i) for tour in plan.transporters for i in tour.clients
        )
        for client, k in zip(found.client_ids, found.transporters, strict=True):
            assert client in plan.transporters[k - 1].clients
        assert list(found.transporters) == sorted(found.transporters)


@with_and_without
@seeds_by_default
@each_algorithm
def test_the_formula_of_the_real_sequence(
    algorithm: Algorithm, seeds: range, head_start: bool
) -> None:
    """x^t = x^0 - (1/N) sum_i sum_{s=0}^{phi_i(t)} eta g_i^s."""
    for seed in seeds:
        found = case(seed, algorithm, head_start=head_start).found
        expected = np.empty_like(found.real)
        for t, phi in enumerate(found.phi):
            sums = [found.steps[: last + 1, i].sum(axis=0) for i, last in enumerate(phi)]
            expected[t] = found.real[0] - np.sum(sums, axis=0) / len(sums)
        assert_equal_models(found.real, expected)


@seeds_by_default
@each_algorithm
def test_phi(algorithm: Algorithm, seeds: range) -> None:
    """All tours but the one under way and, with flights, the one before it."""
    lag = 1 if algorithm == "direct" else 2
    for seed in seeds:
        both = case(seed, algorithm)
        for t, phi in enumerate(both.found.phi):
            expected = [max(0, t // delta - lag + 1) * delta - 1 for delta in both.periods]
            assert phi.tolist() == expected


@seeds_by_default
@each_algorithm
def test_the_steps_that_are_received(algorithm: Algorithm, seeds: range) -> None:
    """As the loop's server counts them, also with x^0 on board."""
    for seed in seeds:
        both = case(seed, algorithm, head_start=True)
        ids = both.found.client_ids
        expected = np.zeros_like(both.found.received)
        for moment, upload in both.loop.server.received:
            expected[int(moment) :, ids.index(upload.client)] += upload.num_steps
        assert np.array_equal(both.found.received, expected)


@seeds_by_default
def test_the_bound_of_the_delay(seeds: range) -> None:
    """(t - 1) - phi_i(t) <= 2 Delta_k, as the paper says; in fact one less, and that is reached."""
    reached = False
    for seed in seeds:
        for algorithm in ("sync", "async"):
            both = case(seed, algorithm)
            slots = np.arange(both.fleet.horizon + 1)[:, None]
            delays = slots - 1 - both.found.phi  # (horizon + 1, clients)
            assert (delays >= -1).all()  # nothing is known before it is done
            assert (delays <= 2 * np.array(both.periods) - 1).all()
            reached |= bool((delays.max(axis=0) == 2 * np.array(both.periods) - 1).all())
    assert reached


@seeds_by_default
@each_algorithm
def test_local_models_start_anew_from_the_global_one(algorithm: Algorithm, seeds: range) -> None:
    """At 0, Delta_k, 2 Delta_k, ...; in between each step leads to the next. Both to the bit."""
    for seed in seeds:
        both = case(seed, algorithm)
        found = both.found
        after = found.local - found.steps  # of slot s: the local model that s + 1 begins with
        for i, delta in enumerate(both.periods):
            for s in range(both.fleet.horizon):
                expected = found.real[s] if s % delta == 0 else after[s - 1, i]
                assert np.array_equal(found.local[s, i], expected)


@with_and_without
@seeds_by_default
@each_algorithm
def test_the_virtual_sequence(algorithm: Algorithm, seeds: range, head_start: bool) -> None:
    """The one of a server that has every gradient at once, added up slot by slot."""
    for seed in seeds:
        both = case(seed, algorithm, head_start=head_start)
        v = [both.real[0]]
        for steps in both.steps:
            v.append(v[-1] - sum(steps) / len(steps))
        assert_equal_models(both.found.virtual, np.array(v))


@with_and_without
@seeds_by_default
@pytest.mark.parametrize("algorithm", ["sync", "direct"])
def test_the_averaged_model(algorithm: Algorithm, seeds: range, head_start: bool) -> None:
    """x^t whenever all have landed; a step of the mean gradient, one round late, in each slot."""
    moved = False
    for seed in seeds:
        both = case(seed, algorithm, head_start=head_start)
        if both.found.trace.timetable.preloaded:
            with pytest.raises(InputError, match=r"^run.preloaded = true: [^\n]* use `virtual`,"):
                _ = both.found.averaged
            continue
        averaged, delta = both.found.averaged, max(both.fleet.slots)
        late = delta if algorithm == "sync" else 0
        assert_equal_models(averaged[::delta], both.real[::delta])
        assert_equal_models(averaged[: late + 1], both.real[[0] * len(averaged[: late + 1])])
        falls = averaged[late:-1] - averaged[late + 1 :]
        expected = both.steps.mean(axis=1)[: len(falls)]
        tolerance = 1e-12 * np.abs(both.local).max()
        np.testing.assert_allclose(falls, expected, rtol=0, atol=tolerance)
        moved |= len(falls) > delta > 1
    assert moved


@seeds_by_default
def test_async_has_no_averaged_model(seeds: range) -> None:
    """But of one transporter, which is as good as sync."""
    ones = 0
    for seed in seeds:
        found = case(seed, "async").found
        if len(set(found.transporters)) > 1:
            with pytest.raises(
                InputError, match=r"^async with \d transporters: [^\n]*record sync$"
            ):
                _ = found.averaged
        else:
            ones += 1
            assert np.array_equal(found.averaged, case(seed, "sync").found.averaged)
    assert 0 < ones < len(seeds)


@with_and_without
@each_algorithm
def test_the_trace_is_that_of_a_plain_run(algorithm: Algorithm, head_start: bool) -> None:
    for seed in FEW_SEEDS:
        fleet, learner = drawn(seed, "slots", head_start=head_start)
        found = case(seed, algorithm, head_start=head_start).found.trace
        plain = simulate(
            fleet.scenario, fleet.plan, learner, algorithm=algorithm, horizon=fleet.horizon
        )
        assert found.timetable == plain.timetable
        assert (found.horizon, found.num_events) == (plain.horizon, plain.num_events)
        assert list(found.events()) == list(plain.events())
        assert [each.slot for each in found.metrics] == [each.slot for each in plain.metrics]
        losses = [each.loss for each in plain.metrics]
        assert [each.loss for each in found.metrics] == pytest.approx(losses, rel=1e-10)
        assert_equal_models(found.model, plain.model)
        assert np.array_equal(
            found.model, case(seed, algorithm, head_start=head_start).found.real[-1]
        )


def test_what_is_not_given_the_scenario_says() -> None:
    fleet, learner = drawn(5, "slots")
    scenario = fleet.scenario.replace(run={"algorithm": "async", "horizon": fleet.horizon})
    found = record(scenario, fleet.plan, learner)
    assert np.array_equal(found.steps, case(5, "async").found.steps)


def test_nobody_can_change_a_recording() -> None:
    found = case(3, "sync").found
    for array in (found.steps, found.local, found.real, found.received):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


@pytest.mark.parametrize("engine", ["fast", "torch"])
@each_algorithm
def test_nets(algorithm: Algorithm, engine: str) -> None:
    """The precision is theirs, and so are the mini-batches, each drawn for its step."""
    if engine == "torch":
        pytest.importorskip("torch")
    scenario = FOUR.replace(run={"algorithm": algorithm})
    plan = make_plan(scenario)
    learner = make_learner(scenario, engine=engine)  # type: ignore[arg-type]  # one of its engines
    found, plain = record(scenario, plan, learner), simulate(scenario, plan, learner)
    assert {each.dtype for each in (found.steps, found.local, found.real)} == {np.dtype("f4")}
    assert found.virtual.dtype == np.float64
    assert len(found.trace.updates) > 2
    assert np.abs(found.trace.model - plain.model).max() < 1e-6 < np.abs(found.steps).max()
    assert found.trace.metrics[-1].loss == pytest.approx(plain.metrics[-1].loss, rel=1e-5)
    for s in (0, 1, scenario.run.horizon - 1):
        jobs = [Job(i, found.local[s, j], s, 1) for j, i in enumerate(found.client_ids)]
        assert np.array_equal(found.steps[s], learner.train(jobs))


@each_algorithm
def test_the_quadratic_of_the_package(algorithm: Algorithm) -> None:
    for seed in FEW_SEEDS:
        fleet, _ = drawn(seed, "slots")
        ids, horizon = fleet.scenario.client_ids, fleet.horizon
        learner = flexpress.Quadratic.random(ids, params=4, seed=seed, spread=5.0, noise=2.0)
        loop = (LiteralDirect if algorithm == "direct" else LiteralLoop)(
            timetables(fleet),
            learner.initial_model(),
            lambda client, x, step: learner.sampled([client], x, [step])[0],  # noqa: B023  # used here
            learner.learning_rate,
            sync=algorithm != "async",
        )
        found = record(fleet.scenario, fleet.plan, learner, algorithm=algorithm, horizon=horizon)
        assert_equal_models(found.real, np.array(list(loop.models(horizon))))


def test_jobs_are_done_in_lockstep() -> None:
    _, learner = drawn(4, "slots")
    watched, start = Watched(learner), learner.initial_model()
    one, two, three = learner.client_ids[:3]
    stepwise = _StepByStep(watched, (three, one, two), 9)
    jobs = [Job(one, start, 5, 1), Job(two, start + 1, 0, 3), Job(three, start, 7, 2)]
    updates = stepwise.train(jobs)
    asked = [
        [(job.client, job.first_step, job.num_steps) for job in each] for each in watched.calls
    ]
    assert asked == [
        [(one, 5, 1), (two, 0, 1), (three, 7, 1)],
        [(two, 1, 1), (three, 8, 1)],
        [(two, 2, 1)],
    ]
    np.testing.assert_allclose(updates, learner.train(jobs), rtol=1e-12)
    assert np.array_equal(stepwise.local[5, 1], start)
    assert np.array_equal(stepwise.local[8, 0], start - stepwise.steps[7, 0])
