"""Every figure as a section of the page: its picture, its numbers, its claims, its data."""

from __future__ import annotations

from collections.abc import Sequence

from flexpress.experiments.claim_grids import COLOURS, bounds_text, details_grid, mean_text
from flexpress.experiments.figures import Figure, Line
from flexpress.experiments.results import Result, Results
from flexpress.experiments.study import Study
from flexpress.experiments.tables import figure_csv
from flexpress.experiments.verdicts import Finding
from flexpress.report.figures.band_figure import bands_figure
from flexpress.report.figures.bands import BandLine, Course, bands_caption
from flexpress.report.figures.energy import EnergyGroup, energy_figure
from flexpress.report.figures.map import map_figure
from flexpress.report.figures.picture import Picture, draw_picture
from flexpress.report.page.page import Cell, Download, Grid, Section

NETWORK = 0
"""That the figures show, as in the paper; others are for the claims."""


def figure_section(
    figure: Figure, study: Study, results: Results, findings: Sequence[Finding], command: str
) -> Section:
    own = [finding for finding in findings if finding.claim.figure == figure.name]
    numbers = [line_grid(figure, results)] if figure.kind == "curves" else []
    claims = [claims_grid(own), details_grid(own)] if own else []
    return Section(
        anchor=figure.name,
        title=figure.title,
        text=(figure.about, *doubts(figure, own)),
        pictures=(picture_of(figure, study, results),),
        tables=(*claims, *numbers),
        command=f"{command} --figure {figure.name}",
        downloads=(Download(f"{figure.name}.csv", figure_csv(figure, study, results)),),
    )


def doubts(figure: Figure, findings: Sequence[Finding]) -> list[str]:
    """Where something is not seen as the paper has it: what may be the reason."""
    here = {each.verdict for each in findings if each.network == NETWORK}
    return [figure.doubt] if figure.doubt and here & {"not reproduced", "undecided"} else []


def picture_of(figure: Figure, study: Study, results: Results) -> Picture:
    if figure.kind == "curves":
        return curves(figure, study, results)
    if figure.kind == "energy":
        return energies(figure, study)
    setting = figure.lines[0].setting
    scenario = setting.scenario(study.scale, NETWORK, study.seeds[0])
    plan = study.plans[setting, NETWORK]
    alt = f"{scenario.num_clients} clients around the server, and the tours to them"
    return draw_picture(
        figure.name, alt, lambda theme: map_figure(scenario, plan, theme=theme, narrow=True)
    )


def curves(figure: Figure, study: Study, results: Results) -> Picture:
    lines = [band_line(number, line, results) for number, line in enumerate(figure.lines)]
    setting = figure.lines[0].setting
    slot = setting.scenario(study.scale, NETWORK, study.seeds[0]).slot
    names = ", ".join(line.label for line in lines)
    return draw_picture(
        figure.name,
        f"Test accuracy over slots: {names}",
        lambda theme: bands_figure(lines, slot, theme=theme),
        caption=bands_caption(lines),
    )


def band_line(number: int, line: Line, results: Results) -> BandLine:
    """By the slot clock dashed, in the colour of the same line by the exact one."""
    dashed = line.setting.clock == "slots"
    runs = results.per_seed(line.setting, NETWORK).values()
    courses = tuple(Course(run.slots.tolist(), run.accuracy.tolist()) for run in runs)
    hue, cut_short = number - 2 if dashed else number, not all(run.complete for run in runs)
    return BandLine(line.label, courses, hue=hue, dashed=dashed, cut_short=cut_short)


def energies(figure: Figure, study: Study) -> Picture:
    groups = [
        EnergyGroup.of(
            line.label,
            line.setting.scenario(study.scale, NETWORK, study.seeds[0]),
            study.plans[line.setting, NETWORK],
        )
        for line in figure.lines
    ]
    alt = "Energy of each transporter, and its budget"
    return draw_picture(figure.name, alt, lambda theme: energy_figure(groups, theme=theme))


def claims_grid(findings: Sequence[Finding]) -> Grid:
    rows = tuple(
        (
            finding.claim.sentence,
            Cell(finding.verdict, COLOURS[finding.verdict]),
            mean_text(finding.deciding),
            bounds_text(finding.deciding),
        )
        for finding in findings
        if finding.network == NETWORK
    )
    return Grid(("claim", "verdict", "difference", "95 % interval"), rows)


def line_grid(figure: Figure, results: Results) -> Grid:
    """What each line came to, on average over the seeds."""
    rows = []
    for line in figure.lines:
        runs = list(results.per_seed(line.setting, NETWORK).values())
        rows.append((line.label, *line_numbers(runs)))
    head = ("line", "seeds", "mean accuracy", "at the end", "best", "diverged")
    return Grid(head, tuple(rows))


def line_numbers(runs: Sequence[Result]) -> tuple[str, ...]:
    def spread(values: Sequence[float]) -> str:
        low, high, middle = min(values), max(values), sum(values) / len(values)
        return f"{100 * middle:.1f} % ({100 * low:.1f} to {100 * high:.1f})"

    whole = [run for run in runs if run.complete]
    return (
        str(len(runs)),
        spread([run.mean_accuracy for run in runs]),
        spread([float(run.accuracy[-1]) for run in whole]) if whole else "-",
        spread([run.best_accuracy for run in runs]),
        str(len(runs) - len(whole)),
    )
