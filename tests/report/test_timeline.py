"""Tours over time: flights, visits, waits and versions as the clock of the paper has them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from shuttles import flown

from flexpress.planning.colours import COLOURS
from flexpress.report.figures.picture import _svg_text
from flexpress.report.figures.style import _THEMES, LIGHT, Theme
from flexpress.report.figures.timeline import (
    _MOST_ROWS,
    FlownTour,
    NewModel,
    Timeline,
    slots_shown,
    timeline_figure,
    timeline_of,
)


def test_sync_waits_for_the_slowest() -> None:
    """Round trips of 150 s and 90 s: all leave every 150 s, from the second landing with news."""
    found = timeline_of(flown("sync"), "Sync", 6)
    slow, quick = found.rows
    assert slow.tours == (
        FlownTour(0.0, 0, (75.0,), 150.0, 150.0),
        FlownTour(150.0, 0, (225.0,), 300.0, 300.0),
        FlownTour(300.0, 1, (), None, None),
    )
    assert quick.tours == (
        FlownTour(0.0, 0, (45.0,), 90.0, 150.0),
        FlownTour(150.0, 0, (195.0,), 240.0, 300.0),
        FlownTour(300.0, 1, (345.0,), None, None),
    )
    assert found.updates == (NewModel(300.0, 1),)


def test_async_waits_for_nobody() -> None:
    found = timeline_of(flown("async"), "Async", 6)
    slow, quick = found.rows
    assert [(flight.start, flight.version) for flight in slow.tours] == [
        (0, 0),
        (150, 0),
        (300, 3),
    ]
    assert [(f.start, f.version, f.leaves) for f in quick.tours] == [
        (0.0, 0, 90.0),
        (90.0, 0, 180.0),
        (180.0, 1, 270.0),
        (270.0, 2, 360.0),
        (360.0, 4, None),
    ]
    assert [(new.seconds, new.version) for new in found.updates] == [
        (180.0, 1),
        (270.0, 2),
        (300.0, 3),
        (360.0, 4),
    ]


def test_whole_slots() -> None:
    """Three of them and two; visits are in their real seconds."""
    slow, quick = timeline_of(flown("async", "slots"), "Async", 7).rows
    assert [flight.start for flight in slow.tours] == [0, 180, 360]
    assert [flight.start for flight in quick.tours] == [0, 120, 240, 360]
    assert slow.tours[1].visits == (255.0,)


def test_no_flights_over_an_ideal_link() -> None:
    assert timeline_of(flown("direct"), "Direct", 6).rows == ()


def test_a_run_that_is_shorter_is_shown_as_far_as_it_went() -> None:
    trace = flown("sync", horizon=2)
    assert timeline_of(trace, "Sync", 6).rows[1].tours == (FlownTour(0.0, 0, (45.0,), 90.0, 150.0),)
    assert slots_shown(trace) == 2
    assert slots_shown(flown("sync", horizon=100)) == 10  # four times 150 s


def boxes(ax: Axes) -> list[Any]:
    """Row, from, to, hatch."""
    return [
        (
            round(box.get_y() + box.get_height() / 2),
            box.get_x(),
            box.get_x() + box.get_width(),
            box.get_hatch(),
        )
        for box in ax.patches
        if isinstance(box, Rectangle)
    ]


def test_what_is_drawn() -> None:
    figure = timeline_figure([timeline_of(flown(a), a, 6) for a in ("sync", "async")])
    upper, lower = figure.axes
    flights = [box for box in boxes(upper) if box[3] is None]
    waits = [box for box in boxes(upper) if box[3]]
    assert flights[:2] == [
        (0, 0.0, pytest.approx(2.5), None),
        (0, pytest.approx(2.5), pytest.approx(5.0), None),
    ]
    assert [(row, start, end) for row, start, end, _ in waits] == [
        (1, pytest.approx(1.5), pytest.approx(2.5)),
        (1, pytest.approx(4.0), pytest.approx(5.0)),
    ]
    assert flights[2][2] > 6  # its end is beyond the frame
    news = [float(np.asarray(line.get_xdata())[0]) for line in lower.lines]
    assert news == pytest.approx([3.0, 4.5, 5.0, 6.0])
    numbers = [text.get_text() for text in upper.texts]
    assert numbers == ["0", "0", "1", "0", "0", "1", "1"]  # aboard, row by row, and the update
    assert (upper.get_ylabel(), lower.get_ylabel()) == ("sync", "async")
    assert lower.get_xlabel() == "slot (of 60 s)"
    assert upper.get_xlim() == lower.get_xlim() == (0, 6)


def test_transporters_have_the_colours_of_the_map() -> None:
    (ax,) = timeline_figure([timeline_of(flown("sync"), "sync", 6)], colours=COLOURS[4:6]).axes
    edges = [ax.patches[0].get_edgecolor(), ax.patches[-1].get_edgecolor()]
    from matplotlib.colors import to_rgba

    assert edges[0] == to_rgba(LIGHT.line(COLOURS[4]))
    assert [label.get_text() for label in ax.get_yticklabels()] == ["1", "2"]


def test_of_many_transporters_the_first_are_shown() -> None:
    (row, _) = timeline_of(flown("sync"), "sync", 6).rows
    many = Timeline("sync", 60.0, 6, (row,) * 40, ())
    (ax,) = timeline_figure([many]).axes
    assert len(ax.get_yticklabels()) == _MOST_ROWS
    assert ax.get_ylabel() == "sync (and 28 more)"


@pytest.mark.parametrize("theme", _THEMES, ids=lambda theme: theme.name)
def test_the_same_text(theme: Theme) -> None:
    shown = [timeline_of(flown("async"), "$a_$", 6)]
    first, second = (_svg_text(timeline_figure(shown, title="$x", theme=theme)) for _ in range(2))
    assert first == second
    assert theme.paper in first
