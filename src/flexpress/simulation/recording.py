"""The real and the virtual sequence: what clients did in every slot, and what the server knew.

The simulator asks for whole jobs and keeps nothing of them. To record, it is handed a learner that
does every job step by step and keeps the steps; the simulator itself knows nothing of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from flexpress.errors import DivergedError, InputError
from flexpress.learning import Job, Learner, Vector
from flexpress.learning.job import check_learner, first_model
from flexpress.planning import Plan
from flexpress.planning.plan_file import check_plan
from flexpress.scenario import Algorithm, Scenario
from flexpress.simulation.compare import simulate
from flexpress.simulation.step_by_step import StepByStep
from flexpress.simulation.timetable import ClientId
from flexpress.simulation.trace import Trace

MOST_BYTES = 4 * 2**30
"""Of the steps and the local models together."""


@dataclass(frozen=True, eq=False)
class Recording:
    """A simulation slot by slot, in the paper's "equivalent view" (Aligning Client Training).

    In this view client i does its local step number s in slot s, and starts anew from x^t at
    t = 0, Delta_k, 2 Delta_k, ...; the global model is the same as if it did so when it is met.
    Arrays are read-only, and in the learner's precision where nothing else is said.
    """

    trace: Trace  # of the simulation to the horizon
    client_ids: tuple[ClientId, ...]  # transporter by transporter, in the order of the plan's tours
    transporters: tuple[int, ...]  # of each client: 1, 2, ...
    steps: Vector  # (horizon, clients, params): eta g_i^s, by which the local model fell in slot s
    local: Vector  # (horizon, clients, params): x_i^s, at which that gradient was taken
    real: Vector  # (horizon + 1, params): x^t
    received: NDArray[np.int64]  # (horizon + 1, clients): how many steps of each are in x^t

    @property
    def phi(self) -> NDArray[np.int64]:
        """phi_i(t), the last step of client i that is in x^t: (horizon + 1, clients); -1: none."""
        return self.received - 1

    @cached_property
    def virtual(self) -> NDArray[np.float64]:
        """v^t = x^0 - (1/N) sum_i sum_{s<t} eta g_i^s, if no upload took time, in float64.

        (horizon + 1, params).
        """
        falls = self.steps.mean(axis=1, dtype=np.float64)
        start = self.real[:1].astype(np.float64)
        return np.concatenate([start, start - np.cumsum(falls, axis=0)])

    @property
    def averaged(self) -> NDArray[np.float64]:
        """The "averaged global model" of the proof of Theorem 1: v^{t-Delta}, x^0 up to Delta.

        It is x^t whenever all have just landed, and moves on between. InputError for more than one
        transporter in async. With the ideal link of `direct`, nothing is delayed: v^t.
        """
        convoys = self.trace.timetable.convoys
        if len(convoys) > 1:
            raise InputError(
                f"async with {len(convoys)} transporters: there is an averaged model only where "
                "all leave together; take `virtual`, or record sync"
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

    Takes 2 x slots x clients x parameters numbers of memory, 4 GiB at most, and a learner's call
    for each slot: for small problems. Only the clock in slots has an aligned view. Steps that the
    server would get after the horizon are done and kept too, as long as their slot is before it.
    DivergedError if the loss or a local model is no longer finite.
    """
    check_plan(scenario, plan)
    check_learner(learner)
    changes = {"algorithm": algorithm, "horizon": horizon}
    given = {key: value for key, value in changes.items() if value is not None}
    scenario = scenario.replace(run=given)
    carriers = {i: k for k, tour in enumerate(plan.transporters, start=1) for i in tour.clients}
    ids, numbers = tuple(carriers), tuple(carriers.values())
    check(scenario, len(ids), first_model(learner))
    stepwise = StepByStep(learner, ids, scenario.run.horizon)
    known: list[tuple[int, Vector]] = []
    trace = simulate(
        scenario, plan, stepwise, on_update=lambda slot, model: known.append((slot, model))
    )
    real = at_every_slot(known, trace.horizon)
    received = received_steps(trace, numbers)
    under_way = list(jobs_under_way(trace, real, received[-1]))
    with np.errstate(over="ignore", invalid="ignore"):  # not twice: it is found right here
        if not np.isfinite(stepwise.train(under_way)).all():
            raise diverged(scenario, trace)
    for array in (stepwise.steps, stepwise.local, real, received):
        array.flags.writeable = False
    return Recording(trace, ids, numbers, stepwise.steps, stepwise.local, real, received)


def check(scenario: Scenario, num_clients: int, model: Vector) -> None:
    """What can be recorded, before anything is."""
    if scenario.run.clock != "slots":
        raise InputError(
            f'run.clock = "{scenario.run.clock}": a recording goes by whole slots; '
            'take run.clock = "slots"'
        )
    horizon, per_slot = scenario.run.horizon, 2 * num_clients * model.nbytes
    if horizon * per_slot > MOST_BYTES:
        raise InputError(
            f"{horizon} slots of {num_clients} clients with {model.size} parameters take "
            f"{horizon * per_slot / 2**30:.1f} GiB: must be at most {MOST_BYTES / 2**30:g} GiB; "
            f"record fewer slots, up to {MOST_BYTES // per_slot}, or a smaller model"
        )


def at_every_slot(known: list[tuple[int, Vector]], horizon: int) -> Vector:
    """x^0, ..., x^horizon: at each slot the last model that was announced by then."""
    slots = [slot for slot, _ in known]
    models = np.array([model for _, model in known])
    return np.repeat(models, np.diff([*slots, horizon + 1]), axis=0)


def received_steps(trace: Trace, transporters: tuple[int, ...]) -> NDArray[np.int64]:
    """By what the updates of the trace brought; each tour has a step for every slot of it."""
    convoys = trace.timetable.convoys
    periods = {route.transporter: each.period for each in convoys for route in each.routes}
    brought = np.zeros((trace.horizon + 1, len(transporters)), dtype=np.int64)
    for update in trace.updates:
        for part in update.contributions:
            theirs = np.equal(transporters, part.transporter)
            brought[update.slot, theirs] += periods[part.transporter]
    return brought.cumsum(axis=0)


def jobs_under_way(trace: Trace, real: Vector, received: NDArray[np.int64]) -> Iterator[Job]:
    """What clients have done by the horizon, and the server does not have: nobody asked for it."""
    convoys = trace.timetable.convoys
    periods = [(i, each.period) for each in convoys for route in each.routes for i in route.clients]
    for (client, period), first in zip(periods, received.tolist(), strict=True):
        for start in range(first, trace.horizon, period):
            yield Job(client, real[start], start, min(period, trace.horizon - start))


def diverged(scenario: Scenario, trace: Trace) -> DivergedError:
    rate = scenario.learning.learning_rate
    return DivergedError(
        f"{scenario.run.algorithm}: a local model is no longer finite before slot {trace.horizon}; "
        f"lower learning.learning_rate, which is {rate:g}",
        trace,
    )
