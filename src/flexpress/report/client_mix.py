"""The label mix of every client: a field of shades, grouped by transporter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator, PercentFormatter

from flexpress.report.fonts import families
from flexpress.report.theme import LIGHT, Theme
from flexpress.theory.label_mixes import Counts, LabelMix, shares

GAP, ALL_GAPS = 0.025, 0.15  # between transporters, of all rows: each, and together at most
STRIPE, AWAY = 0.018, 0.012  # width of a stripe and its distance, of the field's width
NAMED_CLIENTS, NAMED_TRANSPORTERS = 60, 40
BELOW, THICK = 0.72, 0.07  # inches: how far below the scale of shades lies, and its height


@dataclass(frozen=True)
class Group:
    """The clients of one transporter: so many rows of the field from `top` on."""

    number: int
    colour: str
    rows: tuple[int, ...]
    top: float

    @property
    def bottom(self) -> float:
        return self.top + len(self.rows)


def draw_clients(
    ax: Axes,
    mixes: Sequence[LabelMix],
    counts: Counts,
    colours: Sequence[str],
    names: Sequence[str],
    theme: Theme = LIGHT,
) -> None:
    """A row per client, in the order of visits; the darker, the larger the share of the label.

    On dark paper, the lighter.
    """
    shades = LinearSegmentedColormap.from_list("shades", theme.shades)
    parts, sides = shares(counts), (-0.5, counts.shape[1] - 0.5)
    darkness = Normalize(0.0, float(parts.max()) or 1.0)
    found = groups(mixes, colours)
    for group in found:
        box = (*sides, group.bottom, group.top)
        field = parts[list(group.rows)]
        ax.imshow(field, shades, darkness, extent=box, interpolation="nearest")
        add_stripe(ax, group, numbered=len(found) <= NAMED_TRANSPORTERS)
    ax.set(aspect="auto", xlim=sides, ylim=(found[-1].bottom, 0.0))
    name_clients(ax, found, names if len(counts) <= NAMED_CLIENTS else (), theme)
    ax.set_title("each client", loc="left", fontsize=9.5, color=theme.ink)
    label_axis(ax, theme)
    add_scale(ax, ScalarMappable(darkness, shades), theme)


def groups(mixes: Sequence[LabelMix], colours: Sequence[str]) -> list[Group]:
    """Those that fly, one below the other with a gap between."""
    found: list[Group] = []
    num_clients, num_groups = sum(len(m.rows) for m in mixes), sum(bool(m.rows) for m in mixes)
    gap = num_clients * min(GAP, ALL_GAPS / num_groups)
    for number, (mix, colour) in enumerate(zip(mixes, colours, strict=True), start=1):
        if mix.rows:
            top = found[-1].bottom + gap if found else 0.0
            found.append(Group(number, colour, mix.rows, top))
    return found


def add_stripe(ax: Axes, group: Group, *, numbered: bool) -> None:
    """The transporter's colour left of its clients, its number right of them."""
    beside = ax.get_yaxis_transform()
    corner, height = (-STRIPE - AWAY, group.top), len(group.rows)
    stripe = Rectangle(corner, STRIPE, height, color=group.colour, linewidth=0, transform=beside)
    stripe.set_clip_on(False)
    ax.add_patch(stripe)
    if numbered:
        middle = (group.top + group.bottom) / 2
        number = ax.text(1 + 2 * AWAY, middle, str(group.number), va="center", transform=beside)
        number.set(color=group.colour, fontsize=9, fontweight="bold")


def name_clients(ax: Axes, found: Sequence[Group], names: Sequence[str], theme: Theme) -> None:
    """Left of the stripes; none if there are too many."""
    rows = [(group.top + j + 0.5, i) for group in found for j, i in enumerate(group.rows)]
    named = rows if names else []
    texts, places = [names[i] for _, i in named], [place for place, _ in named]
    fonts = families(*texts)
    ax.set_yticks(places, texts, fontsize=6.5, color=theme.grey, fontfamily=fonts, parse_math=False)
    ax.tick_params(axis="y", length=0, pad=9)
    if not names:
        text = f"{len(rows):,} clients, in the order of visits"
        ax.set_ylabel(text, color=theme.grey, labelpad=8)


def label_axis(ax: Axes, theme: Theme) -> None:
    """Labels are whole numbers; a field needs no frame."""
    ax.xaxis.set_major_locator(MaxNLocator(10, steps=[1, 2, 5, 10], integer=True))
    ax.tick_params(axis="x", colors=theme.grey, labelsize=8, length=2)
    ax.set_xlabel("label", color=theme.ink, fontsize=9)
    ax.spines[:].set_visible(False)


def add_scale(ax: Axes, shade: ScalarMappable, theme: Theme) -> None:
    figure = ax.figure
    assert isinstance(figure, Figure)
    field, height = ax.get_position(), figure.get_figheight()
    box = (
        field.x0 + 0.45 * field.width,
        field.y0 - BELOW / height,
        0.55 * field.width,
        THICK / height,
    )
    place = figure.add_axes(box, facecolor=theme.paper)
    scale = figure.colorbar(shade, cax=place, orientation="horizontal").ax
    scale.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    scale.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0, symbol=" %"))
    scale.tick_params(colors=theme.grey, labelsize=8, length=2)
    scale.spines[:].set_visible(False)
    text = "share of a client's samples"
    scale.set_ylabel(text, rotation=0, ha="right", va="center", fontsize=8, color=theme.grey)
