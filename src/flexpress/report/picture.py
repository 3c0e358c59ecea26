"""A picture for pages: drawn in both themes, with the words that stand for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from matplotlib.figure import Figure

from flexpress.report.png import png_bytes
from flexpress.report.svg import svg_text
from flexpress.report.theme import DARK, LIGHT, Theme

DOTS_PER_INCH = 200


@dataclass(frozen=True)
class Picture:
    """SVG for light and for dark screens, PNG on light paper."""

    name: str  # of its files
    alt: str  # what there is to see, for those who do not
    light: str
    dark: str
    png: bytes
    caption: str = ""


def draw_picture(
    name: str, alt: str, draw: Callable[[Theme], Figure], *, caption: str = ""
) -> Picture:
    """`draw` is called for each theme; the same figure gives the same bytes."""
    light = draw(LIGHT)
    return Picture(
        name=name,
        alt=alt,
        light=svg_text(light),
        dark=svg_text(draw(DARK)),
        png=png_bytes(light, DOTS_PER_INCH),
        caption=caption,
    )
