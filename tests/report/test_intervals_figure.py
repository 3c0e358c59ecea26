"""Points and bars where the numbers are, over a quantity or side by side."""

from __future__ import annotations

import numpy as np
import pytest
from drawn import texts
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from flexpress.report.figures.intervals import IntervalPoint, IntervalSeries, intervals_figure
from flexpress.report.figures.picture import _svg_text, png_bytes
from flexpress.report.figures.style import _THEMES, Theme

ONE = IntervalSeries("one", (IntervalPoint(1.0, 0.5, -1.0, 2.0), IntervalPoint(8.0, 3.0, 2.0, 4.0)))
OTHER = IntervalSeries("other", (IntervalPoint(1.0, -0.5),), hue=1, dashed=True)


def draw(*series: IntervalSeries, **options: object) -> tuple[Figure, Axes]:
    figure = intervals_figure(series, x_label="km", y_label="points", **options)  # type: ignore[arg-type]  # named below
    (ax,) = figure.axes
    return figure, ax


def bars(ax: Axes) -> list[tuple[float, float]]:
    lines = [np.asarray(path.vertices) for each in ax.collections for path in each.get_paths()]
    return [(float(line[0][1]), float(line[1][1])) for line in lines]


def test_points_bars_and_ticks() -> None:
    _, ax = draw(ONE, OTHER)
    _, first, second = ax.lines  # the line of zero comes first
    assert list(np.asarray(first.get_ydata())) == [0.5, 3.0]
    assert list(np.asarray(second.get_ydata())) == [-0.5]
    assert bars(ax) == [(-1.0, 2.0), (2.0, 4.0)]  # a point without an interval has no bar
    assert [text.get_text() for text in ax.get_xticklabels()] == ["1", "8"]


def test_series_stand_beside_each_other() -> None:
    _, ax = draw(ONE, OTHER)
    _, first, second = ax.lines
    left, right = (np.asarray(line.get_xdata())[0] for line in (first, second))
    assert 0 < right - left < 0.5


def test_a_logarithmic_scale() -> None:
    rates = tuple(IntervalPoint(x, 1.0, 0.5, 1.5) for x in (0.002, 0.01, 0.1))
    _, ax = draw(IntervalSeries("one", rates), logarithmic=True)
    assert ax.get_xscale() == "log"
    assert ax.get_xlim()[0] < 0.002 < 0.1 < ax.get_xlim()[1]
    _, alone = draw(IntervalSeries("one", rates[:1]), logarithmic=True)
    assert alone.get_xlim()[0] < 0.002 < alone.get_xlim()[1]


def test_names_instead_of_a_quantity() -> None:
    points = (IntervalPoint(0.0, 1.0), IntervalPoint(1.0, 2.0))
    figure, ax = draw(IntervalSeries("one", points), names=("a", "b"))
    assert {"a", "b", "points", "km"} <= {text.get_text() for text in texts(figure)}
    assert ax.lines[1].get_linestyle() == "None"  # settings are not connected


@pytest.mark.parametrize("theme", _THEMES, ids=lambda theme: theme.name)
def test_files(theme: Theme) -> None:
    figure, _ = draw(ONE, OTHER, theme=theme)
    assert theme.paper in _svg_text(figure)
    assert png_bytes(figure).startswith(b"\x89PNG")
