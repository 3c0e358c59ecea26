"""What a learning curve shows of a trace: points to draw, where it sets out, where it ends."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np

from flexpress.arrays import FloatArray
from flexpress.scenario import Algorithm
from flexpress.simulation import Measurement, Trace
from flexpress.simulation.events import Update


@dataclass(frozen=True, eq=False)
class Curve:
    """All measurements of a trace, and the last moment at which the model was still x^0."""

    algorithm: Algorithm
    slots: FloatArray  # (points,)
    accuracies: FloatArray  # (points,)
    losses: FloatArray  # (points,)
    setting_out: int | None  # the point of the first update, where the model is about to change
    complete: bool  # whether it reaches the horizon


def curve_of(trace: Trace) -> Curve:
    """Clients have no model before their first visit, and transporters bring nothing from it: the
    model stays as it was until the first update. One more point keeps the line flat until then.
    """
    points, setting_out = list(trace.metrics), None
    update = first_update(trace)
    if update is not None and points:
        setting_out = bisect_left(points, update.seconds, key=lambda point: point.seconds)
        start = points[0]
        flat = Measurement(update.slot, update.seconds, start.loss, start.accuracy)
        points.insert(setting_out, flat)
    seconds, losses, accuracies = (
        np.array([(point.seconds, point.loss, point.accuracy) for point in points], dtype=float)
        .reshape(-1, 3)
        .T
    )
    return Curve(
        algorithm=trace.timetable.algorithm,
        slots=seconds / trace.timetable.slot,
        accuracies=accuracies,
        losses=losses,
        setting_out=setting_out,
        complete=bool(points) and trace.metrics[-1].slot == trace.horizon,
    )


def first_update(trace: Trace) -> Update | None:
    """At two round trips after the start; over the ideal link at one."""
    return next((event for event in trace.events() if isinstance(event, Update)), None)
