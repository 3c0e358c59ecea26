"""What an accuracy costs, as a section of a page: a picture, a table for each accuracy, and CSV."""

from __future__ import annotations

from collections.abc import Sequence

from flexpress.planning.colours import COLOURS
from flexpress.report.figures.costs import CostRow, costs_figure
from flexpress.report.figures.picture import Picture, draw_picture
from flexpress.report.page.page import Download, Grid, PageSection
from flexpress.report.page.shown_runs import ShownRun, first_few, line_of_each
from flexpress.report.tables.columns import heads
from flexpress.report.tables.costs import (
    NOT_REACHED,
    Cost,
    cost_columns,
    costs_csv,
    costs_of,
    usual_targets,
)

_TEXT = (
    "Tours, time and energy of each run until the test accuracy is first measured at this value. "
    "Only tours that have ended count. An ideal link has no flights."
)


def costs_sections(shown: Sequence[ShownRun]) -> list[PageSection]:
    """One section if there are runs to compare and they have learned something, else none."""
    targets = usual_targets(run.run.trace for run in shown)
    if len(shown) < 2 or not targets:
        return []
    costs = [tuple(costs_of(run.run.trace, targets)) for run in shown]
    names = [run.name for run in shown]
    return [
        PageSection(
            anchor="costs",
            title="What an accuracy costs",
            text=(_TEXT,),
            pictures=(_picture(shown, costs),),
            tables=tuple(_grid(names, [each[j] for each in costs]) for j, _ in enumerate(targets)),
            downloads=(Download("costs.csv", costs_csv(zip(names, costs, strict=True))),),
        )
    ]


def _picture(shown: Sequence[ShownRun], costs: Sequence[tuple[Cost, ...]]) -> Picture:
    rows = [
        CostRow(line.label, own, COLOURS[line.hue % len(COLOURS)], strong=line.dashed)
        for line, own in zip(line_of_each(shown), costs, strict=True)
    ]
    last = [f"{row.label} {_in_words(row.costs[-1])}" for row in rows]
    target = f"{100 * costs[0][-1].target:g} %"
    open_bars = any(not cost.reached for own in costs for cost in own)
    note = " An open bar reaches to the end of a run that did not get there." if open_bars else ""
    return draw_picture(
        "costs",
        f"Tours, time and energy until {target}: {'; '.join(first_few(last))}.",
        lambda theme: costs_figure(rows, theme=theme),
        caption=f"What each run flew until the server had learned so much.{note}",
    )


def _in_words(cost: Cost) -> str:
    if not cost.reached:
        return NOT_REACHED
    hours, kilojoules = cost.seconds / 3600, cost.energy / 1e3
    return f"{cost.tours:,} tours, {hours:.3g} h, {kilojoules:,.0f} kJ"


def _grid(names: Sequence[str], costs: Sequence[Cost]) -> Grid:
    columns = cost_columns(names, costs)
    rows = zip(*(texts for _, _, texts in columns), strict=True)
    return Grid(heads(columns), tuple(rows), f"Until {100 * costs[0].target:g} %")
