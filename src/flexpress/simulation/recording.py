"""The real and the virtual sequence: what clients did in every slot, and what the server knew.

The simulator trains whole jobs and keeps nothing of them. To record, `record` passes it a learner
that does every job step by step and keeps the steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from flexpress.arrays import FloatArray, IntArray
from flexpress.callbacks import never
from flexpress.errors import DivergedError, InputError
from flexpress.learning import Job, Learner, Vector
from flexpress.learning.job import check_learner, first_model
from flexpress.learning.summing import returned
from flexpress.planning import Plan
from flexpress.planning.plan import ClientId
from flexpress.planning.plan_file import check_plan
from flexpress.scenario import Algorithm, Scenario
from flexpress.simulation.events import Event, Update
from flexpress.simulation.head_start import LastUpdates
from flexpress.simulation.simulate import Simulation, run
from flexpress.simulation.trace import Trace

_MOST_BYTES = 4 * 2**30
"""Limit for the steps and the local models together."""


@dataclass(frozen=True, eq=False)
class Recording:
    """A simulation slot by slot, in the paper's "equivalent view" (Aligning Client Training).

    In this view client i does its local step s in slot s, and starts again from x^t at t = 0,
    Delta_k, 2 Delta_k, ...; the global model is the same as if it did so when it is visited. With a
    head start it starts from x^t - gamma u, u being its update since the start before. Clients with
    x^0 on board need no such view: they do train from slot 0, and start again when they are
    visited. Arrays are read-only, and in the learner's precision unless noted.
    """

    trace: Trace  # of the simulation to the horizon
    client_ids: tuple[ClientId, ...]  # transporter by transporter, in the order of the plan's tours
    transporters: tuple[int, ...]  # of each client: 1, 2, ...
    steps: Vector  # (horizon, clients, params): eta g_i^s, by which the local model fell in slot s
    local: Vector  # (horizon, clients, params): x_i^s, at which that gradient was taken
    real: Vector  # (horizon + 1, params): x^t
    received: IntArray  # (horizon + 1, clients): how many steps of each are in x^t

    @property
    def head_start(self) -> float:
        """gamma; 0 in the paper."""
        return self.trace.head_start

    @property
    def phi(self) -> IntArray:
        """phi_i(t), the last step of client i that is in x^t: (horizon + 1, clients); -1: none."""
        return self.received - 1

    @cached_property
    def virtual(self) -> FloatArray:
        """v^t = x^0 - (1/N) sum_i sum_{s<t} eta g_i^s: uploads that take no time, in float64.

        (horizon + 1, params).
        """
        falls = self.steps.mean(axis=1, dtype=np.float64)
        start = self.real[:1].astype(np.float64)
        return np.concatenate([start, start - np.cumsum(falls, axis=0)])

    @property
    def averaged(self) -> FloatArray:
        """The "averaged global model" of the proof of Theorem 1: v^{t-Delta}, x^0 up to Delta.

        It equals x^t whenever all have just landed. InputError for async with more than one
        transporter, and if clients had x^0 on board: then x^t has more steps of some than of
        others. With the ideal link of `direct` nothing is delayed, and it is v^t.
        """
        convoys = self.trace.timetable.convoys
        if len(convoys) > 1:
            raise InputError(
                f"async with {len(convoys)} transporters: an averaged model exists only where all "
                "leave together; use `virtual`, or record sync"
            )
        if self.trace.timetable.preloaded:
            raise InputError(
                "run.preloaded = true: an averaged model exists only where all clients bring the "
                "same number of steps; use `virtual`, or record with run.preloaded = false"
            )
        delay = (convoys[0].lag - 1) * convoys[0].period
        slots = np.arange(len(self.virtual))
        return self.virtual[np.maximum(slots - delay, 0)]


def record(
    scenario: Scenario,
    plan: Plan,
    learner: Learner,
    *,
    algorithm: Algorithm | None = None,
    horizon: int | None = None,
) -> Recording:
    """Simulate as `simulate` does, and keep every local step and every local model.

    For small problems: it keeps 2 x slots x clients x parameters numbers, at most 4 GiB, and calls
    the learner for each slot. Only the clock in whole slots has an aligned view. Steps before the
    horizon are kept even if the server receives them after it.
    DivergedError if the loss or a local model is no longer finite.
    """
    check_plan(scenario, plan)
    check_learner(learner)
    changes = {"algorithm": algorithm, "horizon": horizon}
    given = {key: value for key, value in changes.items() if value is not None}
    scenario = scenario.replace(run=given)
    carriers = {i: k for k, tour in enumerate(plan.transporters, start=1) for i in tour.clients}
    ids, numbers = tuple(carriers), tuple(carriers.values())
    _check(scenario, len(ids), first_model(learner))
    stepwise = _StepByStep(learner, ids, scenario.run.horizon)
    simulation = Simulation(scenario, plan, stepwise)
    known = [(0, simulation.model)]

    def note(event: Event) -> None:
        if isinstance(event, Update):
            known.append((event.slot, simulation.model))

    trace = run(simulation, on_event=note)
    real = _at_every_slot(known, trace.horizon)
    received = _received_steps(trace, numbers)
    with np.errstate(over="ignore", invalid="ignore"):  # checked right below
        if not np.isfinite(_train_to_the_horizon(simulation, ids)).all():
            raise _diverged(scenario, trace)
    for array in (stepwise.steps, stepwise.local, real, received):
        array.flags.writeable = False
    return Recording(trace, ids, numbers, stepwise.steps, stepwise.local, real, received)


def _check(scenario: Scenario, num_clients: int, model: Vector) -> None:
    """InputError, before anything is trained, for what cannot be recorded."""
    if scenario.run.clock != "slots":
        raise InputError(
            f'run.clock = "{scenario.run.clock}": a recording needs whole slots; '
            'use run.clock = "slots"'
        )
    horizon, per_slot = scenario.run.horizon, 2 * num_clients * model.nbytes
    if horizon * per_slot > _MOST_BYTES:
        raise InputError(
            f"{horizon} slots of {num_clients} clients with {model.size} parameters take "
            f"{horizon * per_slot / 2**30:.1f} GiB: must be at most {_MOST_BYTES / 2**30:g} GiB; "
            f"record fewer slots, up to {_MOST_BYTES // per_slot}, or a smaller model"
        )


def _at_every_slot(known: list[tuple[int, Vector]], horizon: int) -> Vector:
    """x^0, ..., x^horizon: the last model known at each slot."""
    slots = [slot for slot, _ in known]
    models = np.array([model for _, model in known])
    return np.repeat(models, np.diff([*slots, horizon + 1]), axis=0)


def _received_steps(trace: Trace, transporters: tuple[int, ...]) -> IntArray:
    """Counted from the updates of the trace: the timetable knows the steps of each tour."""
    timetable = trace.timetable
    routes = {
        route.transporter: (each, route) for each in timetable.convoys for route in each.routes
    }
    brought = np.zeros((trace.horizon + 1, len(transporters)), dtype=np.int64)
    for update in trace.updates:
        for part in update.contributions:
            convoy, route = routes[part.transporter]
            steps = [timetable.steps(convoy, met, part.tour)[1] for met in route.offsets]
            brought[update.slot, np.equal(transporters, part.transporter)] += steps
    return brought.cumsum(axis=0)


def _train_to_the_horizon(simulation: Simulation, clients: tuple[ClientId, ...]) -> Vector:
    """Do the steps before the horizon that are merged after it; the last update of each client.

    Tour by tour, since a tour with a head start needs the update before.
    """
    deliveries, horizon = simulation.deliveries, simulation.scenario.run.horizon
    last = deliveries.last_updates or LastUpdates(0.0, clients, simulation.model)
    under_way = [key for key, delivery in deliveries.under_way.items() if not delivery.trained]
    for tour in sorted({tour for _, tour in under_way}):
        jobs = (job for key in under_way if key[1] == tour for job in deliveries.jobs(key))
        begun = (job for job in jobs if job.num_steps and job.first_step < horizon)
        cut = (
            replace(job, num_steps=min(job.num_steps, horizon - job.first_step)) for job in begun
        )
        last.train(simulation.learner, ((tour, job) for job in cut), never)
    return last.updates


def _diverged(scenario: Scenario, trace: Trace) -> DivergedError:
    rate = scenario.learning.learning_rate
    return DivergedError(
        f"{scenario.run.algorithm}: a local model is no longer finite before slot {trace.horizon}; "
        f"lower learning.learning_rate, which is {rate:g}",
        trace,
    )


class _StepByStep:
    """A learner that does the jobs of another learner in single steps and keeps each step.

    There are no steps from the horizon on: updates that land by then were trained before it.
    """

    def __init__(self, learner: Learner, clients: tuple[ClientId, ...], horizon: int) -> None:
        self._learner = learner
        self._columns = {client: i for i, client in enumerate(clients)}
        model = first_model(learner)
        shape = horizon, len(clients), model.size
        self.steps: Vector = np.empty(shape, model.dtype)  # eta g_i^s
        self.local: Vector = np.empty(shape, model.dtype)  # x_i^s

    def initial_model(self) -> Vector:
        return self._learner.initial_model()

    def evaluate(self, model: Vector) -> tuple[float, float]:
        return self._learner.evaluate(model)

    def train(self, jobs: Sequence[Job]) -> Vector:
        """All jobs in lockstep: x_i <- x_i - eta g, Eq. (10), for those with steps left."""
        models = [job.model for job in jobs]
        for done in range(max((job.num_steps for job in jobs), default=0)):
            running = [j for j, job in enumerate(jobs) if job.num_steps > done]
            singles = [
                Job(jobs[j].client, models[j], jobs[j].first_step + done, 1) for j in running
            ]
            for j, step in zip(running, self._step(singles), strict=True):
                models[j] = models[j] - step
        return np.array([job.model - model for job, model in zip(jobs, models, strict=True)])

    def _step(self, singles: list[Job]) -> Vector:
        """One step of each: (jobs, params)."""
        found = returned("train", self._learner.train(singles), (len(singles), self.steps.shape[2]))
        steps = found.astype(self.steps.dtype, copy=False)
        for job, step in zip(singles, steps, strict=True):
            place = job.first_step, self._columns[job.client]
            self.steps[place], self.local[place] = step, job.model
        return steps
