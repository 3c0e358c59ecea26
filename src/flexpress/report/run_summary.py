"""A simulation in a few figures."""

from __future__ import annotations

from dataclasses import dataclass

from flexpress.scenario import Algorithm
from flexpress.simulation import Trace
from flexpress.simulation.events import Landing, Update


@dataclass(frozen=True)
class RunSummary:
    """What one simulation came to. SI units; None where nothing was measured or merged."""

    algorithm: Algorithm
    complete: bool  # whether it reached its horizon
    slot: int  # that it reached
    seconds: float  # simulated
    accuracy: float | None  # of the last measurement
    loss: float | None
    best_accuracy: float | None
    updates: int  # of the global model
    tours: int  # that came home
    staleness: float | None  # versions that an average contribution was behind when it was merged
    energy: float  # joules of the tours that came home
    waiting: float  # seconds that transporters stood at the server, waiting for others


def summarise(trace: Trace) -> RunSummary:
    """Goes through the events once: a trace tells them anew whenever it is asked."""
    landings: list[Landing] = []
    staleness: list[int] = []
    updates = 0
    slot, seconds = 0, 0.0
    for event in trace.events():
        slot, seconds = max(slot, event.slot), max(seconds, event.seconds)
        if isinstance(event, Landing):
            landings.append(event)
        elif isinstance(event, Update):
            updates += 1
            staleness += [part.staleness for part in event.contributions]
    last = trace.metrics[-1] if trace.metrics else None
    complete = last is not None and last.slot == trace.horizon
    if last and complete:
        slot, seconds = last.slot, last.seconds
    return RunSummary(
        algorithm=trace.timetable.algorithm,
        complete=complete,
        slot=slot,
        seconds=seconds,
        accuracy=last.accuracy if last else None,
        loss=last.loss if last else None,
        best_accuracy=max((measured.accuracy for measured in trace.metrics), default=None),
        updates=updates,
        tours=len(landings),
        staleness=sum(staleness) / len(staleness) if staleness else None,
        energy=sum(landing.energy for landing in landings),
        waiting=sum(landing.waiting for landing in landings),
    )
