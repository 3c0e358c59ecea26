"""Names as a picture can show them: short enough, and in fonts that this machine has.

matplotlib brings DejaVu Sans. Signs that it lacks, such as Chinese, are looked for in the other
fonts of the machine; a name that none of them can write is replaced, never drawn as boxes.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from matplotlib.font_manager import FontEntry, findfont, fontManager
from matplotlib.ft2font import FT2Font
from numpy.typing import NDArray

from flexpress.report.names import client_names, shortened
from flexpress.scenario import Scenario

DEJAVU = "DejaVu Sans"
UNUSABLE = ("Last Resort", "cm", "STIXNon", "STIXSize")
"""How fonts begin that draw boxes for everything, or formulas under the codes of letters."""

LONGEST, LONGEST_ZONE = 28, 36
"""Columns of the name of a client, and of a zone."""


def shown(text: str, otherwise: str, most: int = LONGEST) -> str:
    """The text, shortened; without pictographs that no font has.

    If letters or digits would be lost, it is `otherwise`, which must be ASCII.
    """
    short = shortened(text, most)
    missing = unwritable(short)
    if any(sign.isalnum() for sign in missing):
        return shortened(otherwise, most)
    kept = "".join(sign for sign in short if sign not in missing)
    return " ".join(kept.split()) or shortened(otherwise, most)


def title_text(text: str, most: int = 80) -> str:
    """The same for a line of several words: those that no font can write are left out."""
    return " ".join(word for word in shortened(text, most).split(" ") if not unwritable(word))


def unwritable(text: str) -> set[str]:
    return {sign for sign in text if family_of(sign) is None}


def drawn_clients(scenario: Scenario) -> list[str]:
    """In their order: the name, or the id if no font can write it, or else the number."""
    pairs = zip(client_names(scenario), scenario.client_ids, strict=True)
    return [
        shown(name, shown(str(client), f"#{number}"))
        for number, (name, client) in enumerate(pairs, start=1)
    ]


def drawn_zones(scenario: Scenario) -> list[str]:
    """The names of the no-fly zones, blank for those without."""
    names = enumerate(scenario.zone_names, start=1)
    return [name and shown(name, f"zone {number}", LONGEST_ZONE) for number, name in names]


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
