"""What it costs to reach an accuracy: the tours, time and energy of a run until then."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from flexpress.report.tables.columns import Column
from flexpress.report.tables.runs import summarise
from flexpress.report.texts import column, time_unit
from flexpress.simulation import Trace
from flexpress.simulation.trace import common_target, first_with

_USUAL = (0.75, 0.80)
"""Accuracies that are shown if a run reaches both."""
_STEP = 0.05

NOT_REACHED = "not reached"
_NOTHING = "-"
_CSV = ("run", "accuracy", "reached", "slot", "seconds", "tours", "energy_J")


@dataclass(frozen=True)
class Cost:
    """All until the first measurement of this accuracy, or to the end if there is none."""

    target: float  # accuracy
    reached: bool
    slot: int
    seconds: float
    tours: int  # completed; none over an ideal link
    energy: float  # joules of these tours


def costs_of(trace: Trace, targets: Iterable[float]) -> list[Cost]:
    """One for each target."""
    landings, end = trace.landings, summarise(trace)
    found = []
    for target in targets:
        first = first_with(target, trace.metrics)
        if first is None:
            cost = Cost(target, False, end.slot, end.seconds, end.tours, end.energy)
        else:
            # What lands at the time of a measurement is merged before it.
            flown = [landing.energy for landing in landings if landing.seconds <= first.seconds]
            cost = Cost(target, True, first.slot, first.seconds, len(flown), sum(flown))
        found.append(cost)
    return found


def usual_targets(traces: Iterable[Trace]) -> tuple[float, ...]:
    """75 % and 80 % if a run reaches them, else the two highest multiples of 5 % that one does.

    Empty if no run reaches 5 %.
    """
    best = max((m.accuracy for trace in traces for m in trace.metrics), default=0.0)
    highest = common_target([best])
    if highest is None or highest >= _USUAL[-1]:
        return () if highest is None else _USUAL
    lower = common_target([highest - _STEP])
    return (highest,) if lower is None else (lower, highest)


def cost_columns(names: Sequence[str], costs: Sequence[Cost]) -> list[Column]:
    """Name, unit, and one text per run: what one target costs."""
    time, seconds = time_unit(max((cost.seconds for cost in costs), default=0.0))
    return [
        ("run", "", names),
        ("reached", "slot", [f"{c.slot:,}" if c.reached else NOT_REACHED for c in costs]),
        ("tours", "", [f"{c.tours:,}" if c.reached else _NOTHING for c in costs]),
        ("time", time, _of_reached(costs, lambda cost: cost.seconds / seconds)),
        ("energy", "kJ", _of_reached(costs, lambda cost: cost.energy / 1e3)),
    ]


def _of_reached(costs: Sequence[Cost], value: Callable[[Cost], float]) -> list[str]:
    """The numbers of one column, with a dash where the target was not reached."""
    texts = iter(column([value(cost) for cost in costs if cost.reached]))
    return [next(texts) if cost.reached else _NOTHING for cost in costs]


def costs_csv(runs: Iterable[tuple[str, Sequence[Cost]]]) -> str:
    """One row per run and target, in SI units with all digits."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(_CSV)
    for name, costs in runs:
        for c in costs:
            reached = str(c.reached).lower()
            row = (name, repr(c.target), reached, c.slot, repr(c.seconds), c.tours, repr(c.energy))
            table.writerow(row)
    return text.getvalue()
