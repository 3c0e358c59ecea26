"""The page of the reproduction: a section for every figure, made from the runs of a study."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from flexpress.experiments.claims import MARGIN, claims_of
from flexpress.experiments.figures import ASYNC, SYNC, Figure, Line
from flexpress.experiments.results import Result, Results, read_results
from flexpress.experiments.setting import FULL
from flexpress.experiments.study import Study
from flexpress.experiments.tables import (
    VERDICT_COLOURS,
    bounds_text,
    claims_csv,
    details_grid,
    figure_csv,
    findings_json,
    mean_text,
    networks_grid,
    summary_grid,
)
from flexpress.experiments.verdicts import VERDICTS, Finding, judge, over_networks
from flexpress.files.versions import versions
from flexpress.report.figures.band_figure import bands_figure
from flexpress.report.figures.bands import BandLine, Course, bands_caption
from flexpress.report.figures.energy import EnergyGroup, energy_figure
from flexpress.report.figures.map import map_figure
from flexpress.report.figures.picture import Picture, draw_picture
from flexpress.report.figures.timeline import slots_shown, timeline_figure, timeline_of
from flexpress.report.page.page import Cell, Download, Grid, Page, PageSection
from flexpress.simulation.stored_run import load_run

_NETWORK = 0
"""The network of the figures, as in the paper; the claims are judged on all networks."""


def reproduction_page(figures: Sequence[Figure], study: Study, runs: Path, *, command: str) -> Page:
    """`runs` has a folder for each run; `command` is what was typed, without --figure."""
    results = read_results(study, runs)
    findings = judge(study, results, claims_of(figures))
    several = [networks_grid(over_networks(findings))] if len(study.networks) > 1 else []
    sections = [_figure_section(each, study, results, findings, command) for each in figures]
    return Page(
        title="FedEx, reproduced",
        lead=tuple(_lead(study, findings)),
        summary=(summary_grid(findings), *several),
        sections=(*sections, *_tours_section(study, runs), _data_section(findings)),
        footer=(_footer(study, results),),
    )


def _lead(study: Study, findings: Sequence[Finding]) -> list[str]:
    here = [finding for finding in findings if finding.network == _NETWORK]
    counts = [(verdict, sum(each.verdict == verdict for each in here)) for verdict in VERDICTS]
    counted = ", ".join(f"{count} {verdict}" for verdict, count in counts if count)
    found = [
        f"Of {len(here)} claims of the paper: {counted}." if here else "",
        "Differences are of test accuracy on average over all slots, in percentage points, paired "
        "by seed: positive is as the paper has it, and a tie is a difference of less than "
        f"{100 * MARGIN:g} points. Undecided: the interval leaves both open.",
    ]
    if study.scale.stand_in:
        found.append(
            f"This is a quick look: {study.scale.horizon:,} slots instead of {FULL.horizon:,}, "
            f"{len(study.seeds)} seeds instead of {FULL.seeds}, and a part of Fashion-MNIST stands "
            "in for both data sets; with i.i.d. data their runs are the same. Its verdicts say "
            "little."
        )
    return [text for text in found if text]


def _tours_section(study: Study, runs: Path) -> list[PageSection]:
    """Who flies and waits when, with which model; empty unless the study has both algorithms."""
    seed = study.seeds[0]
    keys = [study.keys.get((setting, _NETWORK, seed)) for setting in (SYNC, ASYNC)]
    if None in keys:
        return []
    return [
        PageSection("tours", "Tours", pictures=(_tours_picture(runs, [str(key) for key in keys]),))
    ]


def _tours_picture(runs: Path, keys: Sequence[str]) -> Picture:
    traces = [load_run(runs / key).trace for key in keys]
    slots = max(map(slots_shown, traces))
    shown = [
        timeline_of(trace, name, slots)
        for trace, name in zip(traces, ("Sync", "Async"), strict=True)
    ]
    alt = "When each transporter flies and waits, whom it meets, and which model it carries"
    return draw_picture("tours", alt, lambda theme: timeline_figure(shown, theme=theme))


def _data_section(findings: Sequence[Finding]) -> PageSection:
    downloads = (
        Download("claims.csv", claims_csv(findings)),
        Download("findings.json", findings_json(findings)),
    )
    return PageSection("data", "All numbers", downloads=downloads)


def _footer(study: Study, results: Results) -> str:
    used = ", ".join(f"{name} {version}" for name, version in versions().items())
    seeds = f"seeds {study.seeds[0]} to {study.seeds[-1]}"
    slots = f"{study.scale.horizon:,} slots"
    return f"{len(results.by_case)} cases, {len(study.runs)} runs of {slots}, {seeds}; {used}."


def _figure_section(
    figure: Figure, study: Study, results: Results, findings: Sequence[Finding], command: str
) -> PageSection:
    own = [finding for finding in findings if finding.claim.figure == figure.name]
    numbers = [_line_grid(figure, results)] if figure.kind == "curves" else []
    claims = [_claims_grid(own), details_grid(own)] if own else []
    return PageSection(
        anchor=figure.name,
        title=figure.title,
        text=(figure.about, *_doubts(figure, own)),
        pictures=(_picture_of(figure, study, results),),
        tables=(*claims, *numbers),
        command=f"{command} --figure {figure.name}",
        downloads=(Download(f"{figure.name}.csv", figure_csv(figure, study, results)),),
    )


def _doubts(figure: Figure, findings: Sequence[Finding]) -> list[str]:
    """The possible reason, if a claim of the figure is not reproduced."""
    here = {each.verdict for each in findings if each.network == _NETWORK}
    return [figure.doubt] if figure.doubt and here & {"not reproduced", "undecided"} else []


def _picture_of(figure: Figure, study: Study, results: Results) -> Picture:
    if figure.kind == "curves":
        return _curves(figure, study, results)
    if figure.kind == "energy":
        return _energies(figure, study)
    setting = figure.lines[0].setting
    scenario = setting.scenario(study.scale, _NETWORK, study.seeds[0])
    plan = study.plans[setting, _NETWORK]
    alt = f"{scenario.num_clients} clients around the server, and the tours to them"
    return draw_picture(
        figure.name, alt, lambda theme: map_figure(scenario, plan, theme=theme, narrow=True)
    )


def _curves(figure: Figure, study: Study, results: Results) -> Picture:
    lines = [_band_line(number, line, results) for number, line in enumerate(figure.lines)]
    setting = figure.lines[0].setting
    slot = setting.scenario(study.scale, _NETWORK, study.seeds[0]).slot
    names = ", ".join(line.label for line in lines)
    return draw_picture(
        figure.name,
        f"Test accuracy over slots: {names}",
        lambda theme: bands_figure(lines, slot, theme=theme),
        caption=bands_caption(lines),
    )


def _band_line(number: int, line: Line, results: Results) -> BandLine:
    """The slot clock is dashed, in the colour of the same line by the exact clock."""
    dashed = line.setting.clock == "slots"
    runs = results.per_seed(line.setting, _NETWORK).values()
    courses = tuple(_course_of(run) for run in runs)
    hue, cut_short = number - 2 if dashed else number, not all(run.complete for run in runs)
    return BandLine(line.label, courses, hue=hue, dashed=dashed, cut_short=cut_short)


def _course_of(run: Result) -> Course:
    return Course([each.slot for each in run.metrics], [each.accuracy for each in run.metrics])


def _energies(figure: Figure, study: Study) -> Picture:
    groups = [
        EnergyGroup.of(
            line.label,
            line.setting.scenario(study.scale, _NETWORK, study.seeds[0]),
            study.plans[line.setting, _NETWORK],
        )
        for line in figure.lines
    ]
    alt = "Energy of each transporter, and its budget"
    return draw_picture(figure.name, alt, lambda theme: energy_figure(groups, theme=theme))


def _claims_grid(findings: Sequence[Finding]) -> Grid:
    rows = tuple(
        (
            finding.claim.sentence,
            Cell(finding.verdict, VERDICT_COLOURS[finding.verdict]),
            mean_text(finding.deciding),
            bounds_text(finding.deciding),
        )
        for finding in findings
        if finding.network == _NETWORK
    )
    return Grid(("claim", "verdict", "difference", "95 % interval"), rows)


def _line_grid(figure: Figure, results: Results) -> Grid:
    """The results of each line, averaged over the seeds."""
    rows = []
    for line in figure.lines:
        runs = list(results.per_seed(line.setting, _NETWORK).values())
        rows.append((line.label, *_line_numbers(runs)))
    head = ("line", "seeds", "mean accuracy", "at the end", "best", "diverged")
    return Grid(head, tuple(rows))


def _line_numbers(runs: Sequence[Result]) -> tuple[str, ...]:
    def spread(values: Sequence[float]) -> str:
        low, high, middle = min(values), max(values), sum(values) / len(values)
        return f"{100 * middle:.1f} % ({100 * low:.1f} to {100 * high:.1f})"

    whole = [run for run in runs if run.complete]
    return (
        str(len(runs)),
        spread([run.mean_accuracy for run in runs]),
        spread([run.metrics[-1].accuracy for run in whole]) if whole else "-",
        spread([run.best_accuracy for run in runs]),
        str(len(runs) - len(whole)),
    )
