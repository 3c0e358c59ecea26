"""Light and dark: what is written can be read, whatever colour it has."""

from __future__ import annotations

import pytest
from matplotlib.colors import to_rgb

from flexpress.planning.colours import COLOURS
from flexpress.report.figures.energy import _TINT as BAR_TINT
from flexpress.report.figures.style import _THEMES, DARK, Theme, _contrast, _legible, _mix, _rgb
from flexpress.report.figures.timeline import _TINT as FLIGHT_TINT


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [("#000000", "#ffffff", 21.0), ("#777777", "#ffffff", 4.48), ("#0000ff", "#ffffff", 8.59)],
)
def test_contrasts_that_are_known(one: str, other: str, expected: float) -> None:
    """As tables of the Web Content Accessibility Guidelines have them."""
    assert _contrast(one, other) == pytest.approx(expected, abs=0.01)
    assert _contrast(other, one) == _contrast(one, other)


def test_colours_are_read_as_matplotlib_reads_them() -> None:
    assert _rgb("#0072B2") == to_rgb("#0072B2")
    assert _mix("#000000", "#ffffff", 0.5) == "#808080"


def test_a_legible_colour_stays_as_it_is() -> None:
    assert _legible("#0072B2", "#ffffff", "#222222", 4.5) == "#0072B2"
    assert _legible("#ffffff", "#ffffff", "#fefefe", 4.5) == "#fefefe"  # ink that is none


@pytest.mark.parametrize("theme", _THEMES, ids=lambda theme: theme.name)
def test_words_have_contrast(theme: Theme) -> None:
    for colour in (theme.ink, theme.grey, *map(theme.words, COLOURS)):
        assert _contrast(colour, theme.paper) >= 4.5


@pytest.mark.parametrize("theme", _THEMES, ids=lambda theme: theme.name)
@pytest.mark.parametrize("share", [BAR_TINT, FLIGHT_TINT])
def test_numbers_in_bars_have_contrast(theme: Theme, share: float) -> None:
    for colour in COLOURS:
        assert _contrast(theme.ink, theme.fill(colour, share)) >= 4.5


def test_lines_are_seen_in_the_dark() -> None:
    lines = [DARK.line(colour) for colour in COLOURS]
    assert all(_contrast(line, DARK.paper) >= 4 for line in lines)
    assert len(set(lines)) == len(COLOURS)
