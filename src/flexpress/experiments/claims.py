"""The claims of the paper's Section "Experiments", in our words, and what each compares.

A sentence about both data sets, both algorithms or several routes becomes one claim for each; that
both algorithms converge is one claim. The list, the measures and the margins were fixed before any
result was looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Literal

from flexpress.experiments.figures import DATASETS, FIGURES, Figure, Line

Expected = Literal["more", "tie", "converge"]
"""Of the compared number: above zero; within the margin of zero; above `converged`."""

CurveMeasure = Literal["mean accuracy", "final accuracy"]
"""The area under a run's curve over its horizon, or its mean over the last slots."""

PlanMeasure = Literal["longest tour", "cost", "range of energies", "deviation of energies"]
"""Of a plan: slots; slots, as the round trip that the cost stands for; joules; joules."""

_CURVE_MEASURES = ("mean accuracy", "final accuracy")


@dataclass(frozen=True)
class Claim:
    name: str
    sentence: str
    figure: Figure
    measures: tuple[CurveMeasure | PlanMeasure, ...]  # all of them must agree
    lines: tuple[Line, ...]
    signs: tuple[int, ...]  # positive sums support the claim
    expects: Expected = "more"

    @property
    def is_about_plans(self) -> bool:
        return self.measures[0] not in _CURVE_MEASURES

    @property
    def comparison(self) -> str:
        """What is compared, in words."""
        labels = [line.label for line in self.lines]
        if self.expects == "converge":
            return "the worse of " + " and ".join(labels)
        if len(labels) == 4:
            return f"({labels[2]} - {labels[3]}) - ({labels[0]} - {labels[1]})"
        first, second = labels if self.signs[0] > 0 else reversed(labels)
        return f"{first} - {second}"

    def compare(self, values: Sequence[float]) -> float:
        """One number out of the values of all lines."""
        if self.expects == "converge":
            return min(values)
        return fsum(sign * value for sign, value in zip(self.signs, values, strict=True))


@dataclass(frozen=True)
class Statement:
    """A sentence of the paper that is proven or argued, and not seen in an experiment."""

    sentence: str
    place: str
    found: str


def claims_of(figures: Iterable[Figure]) -> tuple[Claim, ...]:
    """The claims about these figures, in the order of the paper."""
    chosen = set(figures)
    return tuple(claim for claim in CLAIMS if claim.figure in chosen)


def _claim(
    name: str,
    figure: str,
    labels: tuple[str, ...],
    sentence: str,
    expects: Expected = "more",
    measures: tuple[CurveMeasure | PlanMeasure, ...] = ("mean accuracy",),
    signs: tuple[int, ...] = (1, -1),
) -> Claim:
    its = next(each for each in FIGURES if each.name == figure)
    known = {line.label: line for line in its.lines}
    lines = tuple(known[label] for label in labels)
    return Claim(name, sentence, its, measures, lines, signs, expects)


def _converge(name: str, figure: str, labels: tuple[str, ...], sentence: str) -> Claim:
    return _claim(name, figure, labels, sentence, "converge", ("final accuracy",))


def _of_both_data_sets() -> Iterable[Claim]:
    both = ("Async", "Sync")
    for dataset, title in DATASETS.items():
        name = f"iid-{dataset}"
        yield _converge(
            f"{name}-converge",
            name,
            both,
            f"{title}: with i.i.d. data both algorithms converge.",
        )
        yield _claim(name, name, both, f"{title}: with i.i.d. data Async beats Sync.")
    for dataset, title in DATASETS.items():
        name = f"type1-{dataset}"
        yield _claim(name, name, both, f"{title}: with type 1 data Async and Sync tie.", "tie")
    for dataset, title in DATASETS.items():
        name = f"type2-{dataset}"
        yield _claim(name, name, both[::-1], f"{title}: with type 2 data Sync beats Async.")


