"""The label mix of every client, and of each transporter's clients together.

It shows how biased the data are that one transporter brings home. The paper explains with this
bias why Async suffers where clients close to each other have similar data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator, PercentFormatter
from matplotlib.transforms import ScaledTranslation

from flexpress.arguments import check_path
from flexpress.arrays import FloatArray
from flexpress.files.disk import write_file
from flexpress.learning import make_task
from flexpress.planning import Plan
from flexpress.planning.colours import tour_colours
from flexpress.planning.plan_file import check_plan
from flexpress.report.figures.fonts import drawn_clients, families, title_text
from flexpress.report.figures.picture import new_figure, png_bytes
from flexpress.report.figures.style import LIGHT, Theme
from flexpress.scenario import Scenario
from flexpress.theory.label_mixes import Counts, LabelMix, label_mix, label_mixes, shares

_CLIENTS_WIDTH, _BETWEEN, _TRANSPORTERS_WIDTH = 3.2, 0.75, 2.6  # inches
_CLIENT, _TRANSPORTER = 0.13, 0.5  # inches: height of each, if there is room
_LOWEST, _HIGHEST = 2.2, 9.0  # inches
_TITLE = 0.42  # inches above the axes

_GAP, _ALL_GAPS = 0.025, 0.15  # between transporters, of all rows: each, and at most in total
_STRIPE, _STRIPE_GAP = 0.018, 0.012  # width of a stripe and its distance, of the axes' width
_NAMED_CLIENTS, _NAMED_TRANSPORTERS = 60, 40
_BELOW, _THICK = 0.72, 0.07  # inches: distance of the colour scale below the axes, and its height

_MOST_ROWS = 12
_TOUCHING = 30  # labels from which bars touch
_ROOM = 1.15  # of the height of the highest bar
_EXPLANATION = (
    "line: the mix of all clients\n"
    "off: the share of samples that would need\nanother label for the mix to be that of all"
)


def save_label_mix(scenario: Scenario, plan: Plan, path: str | Path) -> None:
    """Draw the label mix of the scenario's data as a PNG file; an existing file is replaced."""
    check_plan(scenario, plan)
    path = check_path("path", path)
    counts = make_task(scenario).label_counts()
    write_file(path, label_mix_png(scenario, plan, counts))


def label_mix_png(scenario: Scenario, plan: Plan, counts: Counts) -> bytes:
    """`counts`: samples of each label, (clients, labels), clients in the scenario's order."""
    title = f"{scenario.name}: {scenario.learning.dataset}, {scenario.learning.partition}"
    return png_bytes(label_mix_figure(scenario, plan, counts, title))


def label_mix_figure(
    scenario: Scenario, plan: Plan, counts: Counts, title: str, *, theme: Theme = LIGHT
) -> Figure:
    """At the left each client in the order of visits, at the right each transporter, then all."""
    mixes = label_mixes(scenario, plan, counts)
    colours = [theme.line(colour) for colour in tour_colours(scenario, plan)]
    shown = _rows_shown(mixes)
    width = _CLIENTS_WIDTH + _BETWEEN + _TRANSPORTERS_WIDTH
    height = _height_of(len(counts), len(shown))
    figure = new_figure(width, height, theme)
    place = (0.0, 0.0, _CLIENTS_WIDTH / width, 1.0)
    clients = figure.add_axes(place, facecolor=theme.paper)
    _draw_clients(clients, mixes, counts, colours, drawn_clients(scenario), theme)
    axes = _column_of_axes(figure, len(shown) + 1, theme)
    _draw_transporters(axes, mixes, label_mix(range(len(counts)), counts), colours, theme)
    above = 1 + _TITLE / height
    heading = figure.text(0, above, title_text(title), fontsize=11, va="bottom", parse_math=False)
    heading.set(color=theme.ink, fontfamily=families(heading.get_text()))
    return figure


def _height_of(num_clients: int, num_transporters: int) -> float:
    """High enough for both sides, but not higher than a page."""
    wanted = max(_CLIENT * num_clients, _TRANSPORTER * (num_transporters + 1))
    return min(max(wanted, _LOWEST), _HIGHEST)


def _column_of_axes(figure: Figure, number: int, theme: Theme) -> list[Axes]:
    """One below the other at the right edge."""
    left = 1 - _TRANSPORTERS_WIDTH / figure.get_figwidth()
    grid = figure.add_gridspec(number, 1, left=left, right=1, bottom=0, top=1, hspace=0.3)
    return [figure.add_subplot(grid[j, 0], facecolor=theme.paper) for j in range(number)]


