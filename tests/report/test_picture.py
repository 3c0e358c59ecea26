"""Figures as SVG: whole, alone, small, and the same every time."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure
from shuttles import PLAN, SHUTTLES

from flexpress.report.figures.label_mix import label_mix_figure
from flexpress.report.figures.map import map_figure
from flexpress.report.figures.picture import _shorter, _svg_text, draw_picture
from flexpress.report.figures.style import _THEMES, DARK, LIGHT, Theme

SVG = "{http://www.w3.org/2000/svg}"


def drawn(text: str = "a  b") -> Figure:
    figure = Figure()
    ax = figure.subplots()
    ax.plot([0, 1, 2], [0.123456789, 3, 1])
    ax.set_title(text, parse_math=False)
    return figure


def test_it_is_one_element_that_refers_to_nothing_outside() -> None:
    root = ElementTree.fromstring(_svg_text(drawn()))
    assert root.tag == f"{SVG}svg"
    references = [
        value
        for element in root.iter()
        for name, value in element.attrib.items()
        if name.endswith("href") or "url(" in value
    ]
    assert references != []
    assert all(value.startswith("#") or "url(#" in value for value in references)
    assert "<!DOCTYPE" not in _svg_text(drawn())
    assert "metadata" not in _svg_text(drawn())


def test_words_stay_words_with_their_spaces() -> None:
    root = ElementTree.fromstring(_svg_text(drawn("a  <b> & $c_$ Ω")))
    words = [element.text for element in root.iter(f"{SVG}text")]
    assert "a  <b> & $c_$ Ω" in words
    style = root.find(f".//{SVG}style")
    assert style is not None
    assert "white-space: pre" in str(style.text)


def test_fonts_are_those_that_machines_have() -> None:
    families = set(re.findall(r"font-family: ([^;\"]*)", _svg_text(drawn())))
    families |= set(re.findall(r"font: [\d.]+px ([^;\"]*)", _svg_text(drawn())))
    assert families == {"'DejaVu Sans', Verdana, sans-serif"}


def test_the_same_text_every_time_and_settings_left_as_they_were() -> None:
    before = dict(matplotlib.rcParams)
    assert _svg_text(drawn()) == _svg_text(drawn())
    assert dict(matplotlib.rcParams) == before


def test_outlines_are_shortened() -> None:
    assert _shorter("M 0 562.518125 \nL 830.778125 -0.001 \nz\n") == "M0 562.52L830.78 0z"


@pytest.mark.parametrize("theme", _THEMES, ids=lambda theme: theme.name)
def test_map_and_labels_in_both_themes(theme: Theme) -> None:
    network = _svg_text(map_figure(SHUTTLES, PLAN, theme=theme, narrow=True))
    mix = _svg_text(label_mix_figure(SHUTTLES, PLAN, np.eye(2, 10, dtype=int), "mix", theme=theme))
    other = LIGHT if theme is DARK else DARK
    for text in (network, mix):
        assert f"fill: {theme.paper}" in text
        assert other.ink not in text
        assert f"fill: {other.paper}" not in text


def test_a_picture_is_drawn_for_light_and_dark() -> None:
    asked: list[Theme] = []

    def draw(theme: Theme) -> Figure:
        asked.append(theme)
        return map_figure(SHUTTLES, PLAN, theme=theme, narrow=True)

    picture = draw_picture("network", "Two tours", draw, caption="North is up.")
    assert asked == [LIGHT, DARK]
    assert picture.light == _svg_text(draw(LIGHT))
    assert picture.dark == _svg_text(draw(DARK))
    assert picture.png.startswith(b"\x89PNG")
    assert draw_picture("network", "Two tours", draw, caption="North is up.") == picture
