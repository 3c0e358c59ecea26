"""The pictures of the page: the paper's figures in both readings, the sweeps, and the tours."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from flexpress.experiments.figures import ASYNC, SYNC, Figure, Line
from flexpress.experiments.protocol import Reading, as_flown, as_paper, protocol
from flexpress.experiments.results import Result, Results
from flexpress.experiments.study import Study
from flexpress.experiments.sweeps import Sweep
from flexpress.experiments.swept import SweptPoint
from flexpress.experiments.tables import data_name
from flexpress.report.figures.band_figure import bands_figure
from flexpress.report.figures.bands import BandLine, Course, bands_caption
from flexpress.report.figures.energy import EnergyGroup, energy_figure
from flexpress.report.figures.intervals import IntervalPoint, IntervalSeries, intervals_figure
from flexpress.report.figures.map import map_figure
from flexpress.report.figures.picture import Picture, draw_picture
from flexpress.report.figures.timeline import slots_shown, timeline_figure, timeline_of
from flexpress.simulation.stored_run import load_run

_NETWORK = 0
"""The network of maps, energies and tours; curves and claims are about all networks."""

_SECONDARY = "-flown"
"""Ends the name of the picture in the second reading."""


def pictures_of(figure: Figure, study: Study, results: Results) -> tuple[Picture, ...]:
    """One for each reading."""
    draw = {"curves": _curves, "energy": _energies, "map": _map}[figure.kind]
    return tuple(draw(figure, reading, study, results) for reading in protocol().readings)


def _name(figure: Figure, reading: Reading) -> str:
    return figure.name + ("" if reading == as_paper() else _SECONDARY)


def _map(figure: Figure, reading: Reading, study: Study, _: Results) -> Picture:
    setting = figure.lines[0].read_as(reading).setting
    scenario = setting.scenario(study.scale, _NETWORK, 1)
    plan = study.plans[setting, _NETWORK]
    return draw_picture(
        _name(figure, reading),
        f"{scenario.num_clients} clients around the server, and the tours to them, {reading.name}",
        lambda theme: map_figure(scenario, plan, theme=theme, narrow=True),
        caption=f"{reading.title}: network {_NETWORK}.",
    )


def _curves(figure: Figure, reading: Reading, study: Study, results: Results) -> Picture:
    lines = [_band_line(number, line, results, reading) for number, line in enumerate(figure.lines)]
    slot = figure.lines[0].setting.scenario(study.scale, _NETWORK, 1).slot
    names = ", ".join(line.label for line in lines)
    data = data_name(study.scale, figure.dataset)
    return draw_picture(
        _name(figure, reading),
        f"Test accuracy over slots, {reading.name}: {names}",
        lambda theme: bands_figure(lines, slot, theme=theme),
        caption=f"{reading.title}, {data}. {bands_caption(lines, one='run')}",
    )


def _band_line(number: int, line: Line, results: Results, reading: Reading) -> BandLine:
    runs = results.of(line.read_as(reading).setting).values()
    courses = tuple(_course_of(run) for run in runs)
    cut_short = not all(run.complete for run in runs)
    return BandLine(line.label, courses, hue=number, cut_short=cut_short)


def _course_of(run: Result) -> Course:
    return Course([each.slot for each in run.metrics], [each.accuracy for each in run.metrics])


def _energies(figure: Figure, reading: Reading, study: Study, _: Results) -> Picture:
    lines = [line.read_as(reading) for line in figure.lines]
    groups = [
        EnergyGroup.of(
            line.label,
            line.setting.scenario(study.scale, _NETWORK, 1),
            study.plans[line.setting, _NETWORK],
        )
        for line in lines
        if (line.setting, _NETWORK) in study.plans
    ]
    return draw_picture(
        _name(figure, reading),
        f"Energy of each transporter, and its budget, {reading.name}",
        lambda theme: energy_figure(groups, theme=theme),
        caption=f"{reading.title}: network {_NETWORK}.",
    )


def sweep_picture(sweep: Sweep, points: Sequence[SweptPoint]) -> Picture:
    """Differences of mean accuracies, with intervals over networks."""
    names = [series.label for series in sweep.series]
    series = [_series(number, name, points) for number, name in enumerate(names)]
    return draw_picture(
        sweep.name,
        f"{sweep.difference} in mean accuracy: {', '.join(names)}",
        lambda theme: intervals_figure(
            series,
            x_label=sweep.x_label,
            y_label=f"{sweep.difference} (points)",
            names=sweep.names,
            logarithmic=sweep.logarithmic,
            theme=theme,
        ),
        caption="Differences of mean test accuracy over all slots, in percentage points, with "
        "95 % intervals over networks.",
    )


def _series(number: int, name: str, points: Sequence[SweptPoint]) -> IntervalSeries:
    def per_cent(value: float | None) -> float | None:
        return None if value is None else 100 * value

    return IntervalSeries(
        name,
        tuple(
            IntervalPoint(
                point.x, 100 * point.mean.mean, per_cent(point.mean.low), per_cent(point.mean.high)
            )
            for point in points
            if point.series == name
        ),
        hue=number,
        dashed=number % 2 == 1,
    )


def tours_picture(study: Study, runs: Path) -> Picture | None:
    """Who flies and waits when, with which model; None unless both algorithms were run."""
    lines = [Line(each.algorithm, each).read_as(as_flown()) for each in (SYNC, ASYNC)]
    keys = [study.keys.get((line.setting, _NETWORK, 1)) for line in lines]
    traces = [load_run(runs / key).trace for key in keys if key is not None]
    if len(traces) < len(lines):
        return None
    slots = max(map(slots_shown, traces))
    shown = [
        timeline_of(trace, name, slots)
        for trace, name in zip(traces, ("Sync", "Async"), strict=True)
    ]
    alt = "When each transporter flies and waits, whom it meets, and which model it carries"
    return draw_picture(
        "tours",
        alt,
        lambda theme: timeline_figure(shown, theme=theme),
        caption=f"{as_flown().title}: network {_NETWORK}.",
    )
