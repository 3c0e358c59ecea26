"""The learning curves of runs as a section of a page."""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Sequence

from flexpress.files.disk import PLAN, SCENARIO
from flexpress.report.band import BandLine, band_of
from flexpress.report.band_labels import end_texts
from flexpress.report.bands import bands_caption, bands_figure
from flexpress.report.page import Download, Section
from flexpress.report.picture import Picture, draw_picture
from flexpress.report.run_lines import run_lines
from flexpress.report.shown_run import ShownRun, first_few

MOST_COMMANDS = 8


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
    told = "; ".join(first_few(end_texts(lines, [band_of(line) for line in lines])))
    return draw_picture(
        "curves",
        f"Test accuracy and loss over slots. Accuracy at the end: {told}.",
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
