"""The label mix: of every client, and of each transporter's clients together beside all the data.

One sees at a glance how biased the data are that one transporter brings home, by which the paper
explains why Async suffers where clients that are close to each other have similar data.
"""

from __future__ import annotations

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from flexpress.arguments import check_path
from flexpress.files.disk import write_files
from flexpress.planning import Plan
from flexpress.planning.colours import tour_colours
from flexpress.planning.plan_file import check_plan
from flexpress.report.client_mix import draw_clients
from flexpress.report.fonts import drawn_clients, families, title_text
from flexpress.report.png import png_bytes
from flexpress.report.theme import LIGHT, Theme
from flexpress.report.transporter_mix import draw_transporters, rows_shown
from flexpress.scenario import Scenario
from flexpress.theory.label_mixes import Counts, label_mix, label_mixes
from flexpress.theory.outlook import check_counts

DOTS_PER_INCH = 200
CLIENTS_WIDTH, BETWEEN, TRANSPORTERS_WIDTH = 3.2, 0.75, 2.6  # inches
CLIENT, TRANSPORTER = 0.13, 0.5  # inches that each is high, if there is room
LOWEST, HIGHEST = 2.2, 9.0  # inches
TITLE = 0.42  # inches above the pictures


def save_label_mix(scenario: Scenario, plan: Plan, counts: Counts, path: str | Path) -> None:
    """The picture as a PNG file; `counts` are label_counts() of a task of the scenario."""
    check_plan(scenario, plan)
    check_counts(scenario, counts)
    path = check_path("path", path)
    write_files(path.parent, {path.name: label_mix_png(scenario, plan, counts)})


def label_mix_png(scenario: Scenario, plan: Plan, counts: Counts) -> bytes:
    """`counts`: (clients, labels), samples of each label, clients in the scenario's order."""
    title = f"{scenario.name}: {scenario.learning.dataset}, {scenario.learning.partition}"
    return png_bytes(label_mix_figure(scenario, plan, counts, title), DOTS_PER_INCH)


def label_mix_figure(
    scenario: Scenario, plan: Plan, counts: Counts, title: str, *, theme: Theme = LIGHT
) -> Figure:
    """Left every client, in the order of visits; right every transporter, and all clients."""
    mixes = label_mixes(scenario, plan, counts)
    colours = [theme.line(colour) for colour in tour_colours(scenario, plan)]
    shown = rows_shown(mixes)
    figure = new_figure(len(counts), len(shown), theme)
    width, height = figure.get_size_inches()
    place = (0.0, 0.0, CLIENTS_WIDTH / width, 1.0)
    clients = figure.add_axes(place, facecolor=theme.paper)
    draw_clients(clients, mixes, counts, colours, drawn_clients(scenario), theme)
    axes = column_of_axes(figure, len(shown) + 1, theme)
    draw_transporters(axes, mixes, label_mix(range(len(counts)), counts), colours, theme)
    above = 1 + TITLE / height
    heading = figure.text(0, above, title_text(title), fontsize=11, va="bottom", parse_math=False)
    heading.set(color=theme.ink, fontfamily=families(heading.get_text()))
    return figure


def new_figure(num_clients: int, num_transporters: int, theme: Theme) -> Figure:
    """High enough for both pictures, and never higher than a page."""
    wanted = max(CLIENT * num_clients, TRANSPORTER * (num_transporters + 1))
    size = CLIENTS_WIDTH + BETWEEN + TRANSPORTERS_WIDTH, min(max(wanted, LOWEST), HIGHEST)
    figure = Figure(figsize=size, facecolor=theme.paper)
    FigureCanvasAgg(figure)
    return figure


def column_of_axes(figure: Figure, number: int, theme: Theme) -> list[Axes]:
    """One below the other at the right edge."""
    left = 1 - TRANSPORTERS_WIDTH / figure.get_figwidth()
    grid = figure.add_gridspec(number, 1, left=left, right=1, bottom=0, top=1, hspace=0.3)
    return [figure.add_subplot(grid[j, 0], facecolor=theme.paper) for j in range(number)]
