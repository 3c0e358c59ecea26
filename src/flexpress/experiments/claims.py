"""What the paper says it saw, in our words: each with the lines of a figure that it is about.

The list, the measures and the margin were fixed before any result was looked at. A sentence about
both data sets, both algorithms or several routes is a claim for each, with a verdict of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from flexpress.experiments.figures import DATASETS, FIGURES, Figure, Line

Kind = Literal["ahead", "alike", "less advantage", "closer"]
"""`ahead`: the first line is better than the second; `alike`: neither is. `less advantage`: the
first is less ahead of the second than the third is of the fourth. `closer`: under the first plan
the transporters' energies are closer together than under the second."""

Measure = Literal["mean accuracy", "energy spread"]
"""That decides: the area under the curve of a run over its horizon, or max - min of a plan."""

MARGIN = 0.005
"""Of mean accuracy: half a percentage point, within which lines are alike."""

SLOTS_CLOCK = ", slots clock"
"""How the label of a line goes on that is the same by the other clock."""


@dataclass(frozen=True)
class Claim:
    name: str
    sentence: str
    figure: str
    kind: Kind
    lines: tuple[Line, ...]

    @property
    def measure(self) -> Measure:
        return "energy spread" if self.kind == "closer" else "mean accuracy"

    @property
    def lines_by_slots(self) -> tuple[Line, ...]:
        """The same lines by the clock of whole slots; none if the figure does not have them."""
        there = {line.label: line for line in figure_named(self.figure).lines}
        labels = [line.label + SLOTS_CLOCK for line in self.lines]
        return tuple(there[label] for label in labels) if set(labels) <= set(there) else ()


def claims_of(figures: Iterable[Figure]) -> tuple[Claim, ...]:
    """Those that these figures show, in the order of the paper."""
    names = {figure.name for figure in figures}
    return tuple(claim for claim in CLAIMS if claim.figure in names)


def figure_named(name: str) -> Figure:
    return next(figure for figure in FIGURES if figure.name == name)


def claim(name: str, kind: Kind, figure: str, labels: tuple[str, ...], sentence: str) -> Claim:
    there = {line.label: line for line in figure_named(figure).lines}
    return Claim(name, sentence, figure, kind, tuple(there[label] for label in labels))


def sync_and_async(partition: str, kind: Kind, labels: tuple[str, str], words: str) -> list[Claim]:
    """One for each data set."""
    return [
        claim(f"{partition}-{dataset}", kind, f"{partition}-{dataset}", labels, f"{title}: {words}")
        for dataset, title in DATASETS.items()
    ]


CLAIMS: tuple[Claim, ...] = (
    *sync_and_async("iid", "ahead", ("Async", "Sync"), "with i.i.d. data Async beats Sync."),
    *sync_and_async("type1", "alike", ("Async", "Sync"), "with type 1 data Async and Sync tie."),
    *sync_and_async("type2", "ahead", ("Sync", "Async"), "with type 2 data Sync beats Async."),
    claim(
        "routes-async-sws-minmax",
        "ahead",
        "routes-async",
        ("Async, SWS", "Async, Min-Max"),
        "Async learns better on SWS routes than on Min-Max routes.",
    ),
    claim(
        "routes-async-sws-total",
        "ahead",
        "routes-async",
        ("Async, SWS", "Async, Shortest-Total"),
        "Async learns better on SWS routes than on Shortest-Total routes.",
    ),
    claim(
        "routes-sync-minmax-sws",
        "alike",
        "routes-sync",
        ("Sync, Min-Max", "Sync, SWS"),
        "For Sync, Min-Max and SWS routes do equally well.",
    ),
    claim(
        "routes-sync-minmax-total",
        "ahead",
        "routes-sync",
        ("Sync, Min-Max", "Sync, Shortest-Total"),
        "Sync learns better on Min-Max routes than on Shortest-Total routes.",
    ),
    claim(
        "routes-sync-sws-total",
        "ahead",
        "routes-sync",
        ("Sync, SWS", "Sync, Shortest-Total"),
        "Sync learns better on SWS routes than on Shortest-Total routes.",
    ),
    claim(
        "transporters-sync",
        "ahead",
        "transporters",
        ("Sync, K = 4", "Sync, K = 2"),
        "Sync learns faster with 4 transporters than with 2.",
    ),
    claim(
        "transporters-async",
        "ahead",
        "transporters",
        ("Async, K = 4", "Async, K = 2"),
        "Async learns faster with 4 transporters than with 2.",
    ),
    claim(
        "transporters-advantage",
        "less advantage",
        "transporters",
        ("Async, K = 2", "Sync, K = 2", "Async, K = 4", "Sync, K = 4"),
        "With 2 transporters Async gains less over Sync than with 4.",
    ),
    claim(
        "transporters-two-alike",
        "alike",
        "transporters",
        ("Async, K = 2", "Sync, K = 2"),
        "With 2 transporters, whose tours last about as long, Async and Sync tie.",
    ),
    claim(
        "speed-sync",
        "ahead",
        "speed",
        ("Sync, 10 m/s", "Sync, 5 m/s"),
        "Sync learns faster at 10 m/s than at 5 m/s.",
    ),
    claim(
        "speed-async",
        "ahead",
        "speed",
        ("Async, 10 m/s", "Async, 5 m/s"),
        "Async learns faster at 10 m/s than at 5 m/s.",
    ),
    claim(
        "budget-async",
        "ahead",
        "budget",
        ("Async, 15 kJ", "Async, 12 kJ"),
        "A budget of 12 kJ slows Async down.",
    ),
    claim(
        "budget-sync",
        "alike",
        "budget",
        ("Sync, 15 kJ", "Sync, 12 kJ"),
        "A budget of 12 kJ leaves Sync as fast as before.",
    ),
    claim(
        "energy-closer",
        "closer",
        "energy",
        ("Async, 12 kJ", "Async, 15 kJ"),
        "At 12 kJ the transporters' energies are closer together than at 15 kJ.",
    ),
)
