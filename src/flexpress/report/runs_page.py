"""A page about a user's own runs: how they compare, and what each of them was."""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Sequence

from flexpress.report.band import BandLine, band_of
from flexpress.report.band_labels import end_texts
from flexpress.report.bands import bands_caption, bands_figure
from flexpress.report.flown_plan import LabelCounts, flown_plans, plan_section
from flexpress.report.page import Cell, Download, Grid, Page, Section
from flexpress.report.picture import Picture, draw_picture
from flexpress.report.plan_grids import heads
from flexpress.report.run_differences import differences
from flexpress.report.run_lines import run_lines
from flexpress.report.run_table import run_figures
from flexpress.report.shown_run import ShownRun, shown_runs
from flexpress.scenario.folder import PLAN, SCENARIO
from flexpress.simulation.stored_run import StoredRun

MOST_COLUMNS = 4
"""Runs that stand side by side; more have a row each."""

MOST_COMMANDS = 8


def runs_page(
    runs: Sequence[StoredRun],
    *,
    label_counts: LabelCounts = lambda scenario: None,
    made_by: str = "",
    figures: str = "figures",
) -> Page:
    """`label_counts` is asked once for each plan; `made_by` stands at the end."""
    shown = shown_runs(runs)
    plans = flown_plans(shown)
    sections = [curves_section(shown)]
    for number, flown in enumerate(plans, start=1):
        anchor = "tours" if len(plans) == 1 else f"tours-{number}"
        title = "Tours" if len(plans) == 1 else f"Tours of {flown.names}"
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
    """The most accurate, and which of them are not whole."""
    found = []
    measured = [run for run in shown if run.summary.accuracy is not None]
    if measured:
        best = max(measured, key=lambda run: run.summary.accuracy or 0.0)
        text = f"{100 * (best.summary.accuracy or 0.0):.1f} % test accuracy at the end"
        found.append(f"Most accurate: {best.name}, {text}." if len(shown) > 1 else f"{text}.")
    parts = [run for run in shown if run.run.state != "complete"]
    if parts:
        names = "; ".join(f"{run.name}: {run.state.text}" for run in parts)
        found.append(f"Not all is there: what follows shows these as far as they went. {names}.")
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
    differing = differences([run.run.scenario for run in shown])
    differing.pop("run.algorithm", None)  # which is told above
    if differing:
        rows = [("run", names), *((key, tuple(texts)) for key, texts in differing.items())]
        grids.append(beside(rows, "What differs"))
    return grids


def beside(columns: Sequence[tuple[str, tuple[str | Cell, ...]]], caption: str = "") -> Grid:
    """A column for each run if they are few, else a row."""
    if len(columns[0][1]) > MOST_COLUMNS:
        rows = zip(*(values for _, values in columns), strict=True)
        return Grid(tuple(name for name, _ in columns), tuple(rows), caption)
    (corner, names), *others = columns
    head = (corner, *map(str, names))
    return Grid(head, tuple((name, *values) for name, values in others), caption)


def curves_section(shown: Sequence[ShownRun]) -> Section:
    lines = run_lines(shown)
    return Section(
        anchor="curves",
        title="Learning curves",
        pictures=(curves_picture(lines, max(run.run.scenario.slot for run in shown)),),
        command=commands(shown),
        downloads=(Download("curves.csv", curves_csv(shown)),),
    )


def curves_picture(lines: Sequence[BandLine], slot: float) -> Picture:
    told = "; ".join(end_texts(lines, [band_of(line) for line in lines]))
    return draw_picture(
        "curves",
        f"Test accuracy over slots. At the end: {told}.",
        lambda theme: bands_figure(lines, slot, theme=theme),
        caption=bands_caption(lines),
    )


def curves_csv(shown: Sequence[ShownRun]) -> str:
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(("run", "slot", "seconds", "loss", "accuracy"))
    for run in shown:
        for m in run.run.trace.metrics:
            table.writerow((run.name, m.slot, repr(m.seconds), repr(m.loss), repr(m.accuracy)))
    return text.getvalue()


def commands(shown: Sequence[ShownRun]) -> str:
    """Each run once more, on its plan."""
    lines = []
    for run in shown[:MOST_COMMANDS]:
        scenario, plan = (shlex.quote(str(run.run.folder / name)) for name in (SCENARIO, PLAN))
        again = shlex.quote(f"again/{run.name}")
        lines.append(f"flexpress simulate {scenario} --plan {plan} --out {again}")
    more = len(shown) - len(lines)
    return "\n".join(lines + ([f"# and {more} more"] if more else []))
