"""Names on a map: clients beside their tours, zones inside their borders; no two overlap.

A name takes the position around its client that covers the fewest lines. Clients whose dots
coincide share one label with a line each. A name that does not fit anywhere is omitted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from matplotlib.text import Annotation

from flexpress.arrays import FloatArray
from flexpress.planning.colours import NO_FLY
from flexpress.report.figures.fonts import families
from flexpress.report.figures.style import Theme

Box = tuple[float, float, float, float]
"""Left, bottom, right, top, in points."""

_DISTANCES = (6.0, 13.0, 22.0, 34.0)  # points from a place to its label
_LEADING = 13.0  # points from which a thin line connects place and label
_TURNS = (0, 1, -1, 2, -2, 3, -3, 4)  # eighths of a turn from the best direction
DOT, STAR = 3.0, 8.0  # points: radius of a client and of the server
_COINCIDING = 2.5  # points between dots that look like one
_MOST_LINES = 4  # of a label that several clients share
_CROSSED, _TURNED, _FARTHER = 1.0, 0.12, 0.8  # costs of covering a line, of turning, of distance


@dataclass(frozen=True)
class LabelPlace:
    """The position of a client in points, and the direction away from its tour."""

    at: FloatArray
    away: FloatArray
    name: str


@dataclass
class MapLabels:
    """Writes names around what is drawn already, in points from the corner of the figure."""

    ax: Axes
    theme: Theme
    lines: FloatArray  # (lines, 4): from and to
    dots: list[Box]
    taken: list[Box] = field(default_factory=list)

    def write(
        self, text: str, at: FloatArray, away: FloatArray, *, colour: str, bold: bool = False
    ) -> None:
        """Write beside a place, in the direction `away` if there is room."""
        label = self._make(text, colour, bold=bold)
        found = list(self._ranked(_beside(at, away, *self._size(label))))
        if not found:
            label.remove()
            return
        distance, box = found[0]
        self._put(label, box)
        if distance >= _LEADING:
            self._lead(at, box)

    def write_within(self, text: str, zone: FloatArray) -> None:
        """Write in the middle of a zone, or near it; the text covers the hatching."""
        label = self._make(text, self.theme.words(NO_FLY), italic=True)
        label.set_path_effects([withStroke(linewidth=4.0, foreground=self.theme.zone_fill)])
        found = list(self._ranked(_around_middle(zone, *self._size(label))))
        if found:
            self._put(label, found[0][1])
        else:
            label.remove()

    def _ranked(self, candidates: Iterable[tuple[float, float, Box]]) -> list[tuple[float, Box]]:
        """Distance and box of the candidates that cover no other name or dot, the best first."""
        frame = self._frame()
        free = [
            (cost + _CROSSED * _crossings(box, self.lines), distance, box)
            for cost, distance, box in candidates
            if _within(box, frame)
            and not any(_overlap(box, other) for other in self.taken)
            and not any(_overlap(box, dot) for dot in self.dots)
        ]
        return [(distance, box) for _, distance, box in sorted(free, key=lambda each: each[0])]

    def _make(
        self, text: str, colour: str, *, bold: bool = False, italic: bool = False
    ) -> Annotation:
        return self.ax.annotate(
            text,
            (0.0, 0.0),
            xycoords="axes points",
            ha="center",
            va="center_baseline" if "\n" not in text else "center",
            fontsize=8.0 if bold else 7.5,
            fontweight="bold" if bold else "normal",
            fontstyle="italic" if italic else "normal",
            fontfamily=families(text),
            color=colour,
            path_effects=[withStroke(linewidth=2.0, foreground=self.theme.paper)],
            annotation_clip=False,
            parse_math=False,
            zorder=6,
        )

    def _size(self, label: Annotation) -> tuple[float, float]:
        box = label.get_window_extent()
        return _points(self.ax, box.width) + 2.0, _points(self.ax, box.height) + 1.0

    def _put(self, label: Annotation, box: Box) -> None:
        self.taken.append(box)
        left, bottom, *_ = self._frame()
        label.xy = (box[0] + box[2]) / 2 - left, (box[1] + box[3]) / 2 - bottom
        label.set_position(label.xy)

    def _lead(self, at: FloatArray, box: Box) -> None:
        """Draw a line from the client to the nearest point of its label."""
        left, bottom, *_ = self._frame()
        corner = np.array([left, bottom])
        near = np.clip(at, (box[0], box[1]), (box[2], box[3]))
        look = {"arrowstyle": "-", "color": self.theme.grey, "linewidth": 0.6}
        self.ax.annotate(
            "",
            tuple(at - corner),
            xycoords="axes points",
            xytext=tuple(near - corner),
            textcoords="axes points",
            arrowprops={**look, "shrinkA": 0, "shrinkB": 2},
            zorder=5,
        )

    def _frame(self) -> Box:
        box = self.ax.get_window_extent()
        left, bottom, right, top = (_points(self.ax, side) for side in box.extents)
        return left, bottom, right, top


def to_points(ax: Axes, places: FloatArray) -> FloatArray:
    """Positions in the figure, in points; the scales of the axes must be final."""
    return np.asarray(ax.transData.transform(places)) * 72 / ax.figure.dpi


def _points(ax: Axes, pixels: float) -> float:
    return float(pixels) * 72 / ax.figure.dpi


def shared(places: Sequence[LabelPlace]) -> list[LabelPlace]:
    """Merge places whose dots coincide: one name per line, the first few if there are many."""
    groups: list[list[LabelPlace]] = []
    for place in places:
        near = [group for group in groups if np.hypot(*(group[0].at - place.at)) < _COINCIDING]
        if near:
            near[0].append(place)
        else:
            groups.append([place])
    return [
        LabelPlace(group[0].at, group[0].away, _joined([p.name for p in group])) for group in groups
    ]


def _joined(names: Sequence[str]) -> str:
    shown = names if len(names) <= _MOST_LINES else names[: _MOST_LINES - 1]
    more = [f"and {len(names) - len(shown)} more"] if len(shown) < len(names) else []
    return "\n".join([*shown, *more])


def _beside(
    at: FloatArray, away: FloatArray, width: float, height: float
) -> Iterator[tuple[float, float, Box]]:
    """Boxes around a place: cost, distance and box of each."""
    angle = np.arctan2(away[1], away[0])
    for step, distance in enumerate(_DISTANCES):
        for turn in _TURNS:
            direction = angle + turn * np.pi / 4
            dx, dy = np.cos(direction), np.sin(direction)
            x, y = at[0] + dx * (distance + width / 2), at[1] + dy * (distance + height / 2)
            yield _FARTHER * step + _TURNED * abs(turn), distance, box_at(x, y, width, height)


def _around_middle(
    zone: FloatArray, width: float, height: float
) -> Iterator[tuple[float, float, Box]]:
    """Boxes in the middle of a zone, above and below that, then just outside the zone."""
    (left, bottom), (right, top) = zone.min(axis=0), zone.max(axis=0)
    x, middle = (left + right) / 2, (bottom + top) / 2
    for y in (middle, middle + height, middle - height):
        yield _FARTHER * abs(y - middle) / height / 2, 0.0, box_at(x, y, width, height)
    for y in (top + height, bottom - height):
        yield 2 * _FARTHER, 0.0, box_at(x, y, width, height)


def box_at(x: float, y: float, width: float, height: float) -> Box:
    return x - width / 2, y - height / 2, x + width / 2, y + height / 2


def _within(box: Box, frame: Box) -> bool:
    return box[0] >= frame[0] and box[1] >= frame[1] and box[2] <= frame[2] and box[3] <= frame[3]


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _crossings(box: Box, lines: FloatArray) -> int:
    """How many of the (lines, 4) cross the box (Liang and Barsky, 1984)."""
    start, way = lines[:, :2], lines[:, 2:] - lines[:, :2]
    with np.errstate(divide="ignore", invalid="ignore"):
        one, other = (np.array(box[:2]) - start) / way, (np.array(box[2:]) - start) / way
    enters, leaves = np.fmin(one, other), np.fmax(one, other)
    first, last = np.maximum(enters.max(axis=1), 0.0), np.minimum(leaves.min(axis=1), 1.0)
    return int(np.count_nonzero(first < last))


def away_from(here: FloatArray, before: FloatArray, after: FloatArray) -> FloatArray:
    """The direction away from the lines to both neighbours."""
    to_before, to_after = _unit(before - here), _unit(after - here)
    towards = to_before + to_after
    if np.hypot(*towards) < 0.2:  # nearly straight: move aside
        return np.array([-to_after[1], to_after[0]]) * (1 if to_after[0] >= 0 else -1)
    return -_unit(towards)


def _unit(vector: FloatArray) -> FloatArray:
    """The unit vector; upward if the length is zero."""
    length = np.hypot(*vector)
    return vector / length if length > 0 else np.array([0.0, 1.0])


def line_table(ways: Sequence[FloatArray]) -> FloatArray:
    """The (lines, 4) of routes of (points, 2) each."""
    rows = [np.hstack([a, b]) for way in ways for a, b in pairwise(way)]
    return np.array(rows).reshape(-1, 4)
