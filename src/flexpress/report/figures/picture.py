"""Figures as PNG and SVG; the same figure gives the same bytes.

Text in an SVG stays text: files are small, can be searched and edited, and need only common fonts.
Verdana is as wide as DejaVu Sans, with which the positions were computed.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import dataclass

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from flexpress.report.figures.style import DARK, LIGHT, Theme

_DOTS_PER_INCH = 200

_METADATA = dict.fromkeys(("Date", "Creator", "Format", "Type"))
_FONTS = "'DejaVu Sans', Verdana, sans-serif"
_SPACES = " text{white-space: pre}"

_PROLOGUE = re.compile(r"\A.*?(?=<svg)", re.DOTALL)
_FAMILY = re.compile(r"'DejaVu Sans'[^;\"]*")
_OUTLINE = re.compile(r'(?<= d=")[^"]*')
_COMMAND = re.compile(r"\s*([A-Za-z])\s*")
_NUMBER = re.compile(r"-?\d+\.\d+")
_DECIMALS = 2
"""Decimals of coordinates in outlines, in 1/72 inch: finer than the eye can see."""


@dataclass(frozen=True)
class Picture:
    """A figure in both themes: SVG for light and dark screens, PNG on a light background."""

    name: str  # of its files
    alt: str  # the text for readers who cannot see it
    light: str
    dark: str
    png: bytes
    caption: str = ""


def draw_picture(
    name: str, alt: str, draw: Callable[[Theme], Figure], *, caption: str = ""
) -> Picture:
    """Calls `draw` once for each theme."""
    light = draw(LIGHT)
    return Picture(
        name=name,
        alt=alt,
        light=_svg_text(light),
        dark=_svg_text(draw(DARK)),
        png=png_bytes(light),
        caption=caption,
    )


def new_figure(width: float, height: float, theme: Theme = LIGHT) -> Figure:
    """An empty figure of this size in inches, which can measure the text in it."""
    figure = Figure(figsize=(width, height), facecolor=theme.paper)
    FigureCanvasAgg(figure)
    return figure


def png_bytes(figure: Figure, dots_per_inch: int = _DOTS_PER_INCH) -> bytes:
    """Cropped to what is drawn."""
    image = io.BytesIO()
    figure.savefig(image, dpi=dots_per_inch, bbox_inches="tight", metadata={"Software": None})
    return image.getvalue()


def _svg_text(figure: Figure) -> str:
    """One `<svg>` element without external references, cropped; spaces in texts are kept."""
    image = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "flexpress"}):
        figure.savefig(image, format="svg", bbox_inches="tight", metadata=_METADATA)
    text = _PROLOGUE.sub("", image.getvalue(), count=1)
    text = _FAMILY.sub(_FONTS, text.replace("</style>", f"{_SPACES}</style>", 1))
    return _OUTLINE.sub(lambda found: _shorter(found[0]), text)


def _shorter(outline: str) -> str:
    """The outline with fewer digits and spaces."""
    return _COMMAND.sub(r"\1", _NUMBER.sub(_rounded, outline))


def _rounded(number: re.Match[str]) -> str:
    text = f"{float(number[0]):.{_DECIMALS}f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