CLAIMS: tuple[Claim, ...] = (
    *_of_both_data_sets(),
    _claim(
        "routes-async-sws-minmax",
        "routes-async",
        ("Async, SWS", "Async, Min-Max"),
        "Async learns better on SWS routes than on Min-Max routes.",
    ),
    _claim(
        "routes-async-sws-total",
        "routes-async",
        ("Async, SWS", "Async, Shortest-Total"),
        "Async learns better on SWS routes than on Shortest-Total routes.",
    ),
    _claim(
        "routes-longest",
        "routes-sync",
        ("Sync, SWS", "Sync, Min-Max"),
        "The longest tour of the SWS routes takes as long as that of the Min-Max routes.",
        "tie",
        ("longest tour",),
    ),
    _claim(
        "routes-sync-minmax-sws",
        "routes-sync",
        ("Sync, Min-Max", "Sync, SWS"),
        "For Sync, Min-Max and SWS routes do equally well.",
        "tie",
    ),
    _claim(
        "routes-sync-minmax-total",
        "routes-sync",
        ("Sync, Min-Max", "Sync, Shortest-Total"),
        "Sync learns better on Min-Max routes than on Shortest-Total routes.",
    ),
    _claim(
        "routes-sync-sws-total",
        "routes-sync",
        ("Sync, SWS", "Sync, Shortest-Total"),
        "Sync learns better on SWS routes than on Shortest-Total routes.",
    ),
    _converge(
        "transporters-converge",
        "transporters",
        ("Async, K = 2", "Sync, K = 2"),
        "With 2 transporters both algorithms converge.",
    ),
    _claim(
        "transporters-sync",
        "transporters",
        ("Sync, K = 4", "Sync, K = 2"),
        "Sync learns faster with 4 transporters than with 2.",
    ),
    _claim(
        "transporters-async",
        "transporters",
        ("Async, K = 4", "Async, K = 2"),
        "Async learns faster with 4 transporters than with 2.",
    ),
    _claim(
        "transporters-advantage",
        "transporters",
        ("Async, K = 2", "Sync, K = 2", "Async, K = 4", "Sync, K = 4"),
        "With 2 transporters Async gains less over Sync than with 4.",
        signs=(-1, 1, 1, -1),
    ),
    _claim(
        "transporters-two-alike",
        "transporters",
        ("Async, K = 2", "Sync, K = 2"),
        "With 2 transporters, whose tours last about as long, Async and Sync tie.",
        "tie",
    ),
    _converge(
        "speed-converge",
        "speed",
        ("Async, 5 m/s", "Sync, 5 m/s"),
        "At 5 m/s both algorithms still converge.",
    ),
    _claim(
        "speed-sync",
        "speed",
        ("Sync, 10 m/s", "Sync, 5 m/s"),
        "Sync learns faster at 10 m/s than at 5 m/s.",
    ),
    _claim(
        "speed-async",
        "speed",
        ("Async, 10 m/s", "Async, 5 m/s"),
        "Async learns faster at 10 m/s than at 5 m/s.",
    ),
    _claim(
        "budget-async",
        "budget",
        ("Async, 15 kJ", "Async, 12 kJ"),
        "A budget of 12 kJ slows Async down.",
    ),
    _claim(
        "budget-sync",
        "budget",
        ("Sync, 15 kJ", "Sync, 12 kJ"),
        "A budget of 12 kJ leaves Sync as fast as before.",
        "tie",
    ),
    _claim(
        "budget-sws-misses",
        "budget",
        ("Async, 12 kJ", "Async, 15 kJ"),
        "At 12 kJ the SWS routes miss the optimum: their cost rises.",
        measures=("cost",),
    ),
    _claim(
        "budget-minmax-keeps",
        "budget",
        ("Sync, 12 kJ", "Sync, 15 kJ"),
        "At 12 kJ the Min-Max routes keep the optimum: their cost stays.",
        "tie",
        ("cost",),
    ),
    _claim(
        "energy-closer",
        "energy",
        ("Async, 12 kJ", "Async, 15 kJ"),
        "At 12 kJ the transporters' energies are closer together than at 15 kJ.",
        measures=("range of energies", "deviation of energies"),
        signs=(-1, 1),
    ),
)

STATEMENTS: tuple[Statement, ...] = (
    Statement(
        "Both algorithms converge at a rate of 1/sqrt(N T).",
        "Section V, remarks on Theorems 1 and 2",
        "Not an experiment. The rate follows from the theorems with a learning rate of "
        "sqrt(N/T)/L, once T is so large that the term of the delay is small beside the others. "
        "With tours of several slots that takes far more slots than any run here has, so "
        "these runs neither confirm nor refute it.",
    ),
    Statement(
        "CARP finds the best assignment with probability 1 when its temperature falls to zero.",
        "Section VI-B, outer-level optimization",
        "Not an experiment. Gibbs sampling guarantees it only if the temperature falls slowly, "
        "like one over the logarithm of the steps, and if moves of one client connect all "
        "assignments. "
        "Under energy budgets they need not: there are budgets under which only an exchange of "
        "clients leads from one feasible assignment to another.",
    ),
)
