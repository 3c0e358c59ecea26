"""A page about the user's own runs: how they compare, and what each of them flew."""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from flexpress.arguments import check_all, check_callable, check_path, check_text
from flexpress.files.disk import PLAN, SCENARIO
from flexpress.files.provenance import Outputs
from flexpress.report.figures.band_figure import bands_figure
from flexpress.report.figures.bands import band_of, bands_caption, end_texts
from flexpress.report.figures.picture import Picture, draw_picture
from flexpress.report.page.costs import costs_sections
from flexpress.report.page.html import FIGURES_FOLDER, figures_beside, write_page
from flexpress.report.page.page import Cell, Download, Grid, Page, PageSection
from flexpress.report.page.plans import LabelCounts, flown_plans, plan_section
from flexpress.report.page.shown_runs import (
    HEAD_START,
    ShownRun,
    dashes_mean,
    differences,
    first_few,
    run_lines,
    shown_runs,
)
from flexpress.report.tables.columns import heads
from flexpress.report.tables.runs import run_figures
from flexpress.simulation.run_files import RUN_FILES
from flexpress.simulation.stored_run import StoredRun

_MOST_COLUMNS = 5
"""Up to this number, each run has a column; otherwise a row."""

_FLOWN = ("simulated", "updates", "mean staleness", "tours", "energy", "waiting")
"""Figures in a second table if runs have rows; a single table would be too wide."""

_MOST_COMMANDS = 8


def save_report(
    runs: Sequence[StoredRun],
    path: str | Path,
    *,
    label_counts: LabelCounts = lambda scenario: None,
    made_by: str = "",
) -> None:
    """Write the page as an HTML file, its pictures and data into a folder beside it.

    The same runs give the same bytes. Existing files are replaced, but never those of the runs.
    """
    runs = check_all("runs", runs, StoredRun, "read them with load_run(folder)")
    check_callable(label_counts=label_counts)
    check_text("made_by", made_by)
    path = check_path("path", path)
    outputs = Outputs(inputs=files_of(run.folder for run in runs))
    write_report(runs, path, outputs, label_counts=label_counts, made_by=made_by)


def write_report(
    runs: Sequence[StoredRun],
    path: Path,
    outputs: Outputs,
    *,
    label_counts: LabelCounts,
    made_by: str,
) -> None:
    """The same for a command, with its record of outputs."""
    outputs.check(path.parent, (path.name,))
    page = _runs_page(
        runs, label_counts=label_counts, made_by=made_by, figures=figures_beside(path)
    )
    write_page(page, path, outputs)


def files_of(folders: Iterable[Path]) -> list[Path]:
    """The files that a report reads."""
    return [folder / name for folder in folders for name in RUN_FILES]


def _runs_page(
    runs: Sequence[StoredRun],
    *,
    label_counts: LabelCounts = lambda scenario: None,
    made_by: str = "",
    figures: str = FIGURES_FOLDER,
) -> Page:
    """Calls `label_counts` once for each plan and partition; `made_by` is the last line."""
    shown = shown_runs(runs)
    plans = flown_plans(shown)
    sections = [_curves_section(shown), *costs_sections(shown)]
    for number, flown in enumerate(plans, start=1):
        anchor = "tours" if len(plans) == 1 else f"tours-{number}"
        title = "Tours" if len(plans) == 1 else f"Tours {number}: {flown.cost}"
        sections.append(plan_section(flown, anchor, title, label_counts))
    return Page(
        title=_page_title(shown),
        lead=tuple(_lead(shown)),
        summary=tuple(_summary(shown)),
        sections=tuple(sections),
        footer=(made_by,) if made_by else (),
        figures=figures,
    )


def _page_title(shown: Sequence[ShownRun]) -> str:
    names = ", ".join(dict.fromkeys(run.run.scenario.name for run in shown))
    if len(shown) == 1:
        return f"{names}: {shown[0].run.trace.label}"
    return f"{names}: {len(shown)} runs compared"


