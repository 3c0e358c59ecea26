"""Names as a figure can show them: short enough, and in fonts that this machine has.

matplotlib brings DejaVu Sans. Characters that it lacks, such as Chinese ones, are looked up in the
other fonts of the machine. A name that no font can draw is replaced, never drawn as boxes.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from matplotlib.font_manager import FontEntry, findfont, fontManager
from matplotlib.ft2font import FT2Font
from numpy.typing import NDArray

from flexpress.report.texts import client_names, shortened
from flexpress.scenario import Scenario

_DEJAVU = "DejaVu Sans"
_UNUSABLE = ("Last Resort", "cm", "STIXNon", "STIXSize")
"""Prefixes of fonts that draw boxes for everything, or formulas in place of letters."""

_LONGEST, _LONGEST_ZONE = 28, 36
"""Columns of a client's name, and of a zone's."""


def shown(text: str, otherwise: str, most: int = _LONGEST) -> str:
    """The text, shortened, without symbols that no font has.

    If letters or digits would be lost, returns `otherwise`, which must be ASCII.
    """
    short = shortened(text, most)
    missing = _unwritable(short)
    if any(character.isalnum() for character in missing):
        return shortened(otherwise, most)
    kept = "".join(character for character in short if character not in missing)
    return " ".join(kept.split()) or shortened(otherwise, most)


def title_text(text: str, most: int = 80) -> str:
    """The same for a line of several words: omits those that no font can draw."""
    return " ".join(word for word in shortened(text, most).split(" ") if not _unwritable(word))


def _unwritable(text: str) -> set[str]:
    return {character for character in text if _family_of(character) is None}


def drawn_clients(scenario: Scenario) -> list[str]:
    """The name of each client, its id if no font can draw the name, or else its number."""
    pairs = zip(client_names(scenario), scenario.client_ids, strict=True)
    return [
        shown(name, shown(str(client), f"#{number}"))
        for number, (name, client) in enumerate(pairs, start=1)
    ]


def drawn_zones(scenario: Scenario) -> list[str]:
    """The names of the no-fly zones, empty for zones without a name."""
    names = enumerate(scenario.zone_names, start=1)
    return [name and shown(name, f"zone {number}", _LONGEST_ZONE) for number, name in names]


def families(*texts: str) -> list[str]:
    """The fonts for these texts, in the order in which matplotlib tries them."""
    found = (_family_of(character) for character in dict.fromkeys("".join(texts)))
    return list(dict.fromkeys([_DEJAVU, *filter(None, found)]))


@cache
def _family_of(character: str) -> str | None:
    """A font that can draw the character; None if the machine has none."""
    if character.isspace() or _has(findfont(_DEJAVU), character):
        return _DEJAVU
    return next((font.name for font in _others() if _has(font.fname, character)), None)


def _others() -> list[FontEntry]:
    """One upright font of normal weight per family, those without serifs first."""
    usual = {
        font.name: font
        for font in reversed(fontManager.ttflist)
        if font.style == "normal" and font.weight in (400, "normal", "regular", "book")
    }
    usable = [font for font in usual.values() if not font.name.startswith(_UNUSABLE)]
    return sorted(usable, key=lambda font: ("Sans" not in font.name, font.name))


def _has(path: str, character: str) -> bool:
    codes, code = _codes_of(path), ord(character)
    place = int(np.searchsorted(codes, code))
    return place < len(codes) and int(codes[place]) == code


@cache
def _codes_of(path: str) -> NDArray[np.uint32]:
    """The sorted codes of all characters in a font; empty if it cannot be read."""
    try:
        codes = FT2Font(path).get_charmap()
    except (OSError, RuntimeError):
        return np.empty(0, dtype=np.uint32)
    return np.sort(np.fromiter(codes, dtype=np.uint32, count=len(codes)))
