"""Bands: the lines are the means, the bands reach from the lowest to the highest seed."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from drawn import overlapping, png_size, unwritable
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from flexpress.planning.colours import COLOURS
from flexpress.report.figures.band_figure import bands_figure
from flexpress.report.figures.bands import (
    BandLine,
    Course,
    _running_mean,
    band_of,
    bands_caption,
    leads_of,
)
from flexpress.report.figures.picture import _svg_text, png_bytes
from flexpress.report.figures.style import _THEMES, DARK, Theme

SLOTS = (0, 20, 40)


def line(label: str, *seeds: Sequence[float], hue: int = 0, dashed: bool = False) -> BandLine:
    courses = tuple(Course(SLOTS[: len(seed)], seed) for seed in seeds)
    return BandLine(label, courses, hue=hue, dashed=dashed)


SYNC = line("Sync", (0.1, 0.4, 0.8), (0.1, 0.6, 0.7))
ASYNC = line("Async", (0.1, 0.5, 0.9), (0.2, 0.5, 0.6), hue=1, dashed=True)


def panels(figure: Figure) -> list[Axes]:
    return list(figure.axes)


def mean_line(ax: Axes, label: str) -> Line2D:
    (found,) = (line for line in ax.lines if line.get_label() == label)
    return found


def data(line: Line2D) -> list[list[Any]]:
    points = np.asarray(line.get_xydata()).tolist()
    return [[float(x), pytest.approx(y)] for x, y in points]


def texts(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts if text.get_text()]


def test_lines_are_as_given() -> None:
    upper, lower = panels(bands_figure([SYNC, ASYNC], 60.0))
    for given in (SYNC, ASYNC):
        seeds = [course.accuracies for course in given.courses]
        expected = [100 * statistics.fmean(at) for at in zip(*seeds, strict=True)]
        mean = mean_line(upper, given.label)
        assert data(mean) == [[x, y] for x, y in zip(SLOTS, expected, strict=True)]
        one, other, _ = (line for line in upper.lines if line.get_color() == mean.get_color())
        assert [y for _, y in data(one)] == [100 * y for y in seeds[0]]
        assert [y for _, y in data(other)] == [100 * y for y in seeds[1]]
    assert lower.get_xlabel() == "slot"


def test_the_band_reaches_from_the_lowest_to_the_highest() -> None:
    upper, _ = panels(bands_figure([SYNC, ASYNC], 60.0))
    corners = upper.collections[0].get_paths()[0].vertices
    heights = {x: sorted(float(y) for a, y in np.asarray(corners) if a == x) for x in SLOTS}
    assert (heights[20][0], heights[20][-1]) == pytest.approx((40, 60))
    assert (heights[40][0], heights[40][-1]) == pytest.approx((70, 80))


def test_below_is_how_far_each_is_ahead_of_the_average() -> None:
    _, lower = panels(bands_figure([SYNC, ASYNC], 60.0))
    _, sync, async_ = lower.lines
    assert data(sync) == [[0, -2.5], [20, 0], [40, 0]]
    assert data(async_) == [[0, 2.5], [20, 0], [40, 0]]


def test_running_means_of_long_lines() -> None:
    values = np.array([0.0, 0, 10, 0, 0, 0])
    assert _running_mean(values).tolist() == pytest.approx([10 / 3, 2.5, 2, 2, 2.5, 0])
    slots = range(30)
    jagged = Course(slots, [0.5 + 0.01 * (-1) ** t for t in slots])
    flat = Course(slots, [0.5] * 30)
    found, leads = leads_of([band_of(BandLine("", (course,))) for course in (jagged, flat)])
    assert found.tolist() == list(slots)
    assert abs(leads[0][2:-2]).max() == pytest.approx(0.1)  # a fifth of half the zigzag


def test_ends_are_labelled_in_their_colours_and_apart() -> None:
    figure = bands_figure([SYNC, ASYNC], 60.0, theme=DARK)
    upper = figure.axes[0]
    labels = {text.get_text(): text for text in upper.texts if text.get_text()}
    assert set(labels) == {"Sync  75.0 %", "Async  75.0 %"}
    assert labels["Sync  75.0 %"].get_color() == DARK.words(DARK.line(COLOURS[0]))
    heights = [label.get_window_extent().y0 for label in labels.values()]
    assert abs(heights[0] - heights[1]) >= labels["Sync  75.0 %"].get_window_extent().height


def test_dashes_and_hours() -> None:
    figure = bands_figure([SYNC, ASYNC], 3600.0)
    figure.canvas.draw()
    upper, _ = panels(figure)
    assert mean_line(upper, "Async").get_linestyle() == "--"
    assert mean_line(upper, "Sync").get_linestyle() == "-"
    (time,) = upper.child_axes
    assert time.get_xlabel() == "simulated time (h)"
    assert time.get_xlim() == pytest.approx((0, 40))


def test_a_seed_that_ends_early_ends_the_mean_and_keeps_its_own_line() -> None:
    cut = line("Cut", (0.1, 0.4, 0.8), (0.3, 0.6))
    assert band_of(cut).slots.tolist() == [0, 20]
    upper, _ = panels(bands_figure([cut, ASYNC], 60.0))
    assert texts(upper)[0] == "Cut  50.0 % at slot 20"
    assert data(upper.lines[0])[-1] == [40, 80]


def test_what_is_no_number_was_not_measured() -> None:
    odd = line("Odd", (0.1, float("nan"), 0.8))
    assert band_of(odd).slots.tolist() == [0, 40]
    empty = BandLine("Empty", (Course((), ()),))
    upper, *lower = panels(bands_figure([odd, empty], 60.0))
    assert texts(upper) == ["Odd  80.0 %", "Empty: nothing measured"]
    assert lower == []  # nothing to compare


def test_one_line_has_one_panel() -> None:
    (upper,) = panels(bands_figure([line("Sync", (0.1, 0.4, 0.8))], 60.0))
    assert upper.get_xlabel() == "slot"
    assert len(upper.collections) == 0  # no band


def test_the_caption_says_what_the_band_is() -> None:
    assert bands_caption([SYNC, ASYNC]) == (
        "Test accuracy of the global model, mean of 2 seeds. The band reaches from the lowest to "
        "the highest seed; thin lines are seeds. Dashed: the clock counts whole slots. Below: "
        "percentage points ahead of the average of all lines."
    )
    assert bands_caption([line("Sync", (0.1, 0.4, 0.8))]) == "Test accuracy of the global model."
    assert "mean of 1 to 2 seeds" in bands_caption([SYNC, line("One", (0.1, 0.4))])


@pytest.mark.parametrize("theme", _THEMES, ids=lambda theme: theme.name)
def test_the_same_bytes(theme: Theme) -> None:
    first, second = (bands_figure([SYNC, ASYNC], 60.0, title="$x", theme=theme) for _ in range(2))
    assert _svg_text(first) == _svg_text(second)
    assert png_bytes(first, 50) == png_bytes(second, 50)


def crosses(ax: Axes) -> list[list[float]]:
    """Where lines are marked; bands are no marks."""
    return [
        [float(v) for v in offset]
        for points in ax.collections
        if isinstance(points, PathCollection)
        for offset in np.asarray(points.get_offsets())
    ]


def test_a_short_run_has_no_mark_and_one_that_was_stopped_has_a_cross() -> None:
    short, whole = line("Short", (0.1, 0.4)), line("Whole", (0.1, 0.4, 0.8), hue=1)
    upper, lower = panels(bands_figure([short, whole], 60.0))
    assert crosses(upper) == []
    assert "stopped" not in " ".join(texts(lower))
    stopped = replace(short, cut_short=True)
    upper, lower = panels(bands_figure([stopped, whole], 60.0))
    assert crosses(upper) == [[20, pytest.approx(40)]]
    assert texts(lower) == ["\N{MULTIPLICATION SIGN} stopped or diverged"]
    assert "stopped or diverged" in bands_caption([stopped])
    assert "stopped" not in bands_caption([short])


def test_the_loss_stands_below() -> None:
    courses = (Course(SLOTS, (0.1, 0.4, 0.8), (2.0, 1.0, 0.5)), Course(SLOTS, (0.1,) * 3, (2,) * 3))
    figure = bands_figure([BandLine("Sync", courses), line("Other", (0.1, 0.4, 0.8))], 60.0)
    accuracy, ahead, loss = panels(figure)
    assert [ax.get_ylabel() for ax in (accuracy, ahead, loss)] == [
        "test accuracy (%)",
        "ahead (points)",
        "test loss",
    ]
    assert data(mean_line(loss, "Sync")) == [[0, 2.0], [20, 1.5], [40, 1.25]]
    assert [ax.get_xlabel() for ax in (accuracy, ahead, loss)] == ["", "", "slot"]
    assert "test loss" in bands_caption([BandLine("Sync", courses)])


def test_labels_stand_beside_the_axes_and_not_on_each_other() -> None:
    ends = np.linspace(0.79, 0.81, 14)
    figure = bands_figure([line(f"Line {j}", (0.1, float(e))) for j, e in enumerate(ends)], 60.0)
    upper = figure.axes[0]
    named = [text for text in upper.texts if "Line" in text.get_text()]
    assert len(named) == 14
    assert overlapping(figure, named) == []
    frame = upper.get_window_extent()
    boxes = [text.get_window_extent() for text in named]
    assert max(box.y1 for box in boxes) < frame.y1 + boxes[0].height
    assert min(box.y0 for box in boxes) > frame.y0 - boxes[0].height


def test_any_number_of_lines_of_any_name_leaves_the_picture_its_size() -> None:
    many = [line(f"{j} {500 * 'W'}", (0.1, j / 80)) for j in range(60)]
    figure = bands_figure([*many, line("水文站", (0.1, 0.9))], 60.0, title=3000 * "t")
    width, height = png_size(png_bytes(figure, 100))
    assert width < 1500
    assert height < 1500
    assert unwritable(figure) == set()
    found = texts(figure.axes[0])
    assert "and 37 that end lower" in found
    assert sum(text.startswith("5") for text in found) == 10
    assert not any(text.startswith("36 ") for text in found)


def test_nine_lines_and_more() -> None:
    """Labels have room, however many there are."""
    many = [line(f"Line {j}", (0.1, 0.4, 0.8), hue=j) for j in range(20)]
    upper = bands_figure(many, 60.0).axes[0]
    heights = sorted(t.get_window_extent().y0 for t in upper.texts if t.get_text())
    assert np.diff(heights).min() > 10
