"""What stands in a figure, by means that are not ours: boxes of its texts, signs of its fonts."""

from __future__ import annotations

from functools import cache
from itertools import combinations

from fontTools.ttLib import TTFont  # type: ignore[import-untyped]  # has no types
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont
from matplotlib.text import Text

HAIR = 0.5  # pixels that boxes may share


def texts(figure: Figure) -> list[Text]:
    """That are seen and not empty; the figure is drawn, so that ticks have their numbers."""
    figure.draw_without_rendering()
    found = [text for text in figure.findobj(Text) if isinstance(text, Text)]
    return [text for text in found if text.get_visible() and text.get_text().strip()]


def overlapping(figure: Figure, among: list[Text] | None = None) -> list[tuple[str, str]]:
    """Pairs of texts of which the one stands on the other."""
    boxes = [(t.get_text(), t.get_window_extent()) for t in among or texts(figure)]
    return [
        (one, other)
        for (one, a), (other, b) in combinations(boxes, 2)
        if min(a.x1, b.x1) - max(a.x0, b.x0) > HAIR and min(a.y1, b.y1) - max(a.y0, b.y0) > HAIR
    ]


def unwritable(figure: Figure) -> set[str]:
    """Signs that none of the fonts has in which their text is set."""
    return {
        sign
        for text in texts(figure)
        for sign in text.get_text()
        if not sign.isspace()
        and not any(ord(sign) in signs_of(path) for path in font_files(text.get_fontproperties()))
    }


def font_files(properties: FontProperties) -> list[str]:
    names = properties.get_family()
    found = []
    for name in names:
        one = properties.copy()
        one.set_family(name)
        found.append(str(findfont(one)))
    return found


@cache
def signs_of(path: str) -> frozenset[int]:
    with TTFont(path, lazy=True, fontNumber=0) as font:
        return frozenset(font.getBestCmap())


def png_size(png: bytes) -> tuple[int, int]:
    """From the header of the file."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    return int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")
