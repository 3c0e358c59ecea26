"""Names as a picture can show them: short enough, and in fonts that this machine has.

matplotlib brings DejaVu Sans. Signs that it lacks, such as Chinese, are looked for in the other
fonts of the machine; a name that none of them can write is replaced, never drawn as boxes.
"""

from __future__ import annotations

import unicodedata
from functools import cache

import numpy as np
from matplotlib.font_manager import FontEntry, findfont, fontManager
from matplotlib.ft2font import FT2Font
from numpy.typing import NDArray

DEJAVU = "DejaVu Sans"
UNUSABLE = ("Last Resort", "cm", "STIXNon", "STIXSize")
"""How fonts begin that draw boxes for everything, or formulas under the codes of letters."""

LONGEST = 28
"""Columns of a name in a picture."""

ELLIPSIS = "…"


def shown(text: str, otherwise: str, most: int = LONGEST) -> str:
    """The text, shortened; without pictographs that no font has.

    If letters or digits would be lost, it is `otherwise`, which must be ASCII.
    """
    short = shortened(text, most)
    missing = {sign for sign in short if family_of(sign) is None}
    if any(sign.isalnum() for sign in missing):
        return shortened(otherwise, most)
    kept = "".join(sign for sign in short if sign not in missing)
    return " ".join(kept.split(" ")).strip() or shortened(otherwise, most)


def shortened(text: str, most: int) -> str:
    """At most so many columns, the last of them an ellipsis if something was cut."""
    width = 0
    for end, sign in enumerate(text):
        width += columns(sign)
        if width > most:
            cut = text[:end]
            while cut and columns(cut) + 1 > most:
                cut = cut[:-1]
            return cut.rstrip() + ELLIPSIS
    return text


def columns(text: str) -> int:
    """Chinese signs are as wide as two letters; accents, which stand on a letter, count too."""
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text)


def families(*texts: str) -> list[str]:
    """The fonts for these texts, in the order in which matplotlib is to try them."""
    found = (family_of(sign) for sign in dict.fromkeys("".join(texts)))
    return list(dict.fromkeys([DEJAVU, *filter(None, found)]))


@cache
def family_of(sign: str) -> str | None:
    """A font that can draw the sign; None if the machine has none."""
    if sign.isspace() or has(findfont(DEJAVU), sign):
        return DEJAVU
    return next((font.name for font in others() if has(font.fname, sign)), None)


def others() -> list[FontEntry]:
    """One font for each family: upright, of usual weight, those without serifs first."""
    usual = {
        font.name: font
        for font in reversed(fontManager.ttflist)
        if font.style == "normal" and font.weight in (400, "normal", "regular", "book")
    }
    usable = [font for font in usual.values() if not font.name.startswith(UNUSABLE)]
    return sorted(usable, key=lambda font: ("Sans" not in font.name, font.name))


def has(path: str, sign: str) -> bool:
    codes, code = codes_of(path), ord(sign)
    place = int(np.searchsorted(codes, code))
    return place < len(codes) and int(codes[place]) == code


@cache
def codes_of(path: str) -> NDArray[np.uint32]:
    """Of all signs that a font has, in order; none if it cannot be read."""
    try:
        codes = FT2Font(path).get_charmap()
    except (OSError, RuntimeError):
        return np.empty(0, dtype=np.uint32)
    return np.sort(np.fromiter(codes, dtype=np.uint32, count=len(codes)))