@dataclass(frozen=True)
class _Group:
    """The clients of one transporter: adjacent rows, the first at `top`."""

    number: int
    colour: str
    rows: tuple[int, ...]
    top: float

    @property
    def bottom(self) -> float:
        return self.top + len(self.rows)


def _draw_clients(
    ax: Axes,
    mixes: Sequence[LabelMix],
    counts: Counts,
    colours: Sequence[str],
    names: Sequence[str],
    theme: Theme = LIGHT,
) -> None:
    """One row per client in the order of visits; stronger shades are larger shares of a label."""
    shades = LinearSegmentedColormap.from_list("shades", theme.shades)
    parts, sides = shares(counts), (-0.5, counts.shape[1] - 0.5)
    darkness = Normalize(0.0, float(parts.max()) or 1.0)
    found = _groups(mixes, colours)
    for group in found:
        box = (*sides, group.bottom, group.top)
        field = parts[list(group.rows)]
        ax.imshow(field, shades, darkness, extent=box, interpolation="nearest")
        _add_stripe(ax, group, numbered=len(found) <= _NAMED_TRANSPORTERS)
    ax.set(aspect="auto", xlim=sides, ylim=(found[-1].bottom, 0.0))
    _name_clients(ax, found, names if len(counts) <= _NAMED_CLIENTS else (), theme)
    ax.set_title("each client", loc="left", fontsize=9.5, color=theme.ink)
    _label_field(ax, theme)
    _add_scale(ax, ScalarMappable(darkness, shades), theme)


def _groups(mixes: Sequence[LabelMix], colours: Sequence[str]) -> list[_Group]:
    """The transporters that fly, one below the other with a gap between them."""
    found: list[_Group] = []
    num_clients, num_groups = sum(len(m.rows) for m in mixes), sum(bool(m.rows) for m in mixes)
    gap = num_clients * min(_GAP, _ALL_GAPS / num_groups)
    for number, (mix, colour) in enumerate(zip(mixes, colours, strict=True), start=1):
        if mix.rows:
            top = found[-1].bottom + gap if found else 0.0
            found.append(_Group(number, colour, mix.rows, top))
    return found


def _add_stripe(ax: Axes, group: _Group, *, numbered: bool) -> None:
    """The transporter's colour to the left of its clients, its number to the right."""
    beside = ax.get_yaxis_transform()
    corner, height = (-_STRIPE - _STRIPE_GAP, group.top), len(group.rows)
    stripe = Rectangle(corner, _STRIPE, height, color=group.colour, linewidth=0, transform=beside)
    stripe.set_clip_on(False)
    ax.add_patch(stripe)
    if numbered:
        middle = (group.top + group.bottom) / 2
        number = ax.text(
            1 + 2 * _STRIPE_GAP, middle, str(group.number), va="center", transform=beside
        )
        number.set(color=group.colour, fontsize=9, fontweight="bold")


def _name_clients(ax: Axes, found: Sequence[_Group], names: Sequence[str], theme: Theme) -> None:
    """Write the names, if any, to the left of the stripes; otherwise how many clients there are."""
    rows = [(group.top + j + 0.5, i) for group in found for j, i in enumerate(group.rows)]
    named = rows if names else []
    texts, places = [names[i] for _, i in named], [place for place, _ in named]
    fonts = families(*texts)
    ax.set_yticks(places, texts, fontsize=6.5, color=theme.grey, fontfamily=fonts, parse_math=False)
    ax.tick_params(axis="y", length=0, pad=9)
    if not names:
        text = f"{len(rows):,} clients, in the order of visits"
        ax.set_ylabel(text, color=theme.grey, labelpad=8)


def _label_field(ax: Axes, theme: Theme) -> None:
    ax.xaxis.set_major_locator(_label_ticks())
    ax.tick_params(axis="x", colors=theme.grey, labelsize=8, length=2)
    ax.set_xlabel("label", color=theme.ink, fontsize=9)
    ax.spines[:].set_visible(False)


def _label_ticks() -> MaxNLocator:
    """Labels are whole numbers."""
    return MaxNLocator(10, steps=[1, 2, 5, 10], integer=True)


