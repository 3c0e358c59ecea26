"""Runs as lines of one figure: those that differ in their seed only are one line with a band."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flexpress.report.band import BandLine, Course
from flexpress.report.palette import ALGORITHMS, COLOURS
from flexpress.report.run_differences import differences, settings
from flexpress.report.shown_run import ShownRun

SEED, CLOCK = "learning.seed", "run.clock"
HORIZON = "run.horizon"


@dataclass(frozen=True, eq=False)
class Alike:
    """Runs that are one line."""

    runs: tuple[ShownRun, ...]

    @property
    def first(self) -> ShownRun:
        return self.runs[0]


def run_lines(runs: Sequence[ShownRun]) -> list[BandLine]:
    """In the order of the runs. Of two lines that differ in the clock, the coarser is dashed."""
    groups = alike(runs)
    labels = line_labels(groups)
    longest = max(run.run.scenario.slot for run in runs)
    clocks = {group.first.run.scenario.run.clock for group in groups}
    return [
        BandLine(
            label,
            tuple(course(run, longest) for run in group.runs),
            hue=hue,
            dashed=len(clocks) > 1 and group.first.run.scenario.run.clock == "slots",
        )
        for group, label, hue in zip(groups, labels, hues(groups), strict=True)
    ]


def course(shown: ShownRun, slot: float) -> Course:
    """In slots of this many seconds."""
    metrics = shown.run.trace.metrics
    return Course([m.seconds / slot for m in metrics], [m.accuracy for m in metrics])


def alike(runs: Sequence[ShownRun]) -> list[Alike]:
    found: dict[tuple[object, ...], list[ShownRun]] = {}
    for run in runs:
        found.setdefault(identity(run, SEED), []).append(run)
    return [Alike(tuple(group)) for group in found.values()]


def identity(shown: ShownRun, *without: str) -> tuple[object, ...]:
    """Everything that a line depends on, but for some settings; not how long it was run."""
    scenario, plan = shown.run.scenario, shown.run.plan
    kept = [(k, repr(v)) for k, v in settings(scenario).items() if k not in (*without, HORIZON)]
    return tuple(kept), tuple(tour.clients for tour in plan.transporters)


def line_labels(groups: Sequence[Alike]) -> list[str]:
    """The name of a single run; of several the settings that tell their line from the others."""
    differing = differences([group.first.run.scenario for group in groups])
    told = [values for key, values in differing.items() if key not in (SEED, HORIZON)]
    labels = []
    for j, group in enumerate(groups):
        words = ", ".join(values[j] for values in told)
        labels.append(words if len(group.runs) > 1 and words else group.first.name)
    return labels


def hues(groups: Sequence[Alike]) -> list[int]:
    """Lines that differ in the clock share one; algorithms have their own where that is enough."""
    keys = [identity(group.first, SEED, CLOCK) for group in groups]
    order = {key: j for j, key in enumerate(dict.fromkeys(keys))}
    algorithms = [group.first.run.scenario.run.algorithm for group in groups]
    if len(order) == len(set(algorithms)):
        return [COLOURS.index(ALGORITHMS[algorithm]) for algorithm in algorithms]
    return [order[key] for key in keys]
