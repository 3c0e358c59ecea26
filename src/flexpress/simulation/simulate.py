"""FedEx-Sync and FedEx-Async: what the server knows after every slot."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Literal

from flexpress.callbacks import ShouldStop, never
from flexpress.errors import DivergedError
from flexpress.learning import Learner, Vector
from flexpress.learning.job import check_learner, first_model, measured
from flexpress.learning.summing import StopRequestedError
from flexpress.planning import Plan
from flexpress.planning.plan_file import check_plan
from flexpress.scenario import Scenario
from flexpress.simulation.clock import events
from flexpress.simulation.deliveries import Deliveries
from flexpress.simulation.events import Broadcast, Departure, Evaluation, Event, Update, Visit
from flexpress.simulation.merging import NotFiniteError, frozen, merge
from flexpress.simulation.run_names import RunName, head_start_of, run_name
from flexpress.simulation.timetable import Timetable
from flexpress.simulation.trace import Measurement, Trace

ServerRule = Literal["clients", "landed"]
"""By what the server divides the updates that land: all N clients, or those they are of."""


def run(
    simulation: Simulation,
    *,
    on_event: Callable[[Event], None] = lambda event: None,
    should_stop: ShouldStop = never,
) -> Trace:
    """Run to the horizon, or until `should_stop` returns True."""
    for event in simulation.play(should_stop):
        on_event(event)
    if simulation.complete:
        simulation.finish()
    return simulation.trace()


class Simulation:
    """A simulation under way: the global model, the deliveries, and how far it has come."""

    def __init__(
        self,
        scenario: Scenario,
        plan: Plan,
        learner: Learner,
        server_rule: ServerRule = "clients",
    ) -> None:
        """Another `server_rule` than the paper's is for experiments: no scenario asks for it."""
        check_plan(scenario, plan)
        check_learner(learner)
        self.scenario, self.plan, self.learner = scenario, plan, learner
        self._server_rule = server_rule
        self.timetable = Timetable.of(scenario, plan, scenario.run.algorithm)
        self.model = frozen(first_model(learner))
        horizon, head_start = scenario.run.horizon, scenario.run.head_start
        self.deliveries = Deliveries(self.timetable, learner, horizon, self.model, head_start)
        self.num_events = 0
        self.slot = 0  # of the last event
        self.complete = False
        self.metrics: list[Measurement] = []
        self._measured: tuple[Vector, tuple[float, float]] | None = None

    @property
    def name(self) -> RunName:
        return run_name(self.scenario.run.algorithm, head_start_of(self.scenario))

    def play(self, should_stop: ShouldStop = never) -> Iterator[Event]:
        """Yield each event after its effects. Ends early if `should_stop` returns True.

        Not after the evaluation at the horizon: only visits follow it, so the run is finished.
        """
        run = self.scenario.run
        coming = events(self.timetable, run.horizon, run.eval_every)
        for event in islice(coming, self.num_events, None):
            try:
                self._happen(event, should_stop)
            except StopRequestedError:
                return
            self.num_events += 1
            self.slot = event.slot
            yield event
            if should_stop() and not self._is_measured():
                return
        self.complete = True

    def finish(self) -> None:
        """Measure at the horizon, unless an evaluation falls there."""
        if not self._is_measured():
            horizon = self.scenario.run.horizon
            time = self.timetable.time(horizon)
            self._measure(Evaluation(horizon, self.timetable.seconds(time)))

    def _is_measured(self) -> bool:
        """Whether the model was measured at the horizon."""
        return bool(self.metrics) and self.metrics[-1].slot == self.scenario.run.horizon

    def trace(self) -> Trace:
        run = self.scenario.run
        return Trace(
            self.timetable,
            run.horizon,
            run.eval_every,
            self.num_events,
            tuple(self.metrics),
            self.model,
            head_start_of(self.scenario),
        )

    def _happen(self, event: Event, should_stop: ShouldStop) -> None:
        """Only departures, updates and evaluations involve the model."""
        if isinstance(event, Visit):  # most events are visits
            return
        if isinstance(event, Departure):
            self.deliveries.hand_out(event.transporter, event.tour, self.model, event.version)
        elif isinstance(event, Broadcast):
            for transporter in self.deliveries.transporters:
                self.deliveries.hand_out(transporter, event.tour, self.model, event.version)
        elif isinstance(event, Update):
            self._update(event, should_stop)
        elif isinstance(event, Evaluation):
            self._measure(event)

    def _update(self, event: Update, should_stop: ShouldStop) -> None:
        """Eqs. (13) to (15): x <- x - (1/N) sum_k u_k, over all that landed at this moment."""
        keys = [(part.transporter, part.tour) for part in event.contributions]
        sums = self.deliveries.sums(keys, should_stop)
        by_all = self._server_rule == "clients"
        number = self.timetable.num_clients if by_all else self.deliveries.num_clients(keys)
        try:
            self.model = merge(self.model, sums, number)
        except NotFiniteError:
            raise self._diverged(event) from None
        self.deliveries.forget(keys)

    def _measure(self, event: Evaluation) -> None:
        if self._measured is None or self._measured[0] is not self.model:
            self._measured = self.model, measured(self.learner, self.model)
        loss, accuracy = self._measured[1]
        if not math.isfinite(loss):
            raise self._diverged(event)
        self.metrics.append(Measurement(event.slot, event.seconds, loss, accuracy))

    def _diverged(self, event: Update | Evaluation) -> DivergedError:
        return diverged(self.scenario, event.slot, self.trace())


def diverged(scenario: Scenario, slot: int, trace: Trace) -> DivergedError:
    """The error of a run that cannot go on after this slot."""
    name = run_name(scenario.run.algorithm, head_start_of(scenario))
    return DivergedError(
        f"{name}: the loss is no longer finite at slot {slot}; "
        f"lower learning.learning_rate, which is {scenario.learning.learning_rate:g}",
        trace,
    )
