"""Runs as lines of one figure: those that differ in their seed only are one line with a band.

Only complete ones: a run that is not would end the mean of all where it ended itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from flexpress.planning.colours import COLOURS
from flexpress.report.band import BandLine, Course
from flexpress.report.palette import ALGORITHMS
from flexpress.report.run_differences import NOT_GIVEN, differences, settings
from flexpress.report.shown_run import ShownRun
from flexpress.scenario import Scenario

SEED, CLOCK = "learning.seed", "run.clock"
NAMES = (
    "run.algorithm",
    "plan.objective",
    "learning.partition",
    "learning.dataset",
    "learning.model",
)
"""Settings whose values are names, which everyone knows."""
ASKED_FIRST = (*NAMES, CLOCK)


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
            cut_short=any(run.run.state != "complete" for run in group.runs),
        )
        for group, label, hue in zip(groups, labels, hues(groups), strict=True)
    ]


def course(shown: ShownRun, slot: float) -> Course:
    """In slots of this many seconds."""
    metrics = shown.run.trace.metrics
    return Course(
        [m.seconds / slot for m in metrics],
        [m.accuracy for m in metrics],
        [m.loss for m in metrics],
    )


def alike(runs: Sequence[ShownRun]) -> list[Alike]:
    """In the order of the runs; the same run in a second folder is not another seed."""
    found: dict[tuple[object, ...], list[ShownRun]] = {}
    met: Counter[tuple[object, ...]] = Counter()
    for run in runs:
        itself = identity(run)
        copy = met[itself] if run.run.state == "complete" else run.name
        met[itself] += 1
        found.setdefault((copy, *identity(run, SEED)), []).append(run)
    return [Alike(tuple(group)) for group in found.values()]


def identity(shown: ShownRun, *without: str) -> tuple[object, ...]:
    """Everything that a run depends on, but for some settings."""
    scenario, plan = shown.run.scenario, shown.run.plan
    kept = [(k, repr(v)) for k, v in settings(scenario).items() if k not in without]
    return tuple(kept), tuple(tour.clients for tour in plan.transporters)


def line_labels(groups: Sequence[Alike]) -> list[str]:
    """The name of a single run; of several the settings that tell their line from the others.

    So it is for runs in folders called "0.02": nobody would know of what.
    """
    unnamed = [group for group in groups if len(group.runs) > 1 or is_number(group.first.name)]
    others = unnamed if len(unnamed) > 1 else groups
    told = telling([group.first.run.scenario for group in others])
    words = dict(zip(others, told, strict=True))
    return [words[each] if each in unnamed and words[each] else each.first.name for each in groups]


def telling(scenarios: Sequence[Scenario]) -> list[str]:
    """Values of as few settings as tell all apart, those first that are asked for first."""
    differing = differences(scenarios)
    labels: list[tuple[str, ...]] = [()] * len(scenarios)
    for key in dict.fromkeys((*ASKED_FIRST, *differing)):
        values = differing.get(key)
        if values is None or key == SEED:
            continue
        words = [in_words(key, value) for value in values]
        longer = [(*label, word) for label, word in zip(labels, words, strict=True)]
        if len(set(longer)) > len(set(labels)):
            labels = longer
    return [", ".join(label) for label in labels]


def in_words(key: str, value: str) -> str:
    """A value that says by itself what it is, or else with the name of its key."""
    if key in NAMES:
        return value
    name = key.rpartition(".")[2].replace("_", " ")
    return f"no {name}" if value == NOT_GIVEN else f"{name} {value}"


def is_number(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True


def hues(groups: Sequence[Alike]) -> list[int]:
    """Lines that differ in the clock share one; algorithms have their own where that is enough."""
    keys = [identity(group.first, SEED, CLOCK) for group in groups]
    order = {key: j for j, key in enumerate(dict.fromkeys(keys))}
    algorithms = [group.first.run.scenario.run.algorithm for group in groups]
    if len(order) == len(set(algorithms)):
        return [COLOURS.index(ALGORITHMS[algorithm]) for algorithm in algorithms]
    return [order[key] for key in keys]