def _lead(shown: Sequence[ShownRun]) -> list[str]:
    """The final accuracies, and the runs that are not complete."""
    lines = run_lines(shown)
    ends = first_few(end_texts(lines, [band_of(line) for line in lines]))
    found = [f"Test accuracy at the end: {'; '.join(text.replace('  ', ': ') for text in ends)}."]
    parts = [run for run in shown if run.run.state != "complete"]
    if parts:
        names = "; ".join(first_few([f"{run.name} {run.state.text}" for run in parts]))
        found.append(f"Not complete, and shown as far as it went: {names}.")
    return found


def _summary(shown: Sequence[ShownRun]) -> list[Grid]:
    """The figures of the runs, and the settings in which they differ."""
    figures = run_figures([r.summary for r in shown], [r.run.trace for r in shown])
    names = tuple(run.name for run in shown)
    columns: list[tuple[str, tuple[str | Cell, ...]]] = [
        ("run", names),
        ("state", tuple(run.state for run in shown)),
        *((h, tuple(t)) for h, (_, _, t) in zip(heads(figures), figures, strict=True)),
    ]
    grids = [_beside(columns)]
    if len(shown) > _MOST_COLUMNS:
        flown = [column for column in columns if column[0].startswith(_FLOWN)]
        learned = [column for column in columns if column not in flown]
        grids = [_beside(learned), _beside([columns[0], *flown])]
    differing = differences([run.run.scenario for run in shown])
    for key in ("run.algorithm", HEAD_START):  # which are in the first table
        differing.pop(key, None)
    if differing:
        rows = [("run", names), *((key, tuple(texts)) for key, texts in differing.items())]
        grids.append(replace(_beside(rows, "What differs"), folded=len(shown) > _MOST_COLUMNS))
    return grids


def _beside(columns: Sequence[tuple[str, tuple[str | Cell, ...]]], caption: str = "") -> Grid:
    """One column per run if there are few, otherwise one row."""
    if len(columns[0][1]) > _MOST_COLUMNS:
        rows = zip(*(values for _, values in columns), strict=True)
        return Grid(tuple(name for name, _ in columns), tuple(rows), caption)
    (corner, names), *others = columns
    head = (corner, *map(str, names))
    return Grid(head, tuple((name, *values) for name, values in others), caption)


def _curves_section(shown: Sequence[ShownRun]) -> PageSection:
    return PageSection(
        anchor="curves",
        title="Learning curves",
        pictures=(_curves_picture(shown),),
        command=_commands(shown),
        downloads=(Download("curves.csv", _curves_csv(shown)),),
    )


def _curves_picture(shown: Sequence[ShownRun]) -> Picture:
    lines, slot = run_lines(shown), max(run.run.scenario.slot for run in shown)
    ends = "; ".join(first_few(end_texts(lines, [band_of(line) for line in lines])))
    return draw_picture(
        "curves",
        f"Test accuracy and loss over slots. Accuracy at the end: {ends}.",
        lambda theme: bands_figure(lines, slot, theme=theme),
        caption=bands_caption(lines, dashes_mean(shown)),
    )


def _curves_csv(shown: Sequence[ShownRun]) -> str:
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(("run", "slot", "seconds", "loss", "accuracy"))
    for run in shown:
        for m in run.run.trace.metrics:
            table.writerow((run.name, m.slot, repr(m.seconds), repr(m.loss), repr(m.accuracy)))
    return text.getvalue()


def _commands(shown: Sequence[ShownRun]) -> str:
    """The commands that repeat each run on its plan. None for missions in the field.

    The scenario of an earlier version would now be flown with a head start.
    """
    shown = [run for run in shown if run.run.trace.recorded is None]
    lines = []
    for run in shown[:_MOST_COMMANDS]:
        scenario, plan = (shlex.quote(str(run.run.folder / name)) for name in (SCENARIO, PLAN))
        again = shlex.quote(f"again/{run.name}")
        options = " --head-start 0" if run.run.earlier else ""
        lines.append(f"flexpress simulate {scenario} --plan {plan}{options} --out {again}")
    more = len(shown) - len(lines)
    return "\n".join(lines + ([f"# and {more} more"] if more else []))
