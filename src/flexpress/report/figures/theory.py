"""Theory and simulation in one figure: what was measured at every slot, and its bounds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

from flexpress.arguments import check_all, check_path, check_text
from flexpress.arrays import FloatArray
from flexpress.errors import InputError
from flexpress.files.disk import write_file
from flexpress.planning.colours import OKABE_ITO
from flexpress.report.figures.curve_axes import add_title, plain, scale_slots, write_beside
from flexpress.report.figures.picture import new_figure, png_bytes
from flexpress.report.figures.style import INK
from flexpress.scenario import Algorithm
from flexpress.theory import (
    Constants,
    Measured,
    RoundTrips,
    lemma1,
    lemma2_global,
    lemma2_local,
)
from flexpress.theory.bounds import check_horizon, check_problem, check_rate
from flexpress.theory.forecast import theorem_name, theorem_of

_SIZE = (6.0, 6.4)  # inches
_DASHED = (0, (5, 2))
_DECADES = 4.0  # below the highest line; lower lines have no label
_GREY = "0.45"


@dataclass(frozen=True, eq=False)
class _Line:
    """One line of the figure, with its name at the end."""

    name: str
    values: FloatArray  # at the slots from `first` on
    colour: str
    style: str | tuple[int, tuple[int, int]] = "-"
    first: int = 0


def save_theory_picture(
    path: str | Path,
    runs: Sequence[Measured],
    constants: Constants,
    tours: RoundTrips,
    *,
    algorithm: Algorithm,
    learning_rate: float,
    title: str = "",
) -> None:
    """Draw distances and gradients, averaged over runs with different seeds, and their bounds.

    With a head start the theorem of FedEx-Sync is Theorem 3, which needs the dissimilarity.
    """
    theorem_of(algorithm)  # refuses algorithms without a theorem
    runs = check_all("runs", runs, Measured, "make them with flexpress.theory.measure")
    _head_start_of(runs)
    file = check_path("path", path)
    check_text("title", title)
    check_problem(constants, tours)
    check_rate(constants, learning_rate)
    check_horizon(tours, len(runs[0].gradient))
    figure = new_figure(*_SIZE)
    upper, lower = figure.subplots(2, 1, sharex=True, gridspec_kw={"hspace": 0.12})
    _draw(upper, _lemmas(runs, constants, tours, algorithm, learning_rate))
    _draw(lower, _theorem_lines(runs, constants, tours, algorithm, learning_rate))
    upper.set_ylabel("squared distance of models", color=INK)
    lower.set_ylabel("mean of |grad f|² so far", color=INK)
    scale_slots(lower, len(runs[0].gradient))
    add_title(upper, title)
    write_file(file, png_bytes(figure))


def _head_start_of(runs: Sequence[Measured]) -> float:
    """Their gamma; runs with different ones are not about the same bounds."""
    found = sorted({run.head_start for run in runs})
    if len(found) > 1:
        texts = ", ".join(f"{gamma:g}" for gamma in found)
        raise InputError(f"runs with head starts of {texts}: must be one; draw a picture of each")
    return found[0]


def _lemmas(
    runs: Sequence[Measured],
    constants: Constants,
    tours: RoundTrips,
    algorithm: Algorithm,
    rate: float,
) -> list[_Line]:
    """The left-hand sides of the lemmas, at their worst client, and the right-hand sides."""
    one, two, *_ = OKABE_ITO
    if algorithm == "sync":
        largest = _mean([run.real_to_local for run in runs]).max(axis=1)
        bound = lemma1(constants, rate, tours)
        return list(_with_bound("global to local", largest, "Lemma 1", bound, one))
    to_real = _mean([run.virtual_to_real for run in runs])
    to_local = _mean([run.virtual_to_local for run in runs])
    gamma = _head_start_of(runs)
    bounds = lemma2_global(constants, rate, tours), lemma2_local(constants, rate, tours, gamma)
    return [
        *_with_bound("virtual to global", to_real, "Lemma 2, first", bounds[0], one),
        *_with_bound("virtual to local", to_local, "Lemma 2, second", bounds[1], two),
    ]


def _with_bound(
    name: str, values: FloatArray, lemma: str, bound: float, colour: str
) -> Iterator[_Line]:
    yield _Line(name, values, colour)
    yield _Line(lemma, np.full(len(values), bound), colour, _DASHED)


def _theorem_lines(
    runs: Sequence[Measured],
    constants: Constants,
    tours: RoundTrips,
    algorithm: Algorithm,
    rate: float,
) -> list[_Line]:
    """The mean gradient up to each slot, its bound, and the terms of the bound."""
    gamma = _head_start_of(runs)
    theorem, name = theorem_of(algorithm, gamma), theorem_name(algorithm, gamma)
    values = _mean([run.mean_gradient for run in runs])
    first = int(tours.longest) + 1
    bounds = [theorem(constants, rate, tours, slot) for slot in range(first, len(values) + 1)]
    totals = np.array([bound.total for bound in bounds])
    terms = {
        "start": [bound.start + bound.first_tour for bound in bounds],
        "delay": [bound.delay for bound in bounds],
        "noise": [bound.noise for bound in bounds],
    }
    return [
        _Line("measured", values, OKABE_ITO[0], first=1),
        _Line(name, totals, OKABE_ITO[0], _DASHED, first),
        *(_Line(term, np.array(heights), _GREY, ":", first) for term, heights in terms.items()),
    ]


def _mean(values: Sequence[FloatArray]) -> FloatArray:
    return np.asarray(np.mean(values, axis=0))


def _draw(ax: Axes, lines: Iterable[_Line]) -> None:
    """On a logarithmic scale, without values of zero."""
    lines = list(lines)
    plain(ax)
    ax.set_yscale("log")
    for line in lines:
        slots = np.arange(line.first, line.first + len(line.values))
        heights = np.where(line.values > 0, line.values, np.nan)
        ax.plot(slots, heights, color=line.colour, linestyle=line.style, linewidth=1.2)
    shown = _visible(lines)
    ax.set_ylim(bottom=0.7 * min(_smallest(line) for line in shown))
    write_beside(
        ax,
        [line.name for line in shown],
        [line.colour for line in shown],
        [float(line.values[-1]) for line in shown],
    )


def _visible(lines: Sequence[_Line]) -> list[_Line]:
    """The lines that are not far below the highest one."""
    highest = max(float(line.values.max()) for line in lines)
    return [line for line in lines if line.values[-1] * 10**_DECADES > highest]


def _smallest(line: _Line) -> float:
    """The smallest value above zero."""
    return float(line.values[line.values > 0].min())