def _add_scale(ax: Axes, shade: ScalarMappable, theme: Theme) -> None:
    """The scale of the shades, below the axes."""
    figure = ax.figure
    assert isinstance(figure, Figure)
    field, height = ax.get_position(), figure.get_figheight()
    box = (
        field.x0 + 0.45 * field.width,
        field.y0 - _BELOW / height,
        0.55 * field.width,
        _THICK / height,
    )
    place = figure.add_axes(box, facecolor=theme.paper)
    scale = figure.colorbar(shade, cax=place, orientation="horizontal").ax
    scale.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    scale.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0, symbol=" %"))
    scale.tick_params(colors=theme.grey, labelsize=8, length=2)
    scale.spines[:].set_visible(False)
    text = "share of a client's samples"
    scale.set_ylabel(text, rotation=0, ha="right", va="center", fontsize=8, color=theme.grey)


def _rows_shown(mixes: Sequence[LabelMix]) -> list[int]:
    """The transporters that fly; the most biased if there are too many."""
    flown = [k for k, mix in enumerate(mixes) if mix.rows]
    return sorted(sorted(flown, key=lambda k: -mixes[k].distance)[:_MOST_ROWS])


def _draw_transporters(
    axes: Sequence[Axes],
    mixes: Sequence[LabelMix],
    everyone: LabelMix,
    colours: Sequence[str],
    theme: Theme = LIGHT,
) -> None:
    """The transporters one below the other on the same scale, all clients in the last axes."""
    *own, last = axes
    shown = _rows_shown(mixes)
    for ax, k in zip(own, shown, strict=True):
        _draw_bars(ax, mixes[k].shares, everyone.shares, colours[k], theme)
        _write(ax, str(k + 1), colours[k], theme, f"{100 * mixes[k].distance:.0f} % off")
    _draw_bars(last, everyone.shares, everyone.shares, theme.pale, theme)
    _write(last, "all", theme.grey, theme)
    highest = max(float(mix.shares.max()) for mix in (*mixes, everyone)) or 1.0
    for ax in axes:
        _frame(ax, highest, theme)
    axes[0].set_title(_heading(mixes, shown), loc="left", fontsize=9.5, color=theme.ink)
    _label_bars(last, theme)


def _draw_bars(ax: Axes, own: FloatArray, everyone: FloatArray, colour: str, theme: Theme) -> None:
    """One mix as bars, the mix of all clients as a line."""
    edges = np.arange(len(own) + 1) - 0.5
    ax.bar(edges[:-1] + 0.5, own, width=0.8 if len(own) < _TOUCHING else 1.0, color=colour)
    ax.stairs(everyone, edges, baseline=None, color=theme.ink, linewidth=1.0)
    ax.set_xlim(edges[0], edges[-1])


def _write(ax: Axes, name: str, colour: str, theme: Theme, text: str = "") -> None:
    """Write the name of the row, and a text below it, to the right of the bars."""
    above = ScaledTranslation(6 / 72, 2 / 72, ax.figure.dpi_scale_trans)
    below = ScaledTranslation(6 / 72, -2 / 72, ax.figure.dpi_scale_trans)
    ax.text(1, 0.5, name, color=colour, fontsize=9, weight="bold", transform=ax.transAxes + above)
    ax.text(1, 0.5, text, color=theme.grey, fontsize=8, va="top", transform=ax.transAxes + below)


def _heading(mixes: Sequence[LabelMix], shown: Sequence[int]) -> str:
    flown = sum(bool(mix.rows) for mix in mixes)
    if flown == len(shown):
        return "each transporter's clients together"
    return f"together, for the {len(shown)} of {flown} transporters most off"


def _frame(ax: Axes, highest: float, theme: Theme) -> None:
    """A base line, and two or three ticks for the shares."""
    ax.set_ylim(0.0, _ROOM * highest)
    ax.yaxis.set_major_locator(MaxNLocator(2, steps=[1, 2, 5, 10]))
    ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0, symbol=" %"))
    ax.set_xticks([])
    ax.tick_params(colors=theme.grey, labelsize=7.5, length=2)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.spines["bottom"].set_color(theme.pale)


def _label_bars(ax: Axes, theme: Theme) -> None:
    ax.xaxis.set_major_locator(_label_ticks())
    ax.tick_params(axis="x", labelsize=8)
    ax.set_xlabel("label", color=theme.ink, fontsize=9)
    ax.annotate(
        _EXPLANATION,
        (0.0, 0.0),
        xycoords="axes fraction",
        xytext=(0, -34),
        textcoords="offset points",
        va="top",
        fontsize=8,
        color=theme.grey,
    )
