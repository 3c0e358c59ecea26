"""A page about a user's own runs: how they compare, and what each of them was."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from flexpress.arguments import check_all, check_callable, check_path, check_text
from flexpress.files.provenance import Outputs
from flexpress.report.band import band_of
from flexpress.report.band_labels import end_texts
from flexpress.report.curves_section import curves_section
from flexpress.report.flown_plan import LabelCounts, flown_plans, plan_section
from flexpress.report.page import Cell, Grid, Page
from flexpress.report.page_files import FIGURES, figures_beside, write_page
from flexpress.report.plan_grids import heads
from flexpress.report.run_differences import differences
from flexpress.report.run_lines import run_lines
from flexpress.report.run_table import run_figures
from flexpress.report.shown_run import ShownRun, first_few, shown_runs
from flexpress.simulation.run_files import RUN_FILES
from flexpress.simulation.stored_run import StoredRun

MOST_COLUMNS = 4
"""Runs that stand side by side; more have a row each."""

FLOWN = ("simulated", "updates", "mean staleness", "tours", "energy", "waiting")
"""Figures of a second table where runs have rows: with all of them, one would be too wide."""


def save_report(
    runs: Sequence[StoredRun],
    path: str | Path,
    *,
    label_counts: LabelCounts = lambda scenario: None,
    made_by: str = "",
) -> None:
    """The page as an HTML file, its pictures and data in a folder beside it.

    The same runs give the same bytes. Files that are there are replaced, but never those of the
    runs.
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
    """The same by a command."""
    outputs.check(path.parent, (path.name,))
    page = runs_page(runs, label_counts=label_counts, made_by=made_by, figures=figures_beside(path))
    write_page(page, path, outputs)


def files_of(folders: Iterable[Path]) -> list[Path]:
    """What a report is made of."""
    return [folder / name for folder in folders for name in RUN_FILES]


def runs_page(
    runs: Sequence[StoredRun],
    *,
    label_counts: LabelCounts = lambda scenario: None,
    made_by: str = "",
    figures: str = FIGURES,
) -> Page:
    """`label_counts` is asked once for each plan and partition; `made_by` stands at the end."""
    shown = shown_runs(runs)
    plans = flown_plans(shown)
    sections = [curves_section(shown)]
    for number, flown in enumerate(plans, start=1):
        anchor = "tours" if len(plans) == 1 else f"tours-{number}"
        title = "Tours" if len(plans) == 1 else f"Tours {number}: {flown.cost}"
        sections.append(plan_section(flown, anchor, title, label_counts))
    return Page(
        title=page_title(shown),
        lead=tuple(lead(shown)),
        summary=tuple(summary(shown)),
        sections=tuple(sections),
        footer=(made_by,) if made_by else (),
        figures=figures,
    )


def page_title(shown: Sequence[ShownRun]) -> str:
    names = ", ".join(dict.fromkeys(run.run.scenario.name for run in shown))
    if len(shown) == 1:
        return f"{names}: {shown[0].run.scenario.run.algorithm}"
    return f"{names}: {len(shown)} runs compared"


def lead(shown: Sequence[ShownRun]) -> list[str]:
    """What it came to, and which of them are not whole."""
    lines = run_lines(shown)
    ends = first_few(end_texts(lines, [band_of(line) for line in lines]))
    found = [f"Test accuracy at the end: {'; '.join(' '.join(text.split()) for text in ends)}."]
    parts = [run for run in shown if run.run.state != "complete"]
    if parts:
        names = "; ".join(first_few([f"{run.name} {run.state.text}" for run in parts]))
        found.append(f"Not complete, and shown as far as it went: {names}.")
    return found


def summary(shown: Sequence[ShownRun]) -> list[Grid]:
    """How far, how good, how soon, at which cost; and what differs between them."""
    figures = run_figures([r.summary for r in shown], [r.run.trace for r in shown])
    names = tuple(run.name for run in shown)
    columns: list[tuple[str, tuple[str | Cell, ...]]] = [
        ("run", names),
        ("state", tuple(run.state for run in shown)),
        *((h, tuple(t)) for h, (_, _, t) in zip(heads(figures), figures, strict=True)),
    ]
    grids = [beside(columns)]
    if len(shown) > MOST_COLUMNS:
        flown = [column for column in columns if column[0].startswith(FLOWN)]
        learned = [column for column in columns if column not in flown]
        grids = [beside(learned), beside([columns[0], *flown])]
    differing = differences([run.run.scenario for run in shown])
    differing.pop("run.algorithm", None)  # which is told above
    if differing:
        rows = [("run", names), *((key, tuple(texts)) for key, texts in differing.items())]
        grids.append(replace(beside(rows, "What differs"), folded=len(shown) > MOST_COLUMNS))
    return grids


def beside(columns: Sequence[tuple[str, tuple[str | Cell, ...]]], caption: str = "") -> Grid:
    """A column for each run if they are few, else a row."""
    if len(columns[0][1]) > MOST_COLUMNS:
        rows = zip(*(values for _, values in columns), strict=True)
        return Grid(tuple(name for name, _ in columns), tuple(rows), caption)
    (corner, names), *others = columns
    head = (corner, *map(str, names))
    return Grid(head, tuple((name, *values) for name, values in others), caption)
