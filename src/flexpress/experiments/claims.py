"""The claims of the paper, in our words, each with the lines of the figure that it is about.

The list, the measures and the margin were fixed before any result was looked at. A sentence about
both data sets, both algorithms or several routes becomes one claim for each.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from flexpress.experiments.figures import DATASETS, FIGURES, Figure, Line

ClaimKind = Literal["ahead", "alike", "less advantage", "closer"]
"""`ahead`: the first line is better than the second; `alike`: neither is. `less advantage`: the
first is less ahead of the second than the third is of the fourth. `closer`: under the first plan
the transporters' energies are closer together than under the second."""

Measure = Literal["mean accuracy", "energy spread"]
"""The deciding measure: the area under a run's curve over its horizon, or max - min of a plan."""

MARGIN = 0.005
"""Lines whose mean accuracies differ by less than half a percentage point are alike."""

_SLOTS_CLOCK = ", slots clock"
"""The end of the label of the same line by the other clock."""


@dataclass(frozen=True)
class Claim:
    name: str
    sentence: str
    figure: str
    kind: ClaimKind
    lines: tuple[Line, ...]

    @property
    def measure(self) -> Measure:
        return "energy spread" if self.kind == "closer" else "mean accuracy"

    @property
    def lines_by_slots(self) -> tuple[Line, ...]:
        """The same lines by the clock of whole slots; empty if the figure does not have them."""
        known = {line.label: line for line in _figure_named(self.figure).lines}
        labels = [line.label + _SLOTS_CLOCK for line in self.lines]
        return tuple(known[label] for label in labels) if set(labels) <= set(known) else ()


def claims_of(figures: Iterable[Figure]) -> tuple[Claim, ...]:
    """The claims about these figures, in the order of the paper."""
    names = {figure.name for figure in figures}
    return tuple(claim for claim in CLAIMS if claim.figure in names)


def _figure_named(name: str) -> Figure:
    return next(figure for figure in FIGURES if figure.name == name)


def _claim(
    name: str, kind: ClaimKind, figure: str, labels: tuple[str, ...], sentence: str
) -> Claim:
    known = {line.label: line for line in _figure_named(figure).lines}
    return Claim(name, sentence, figure, kind, tuple(known[label] for label in labels))


def _sync_and_async(
    partition: str, kind: ClaimKind, labels: tuple[str, str], words: str
) -> list[Claim]:
    """One claim for each data set."""
    return [
        _claim(
            f"{partition}-{dataset}", kind, f"{partition}-{dataset}", labels, f"{title}: {words}"
        )
        for dataset, title in DATASETS.items()
    ]


CLAIMS: tuple[Claim, ...] = (
    *_sync_and_async("iid", "ahead", ("Async", "Sync"), "with i.i.d. data Async beats Sync."),
    *_sync_and_async("type1", "alike", ("Async", "Sync"), "with type 1 data Async and Sync tie."),
    *_sync_and_async("type2", "ahead", ("Sync", "Async"), "with type 2 data Sync beats Async."),
    _claim(
        "routes-async-sws-minmax",
        "ahead",
        "routes-async",
        ("Async, SWS", "Async, Min-Max"),
        "Async learns better on SWS routes than on Min-Max routes.",
    ),
    _claim(
        "routes-async-sws-total",
        "ahead",
        "routes-async",
        ("Async, SWS", "Async, Shortest-Total"),
        "Async learns better on SWS routes than on Shortest-Total routes.",
    ),
    _claim(
        "routes-sync-minmax-sws",
        "alike",
        "routes-sync",
        ("Sync, Min-Max", "Sync, SWS"),
        "For Sync, Min-Max and SWS routes do equally well.",
    ),
    _claim(
        "routes-sync-minmax-total",
        "ahead",
        "routes-sync",
        ("Sync, Min-Max", "Sync, Shortest-Total"),
        "Sync learns better on Min-Max routes than on Shortest-Total routes.",
    ),
    _claim(
        "routes-sync-sws-total",
        "ahead",
        "routes-sync",
        ("Sync, SWS", "Sync, Shortest-Total"),
        "Sync learns better on SWS routes than on Shortest-Total routes.",
    ),
    _claim(
        "transporters-sync",
        "ahead",
        "transporters",
        ("Sync, K = 4", "Sync, K = 2"),
        "Sync learns faster with 4 transporters than with 2.",
    ),
    _claim(
        "transporters-async",
        "ahead",
        "transporters",
        ("Async, K = 4", "Async, K = 2"),
        "Async learns faster with 4 transporters than with 2.",
    ),
    _claim(
        "transporters-advantage",
        "less advantage",
        "transporters",
        ("Async, K = 2", "Sync, K = 2", "Async, K = 4", "Sync, K = 4"),
        "With 2 transporters Async gains less over Sync than with 4.",
    ),
    _claim(
        "transporters-two-alike",
        "alike",
        "transporters",
        ("Async, K = 2", "Sync, K = 2"),
        "With 2 transporters, whose tours last about as long, Async and Sync tie.",
    ),
    _claim(
        "speed-sync",
        "ahead",
        "speed",
        ("Sync, 10 m/s", "Sync, 5 m/s"),
        "Sync learns faster at 10 m/s than at 5 m/s.",
    ),
    _claim(
        "speed-async",
        "ahead",
        "speed",
        ("Async, 10 m/s", "Async, 5 m/s"),
        "Async learns faster at 10 m/s than at 5 m/s.",
    ),
    _claim(
        "budget-async",
        "ahead",
        "budget",
        ("Async, 15 kJ", "Async, 12 kJ"),
        "A budget of 12 kJ slows Async down.",
    ),
    _claim(
        "budget-sync",
        "alike",
        "budget",
        ("Sync, 15 kJ", "Sync, 12 kJ"),
        "A budget of 12 kJ leaves Sync as fast as before.",
    ),
    _claim(
        "energy-closer",
        "closer",
        "energy",
        ("Async, 12 kJ", "Async, 15 kJ"),
        "At 12 kJ the transporters' energies are closer together than at 15 kJ.",
    ),
)
