"""Runs on one page: their names, the settings in which they differ, and their lines in a figure.

Runs that differ only in their seed form one line with a band. A run that is not complete has a line
of its own: in a band, it would cut off the mean of the others.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from flexpress.planning.colours import COLOURS
from flexpress.report.figures.bands import WHOLE_SLOTS, BandLine, Course
from flexpress.report.figures.style import ALGORITHMS
from flexpress.report.page.page import Cell
from flexpress.report.tables.runs import RunSummary, summarise
from flexpress.scenario import Scenario
from flexpress.simulation.stored_run import StoredRun

_MOST_LISTED = 12
"""Items listed in a sentence."""

_NOT_GIVEN = "-"
_LONGEST = 48  # letters of a value
_TIMES = "\N{MULTIPLICATION SIGN}"

_SEED, _CLOCK, HEAD_START = "learning.seed", "run.clock", "run.head_start"
_NAMES = (
    "run.algorithm",
    "plan.objective",
    "learning.partition",
    "learning.dataset",
    "learning.model",
)
"""Settings whose values explain themselves."""
_DASHES_MEAN = {_CLOCK: WHOLE_SLOTS, HEAD_START: "with a head start"}
_MOST_IMPORTANT = (*_NAMES, HEAD_START, _CLOCK)


@dataclass(frozen=True, eq=False)
class ShownRun:
    name: str
    run: StoredRun

    @cached_property
    def summary(self) -> RunSummary:
        return summarise(self.run.trace)

    @property
    def state(self) -> Cell:
        """The state in words, with a colour."""
        reached = f"in slot {self.summary.slot:,} of {self.run.trace.horizon:,}"
        if self.run.state == "complete":
            place = "" if self.run.trace.recorded is None else ", by field programs"
            return Cell(f"complete{place}", "good")
        if self.run.state == "diverged":
            return Cell(f"diverged {reached}", "bad")
        return Cell(f"unfinished, {reached}", "open")


def first_few(texts: Sequence[str]) -> list[str]:
    """For sentences: the first texts, and how many more there are."""
    more = len(texts) - _MOST_LISTED
    return [*texts[:_MOST_LISTED], f"and {more:,} more"] if more > 0 else list(texts)


def shown_runs(runs: Sequence[StoredRun]) -> list[ShownRun]:
    names = _run_names([run.folder for run in runs])
    return [ShownRun(name, run) for name, run in zip(names, runs, strict=True)]


def _run_names(folders: Sequence[Path]) -> list[str]:
    """Their paths below the common folder; for a single run, the name of its folder."""
    places = [folder.resolve() for folder in folders]
    if len(places) == 1:
        return [places[0].name]
    common = common_folder(folders)
    return [place.relative_to(common).as_posix() for place in places]


def common_folder(folders: Sequence[Path]) -> Path:
    """The folder that contains all of them; for a single one, the folder itself."""
    return Path(os.path.commonpath([folder.resolve() for folder in folders]))


def differences(scenarios: Sequence[Scenario]) -> dict[str, list[str]]:
    """The keys whose values differ, with a short text for the value of each scenario."""
    every = [_settings(scenario) for scenario in scenarios]
    keys = dict.fromkeys(key for found in every for key in found)
    values = {key: [found.get(key) for found in every] for key in keys}
    return {
        key: [_NOT_GIVEN if value is None else short_text(value) for value in own]
        for key, own in values.items()
        if any(value != own[0] for value in own)
    }


def _settings(scenario: Scenario) -> dict[str, object]:
    """All values by their dotted keys, except the folder of the data."""
    return dict(_flat(scenario.replace(learning={"data_dir": None}).to_dict()))


def _flat(section: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    for key, value in section.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def short_text(value: object) -> str:
    """Lists of equal values are abbreviated, long texts are cut."""
    if isinstance(value, list | tuple) and len(value) > 1 and all(v == value[0] for v in value):
        return f"{len(value)} {_TIMES} {short_text(value[0])}"
    if isinstance(value, list | tuple):
        text = ", ".join(map(short_text, value))
    else:
        text = f"{value:g}" if isinstance(value, float) else str(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


@dataclass(frozen=True, eq=False)
class _Alike:
    """Runs that form one line."""

    runs: tuple[ShownRun, ...]

    @property
    def first(self) -> ShownRun:
        return self.runs[0]


def run_lines(runs: Sequence[ShownRun]) -> list[BandLine]:
    """In the order of the runs."""
    groups = _alike(runs)
    labels = _line_labels(groups)
    longest = max(run.run.scenario.slot for run in runs)
    return [
        BandLine(
            label,
            tuple(_course(run, longest) for run in group.runs),
            hue=hue,
            dashed=dashed,
            cut_short=any(run.run.state != "complete" for run in group.runs),
        )
        for group, label, hue, dashed in zip(
            groups, labels, _hues(groups), _dashed(groups), strict=True
        )
    ]


def line_of_each(runs: Sequence[ShownRun]) -> list[BandLine]:
    """The line that each run is part of, labelled for this run alone."""
    groups, lines = _alike(runs), run_lines(runs)
    found = {
        run: line if len(group.runs) == 1 else replace(line, label=run.name)
        for group, line in zip(groups, lines, strict=True)
        for run in group.runs
    }
    return [found[run] for run in runs]


def _course(shown: ShownRun, slot: float) -> Course:
    """The measurements, in slots of this many seconds."""
    metrics = shown.run.trace.metrics
    return Course(
        [m.seconds / slot for m in metrics],
        [m.accuracy for m in metrics],
        [m.loss for m in metrics],
    )


def _alike(runs: Sequence[ShownRun]) -> list[_Alike]:
    """Groups in the order of the runs; a copy of a run is not another seed."""
    found: dict[tuple[object, ...], list[ShownRun]] = {}
    met: Counter[tuple[object, ...]] = Counter()
    for run in runs:
        itself = _identity(run)
        copy = met[itself] if run.run.state == "complete" else run.name
        met[itself] += 1
        found.setdefault((copy, *_identity(run, _SEED)), []).append(run)
    return [_Alike(tuple(group)) for group in found.values()]


def _identity(shown: ShownRun, *without: str) -> tuple[object, ...]:
    """Everything that a run depends on, without some settings."""
    scenario, plan = shown.run.scenario, shown.run.plan
    kept = [(k, repr(v)) for k, v in _settings(scenario).items() if k not in without]
    return tuple(kept), tuple(tour.clients for tour in plan.transporters)


def dashes_mean(runs: Sequence[ShownRun]) -> str:
    """What dashed lines have in common: the coarser clock if the clocks differ, or a head start."""
    return _DASHES_MEAN[_told_by_dashes(_alike(runs)) or _CLOCK]


def _told_by_dashes(groups: Sequence[_Alike]) -> str | None:
    """The setting that dashes tell apart; each line has one of two values of it."""
    settings = [group.first.run.scenario.run for group in groups]
    if len({run.clock for run in settings}) > 1:
        return _CLOCK
    head_starts = {group.first.run.trace.head_start for group in groups}
    return HEAD_START if len(head_starts) == 2 and 0.0 in head_starts else None


def _dashed(groups: Sequence[_Alike]) -> list[bool]:
    told = _told_by_dashes(groups)
    if told == _CLOCK:
        return [group.first.run.scenario.run.clock == "slots" for group in groups]
    return [told == HEAD_START and group.first.run.trace.head_start > 0 for group in groups]


def _line_labels(groups: Sequence[_Alike]) -> list[str]:
    """The name of a single run, or the settings that distinguish a line of several runs.

    A run in a folder with a name like "0.02" gets its settings too: the name says too little.
    """
    unnamed = [group for group in groups if len(group.runs) > 1 or _is_number(group.first.name)]
    others = unnamed if len(unnamed) > 1 else groups
    texts = _distinguishing([group.first.run.scenario for group in others])
    words = dict(zip(others, texts, strict=True))
    return [words[each] if each in unnamed and words[each] else _own_label(each) for each in groups]


def _own_label(group: _Alike) -> str:
    """The name of its folder; one that a comparison made is labelled as in its own picture."""
    name, trace = group.first.name, group.first.run.trace
    return trace.label if name == trace.name else name


def _distinguishing(scenarios: Sequence[Scenario]) -> list[str]:
    """The values of as few settings as distinguish all scenarios, the most important first."""
    differing = differences(scenarios)
    labels: list[tuple[str, ...]] = [()] * len(scenarios)
    for key in dict.fromkeys((*_MOST_IMPORTANT, *differing)):
        values = differing.get(key)
        if values is None or key == _SEED:
            continue
        words = [_in_words(key, value) for value in values]
        longer = [(*label, word) for label, word in zip(labels, words, strict=True)]
        if len(set(longer)) > len(set(labels)):
            labels = longer
    return [", ".join(label) for label in labels]


def _in_words(key: str, value: str) -> str:
    """The value, with the name of its key unless it explains itself."""
    if key in _NAMES:
        return value
    name = key.rpartition(".")[2].replace("_", " ")
    return f"no {name}" if value == _NOT_GIVEN else f"{name} {value}"


def _is_number(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True


def _hues(groups: Sequence[_Alike]) -> list[int]:
    """Lines that only dashes tell apart share a colour; algorithms have their usual ones."""
    told = _told_by_dashes(groups) or _CLOCK
    keys = [_identity(group.first, _SEED, told) for group in groups]
    order = {key: j for j, key in enumerate(dict.fromkeys(keys))}
    algorithms = [group.first.run.scenario.run.algorithm for group in groups]
    if len(order) == len(set(algorithms)):
        return [COLOURS.index(ALGORITHMS[algorithm]) for algorithm in algorithms]
    return [order[key] for key in keys]
