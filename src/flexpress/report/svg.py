"""Figures as SVG: small, cut to what is drawn, the same text for the same figure.

Words stay words: files are small, can be searched and edited, and need no font but one of those
that every machine has. Verdana is as wide as the font that places were computed with.
"""

from __future__ import annotations

import io
import re

import matplotlib
from matplotlib.figure import Figure

WITHOUT = dict.fromkeys(("Date", "Creator", "Format", "Type"))
FONTS = "'DejaVu Sans', Verdana, sans-serif"
SPACES = " text{white-space: pre}"

PROLOGUE = re.compile(r"\A.*?(?=<svg)", re.DOTALL)
FAMILY = re.compile(r"'DejaVu Sans'[^;\"]*")
OUTLINE = re.compile(r'(?<= d=")[^"]*')
LETTER = re.compile(r"\s*([A-Za-z])\s*")
NUMBER = re.compile(r"-?\d+\.\d+")
DECIMALS = 2
"""Of points in outlines, in units of 1/72 inch: less than the eye can see."""


def svg_text(figure: Figure) -> str:
    """One `<svg>` element, which refers to nothing outside; spaces in its texts are kept."""
    image = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "flexpress"}):
        figure.savefig(image, format="svg", bbox_inches="tight", metadata=WITHOUT)
    text = PROLOGUE.sub("", image.getvalue(), count=1)
    text = FAMILY.sub(FONTS, text.replace("</style>", f"{SPACES}</style>", 1))
    return OUTLINE.sub(lambda found: shorter(found[0]), text)


def shorter(outline: str) -> str:
    """The same to the eye, with fewer digits and spaces."""
    return LETTER.sub(r"\1", NUMBER.sub(rounded, outline))


def rounded(number: re.Match[str]) -> str:
    text = f"{float(number[0]):.{DECIMALS}f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
