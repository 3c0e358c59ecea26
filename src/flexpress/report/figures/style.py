"""Colours of figures: a light and a dark theme, and a palette that is legible in both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from flexpress.planning.colours import OKABE_ITO
from flexpress.scenario import Algorithm

INK = "#222222"
_ZONE, _ZONE_FILL, HATCH = "#cf9d96", "#faf3f2", "///"  # a no-fly zone: tints of NO_FLY

ALGORITHMS: dict[Algorithm, str] = dict(zip(("sync", "async", "direct"), OKABE_ITO, strict=False))

LineStyle = str | tuple[float, tuple[float, float]]

DASHES: LineStyle = (0, (3.5, 1.4))
"""Of dashed lines: runs with a head start have the colour of their algorithm, and dashes."""

_STEPS = 64
"""Mixtures of colour and ink that are tried."""

_TEXT_CONTRAST = 4.5
"""The least contrast of text to its background (WCAG 2)."""


def _contrast(one: str, other: str) -> float:
    """From 1 (the same brightness) to 21 (black on white), as WCAG 2 defines it."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    red, green, blue = (_linear(part) for part in _rgb(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(part: float) -> float:
    """The linear intensity of an sRGB value."""
    return part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4)


def _legible(colour: str, paper: str, ink: str, least: float) -> str:
    """The colour, mixed with just enough ink to reach this contrast to the paper."""
    if _contrast(colour, paper) >= least:
        return colour
    mixed = (_mix(colour, ink, step / _STEPS) for step in range(1, _STEPS))
    return next((found for found in mixed if _contrast(found, paper) >= least), ink)


def _mix(colour: str, other: str, share: float) -> str:
    """The colour with this share of the other in it."""
    both = zip(_rgb(colour), _rgb(other), strict=True)
    mixed = (round(255 * (a + share * (b - a))) for a, b in both)
    return "#" + "".join(f"{part:02x}" for part in mixed)


def _rgb(colour: str) -> tuple[float, float, float]:
    """Red, green and blue of "#rrggbb", between 0 and 1."""
    red, green, blue = (int(colour[j : j + 2], 16) / 255 for j in (1, 3, 5))
    return red, green, blue


@dataclass(frozen=True)
class Theme:
    """The fixed colours of a figure; `line`, `words` and `fill` adapt the palette to it."""

    name: Literal["light", "dark"]
    paper: str
    ink: str  # titles, names of axes
    grey: str  # numbers at ticks, notes
    pale: str  # frames
    faint: str  # grids
    outline: str  # blocks on a map
    zone: str  # no-fly zones: their edge and hatching, and what is inside
    zone_fill: str
    shades: tuple[str, str, str]  # from 0 to the maximum
    lines: float  # least contrast of lines to the paper

    def line(self, colour: str) -> str:
        return _legible(colour, self.paper, self.ink, self.lines)

    def words(self, colour: str) -> str:
        """The colour for text."""
        return _legible(colour, self.paper, self.ink, _TEXT_CONTRAST)

    def fill(self, colour: str, share: float) -> str:
        """A tint with this share of the colour in it."""
        return _mix(self.paper, self.line(colour), share)


LIGHT = Theme(
    name="light",
    paper="#ffffff",
    ink=INK,
    grey="#595959",
    pale="#b3b3b3",
    faint="#ebebeb",
    outline="#e6e6e6",
    zone=_ZONE,
    zone_fill=_ZONE_FILL,
    shades=("#ffffff", "#7aa6c2", "#12324a"),
    lines=1.0,  # the palette is made for white paper
)

DARK = Theme(
    name="dark",
    paper="#1f2226",
    ink="#e8e7e3",
    grey="#b0b1af",
    pale="#5d6268",
    faint="#2f3338",
    outline="#3a3e44",
    zone="#8f5a52",
    zone_fill="#2c2525",
    shades=("#1f2226", "#4f7f9e", "#d7ecfa"),
    lines=4.0,
)

_THEMES = (LIGHT, DARK)
