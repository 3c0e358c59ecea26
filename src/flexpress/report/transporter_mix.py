"""The label mix of each transporter's clients together, with that of all clients drawn over it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, PercentFormatter
from matplotlib.transforms import ScaledTranslation

from flexpress.arrays import FloatArray
from flexpress.report.theme import LIGHT, Theme
from flexpress.theory.label_mixes import LabelMix

MOST_ROWS = 12
TOUCHING = 30  # labels from which bars touch
ROOM = 1.15  # above the highest bar, of its height
EXPLANATION = (
    "line: the mix of all clients\n"
    "off: the share of samples that would need\nanother label for the mix to be that of all"
)


def rows_shown(mixes: Sequence[LabelMix]) -> list[int]:
    """All transporters that fly; of many the most biased."""
    flown = [k for k, mix in enumerate(mixes) if mix.rows]
    return sorted(sorted(flown, key=lambda k: -mixes[k].distance)[:MOST_ROWS])


def draw_transporters(
    axes: Sequence[Axes],
    mixes: Sequence[LabelMix],
    everyone: LabelMix,
    colours: Sequence[str],
    theme: Theme = LIGHT,
) -> None:
    """Those shown one below the other on one scale, all clients in the last axes."""
    *own, last = axes
    shown = rows_shown(mixes)
    for ax, k in zip(own, shown, strict=True):
        draw_bars(ax, mixes[k].shares, everyone.shares, colours[k], theme)
        write(ax, str(k + 1), colours[k], theme, f"{100 * mixes[k].distance:.0f} % off")
    draw_bars(last, everyone.shares, everyone.shares, theme.pale, theme)
    write(last, "all", theme.grey, theme)
    highest = max(float(mix.shares.max()) for mix in (*mixes, everyone)) or 1.0
    for ax in axes:
        frame(ax, highest, theme)
    axes[0].set_title(heading(mixes, shown), loc="left", fontsize=9.5, color=theme.ink)
    label_axis(last, theme)


def draw_bars(ax: Axes, own: FloatArray, everyone: FloatArray, colour: str, theme: Theme) -> None:
    """One mix in colour, that of all clients as a line over it."""
    edges = np.arange(len(own) + 1) - 0.5
    ax.bar(edges[:-1] + 0.5, own, width=0.8 if len(own) < TOUCHING else 1.0, color=colour)
    ax.stairs(everyone, edges, baseline=None, color=theme.ink, linewidth=1.0)
    ax.set_xlim(edges[0], edges[-1])


def write(ax: Axes, name: str, colour: str, theme: Theme, text: str = "") -> None:
    """Beside the bars: who it is, and how far from all."""
    above = ScaledTranslation(6 / 72, 2 / 72, ax.figure.dpi_scale_trans)
    below = ScaledTranslation(6 / 72, -2 / 72, ax.figure.dpi_scale_trans)
    ax.text(1, 0.5, name, color=colour, fontsize=9, weight="bold", transform=ax.transAxes + above)
    ax.text(1, 0.5, text, color=theme.grey, fontsize=8, va="top", transform=ax.transAxes + below)


def heading(mixes: Sequence[LabelMix], shown: Sequence[int]) -> str:
    flown = sum(bool(mix.rows) for mix in mixes)
    if flown == len(shown):
        return "each transporter's clients together"
    return f"together, for the {len(shown)} of {flown} transporters most off"


def frame(ax: Axes, highest: float, theme: Theme) -> None:
    """A line to stand on, and two or three shares to compare with."""
    ax.set_ylim(0.0, ROOM * highest)
    ax.yaxis.set_major_locator(MaxNLocator(2, steps=[1, 2, 5, 10]))
    ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0, symbol=" %"))
    ax.set_xticks([])
    ax.tick_params(colors=theme.grey, labelsize=7.5, length=2)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.spines["bottom"].set_color(theme.pale)


def label_axis(ax: Axes, theme: Theme) -> None:
    ax.xaxis.set_major_locator(MaxNLocator(10, steps=[1, 2, 5, 10], integer=True))
    ax.tick_params(axis="x", labelsize=8)
    ax.set_xlabel("label", color=theme.ink, fontsize=9)
    ax.annotate(
        EXPLANATION,
        (0.0, 0.0),
        xycoords="axes fraction",
        xytext=(0, -34),
        textcoords="offset points",
        va="top",
        fontsize=8,
        color=theme.grey,
    )
