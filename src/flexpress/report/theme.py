"""Light and dark: the paper and the ink of pictures, and the palette made legible on both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from flexpress.report.contrast import legible, mix
from flexpress.report.palette import INK, ZONE, ZONE_FILL

WORDS = 4.5
"""The contrast that texts need."""


@dataclass(frozen=True)
class Theme:
    """All colours but those of the palette, which `line`, `words` and `fill` make fit for it."""

    name: Literal["light", "dark"]
    paper: str
    ink: str  # titles, names of axes
    grey: str  # numbers at ticks, notes
    pale: str  # frames
    faint: str  # grids
    outline: str  # blocks on a map
    zone: str  # no-fly zones: their edge and hatching, and what is inside
    zone_fill: str
    shades: tuple[str, str, str]  # from nothing to all
    lines: float  # the least contrast of lines to the paper

    def line(self, colour: str) -> str:
        return legible(colour, self.paper, self.ink, self.lines)

    def words(self, colour: str) -> str:
        """For text of that colour."""
        return legible(colour, self.paper, self.ink, WORDS)

    def fill(self, colour: str, share: float) -> str:
        """A tint with so much of the colour in it."""
        return mix(self.paper, self.line(colour), share)


LIGHT = Theme(
    name="light",
    paper="#ffffff",
    ink=INK,
    grey="#595959",
    pale="#b3b3b3",
    faint="#ebebeb",
    outline="#e6e6e6",
    zone=ZONE,
    zone_fill=ZONE_FILL,
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

THEMES = (LIGHT, DARK)
