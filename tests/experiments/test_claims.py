"""The list of claims: complete, in the paper's order, and about figures that exist."""

from __future__ import annotations

import pytest

from flexpress.experiments.claims import CLAIMS, STATEMENTS, Expected, claims_of
from flexpress.experiments.figures import FIGURES, Figure
from flexpress.experiments.setting import Setting

NAMES = [
    "iid-fmnist-converge",  # both converge under i.i.d.
    "iid-fmnist",  # Async beats Sync under i.i.d.
    "iid-svhn-converge",
    "iid-svhn",
    "type1-fmnist",  # comparable under type 1
    "type1-svhn",
    "type2-fmnist",  # Sync beats Async under type 2
    "type2-svhn",
    "routes-async-sws-minmax",  # SWS is best for Async
    "routes-async-sws-total",
    "routes-longest",  # the longest tour of SWS is that of Min-Max
    "routes-sync-minmax-sws",  # Min-Max and SWS alike for Sync
    "routes-sync-minmax-total",  # and both ahead of Shortest-Total
    "routes-sync-sws-total",
    "transporters-converge",  # K = 2 converges
    "transporters-sync",  # K = 4 faster than K = 2
    "transporters-async",
    "transporters-advantage",  # Async's advantage smaller for K = 2
    "transporters-two-alike",  # so small that both tie
    "speed-converge",  # 5 m/s converges
    "speed-sync",  # 10 m/s faster than 5
    "speed-async",
    "budget-async",  # at 12 kJ Async slower
    "budget-sync",  # and Sync about the same
    "budget-sws-misses",  # because SWS misses its optimum
    "budget-minmax-keeps",  # and Min-Max does not
    "energy-closer",  # at 12 kJ the transporters' energies closer together
]


def figure_named(name: str) -> Figure:
    return next(figure for figure in FIGURES if figure.name == name)


def settings(name: str) -> list[Setting]:
    claim = next(claim for claim in CLAIMS if claim.name == name)
    return [line.setting for line in claim.lines]


def test_the_list() -> None:
    assert [claim.name for claim in CLAIMS] == NAMES


def test_what_is_expected() -> None:
    expecting: dict[Expected, list[str]] = {"more": [], "tie": [], "converge": []}
    for claim in CLAIMS:
        expecting[claim.expects].append(claim.name)
        assert claim.expects == "converge" or len(claim.lines) == len(claim.signs)
        assert sum(claim.signs) == 0
    assert expecting["converge"] == [name for name in NAMES if name.endswith("-converge")]
    assert expecting["tie"] == [
        "type1-fmnist",
        "type1-svhn",
        "routes-longest",
        "routes-sync-minmax-sws",
        "transporters-two-alike",
        "budget-sync",
        "budget-minmax-keeps",
    ]
    about_plans = [claim.name for claim in CLAIMS if claim.is_about_plans]
    assert about_plans == [
        "routes-longest",
        "budget-sws-misses",
        "budget-minmax-keeps",
        "energy-closer",
    ]


def test_every_sentence_is_one_and_no_other_has_it() -> None:
    sentences = [claim.sentence for claim in CLAIMS]
    assert len(set(sentences)) == len(sentences)
    assert all(sentence.endswith(".") and "\n" not in sentence for sentence in sentences)


def test_lines_are_those_of_their_figures() -> None:
    for claim in CLAIMS:
        assert set(claim.lines) <= set(claim.figure.lines)
        assert len(set(claim.lines)) == len(claim.lines)


def test_every_figure_but_the_map_has_claims_in_the_order_of_the_paper() -> None:
    shown = list(dict.fromkeys(claim.figure.number for claim in CLAIMS))
    assert shown == [figure.number for figure in FIGURES if figure.kind != "map"]
    assert shown == list(range(5, 17))


def test_claims_of_some_figures() -> None:
    chosen = claims_of([figure_named("energy"), figure_named("speed")])
    assert [claim.name for claim in chosen] == [*NAMES[19:22], "energy-closer"]
    assert claims_of(FIGURES) == CLAIMS


def test_who_is_said_to_be_better() -> None:
    """By what was set, whatever the labels say."""
    assert [each.algorithm for each in settings("iid-svhn")] == ["async", "sync"]
    assert [each.algorithm for each in settings("type2-svhn")] == ["sync", "async"]
    assert [each.dataset for each in settings("type2-svhn")] == ["svhn", "svhn"]
    assert [each.partition for each in settings("type2-svhn")] == ["location", "location"]
    assert [each.objective for each in settings("routes-async-sws-total")] == ["sws", "total"]
    assert [each.objective for each in settings("routes-longest")] == ["sws", "minmax"]
    assert [each.speed for each in settings("speed-sync")] == [10.0, 5.0]
    assert [each.budget for each in settings("budget-async")] == [15e3, 12e3]
    assert [each.budget for each in settings("budget-sws-misses")] == [12e3, 15e3]
    assert [each.objective for each in settings("budget-minmax-keeps")] == ["minmax", "minmax"]
    assert [(each.transporters, each.algorithm) for each in settings("transporters-advantage")] == [
        (2, "async"),
        (2, "sync"),
        (4, "async"),
        (4, "sync"),
    ]


@pytest.mark.parametrize(
    ("name", "words", "values", "compared"),
    [
        ("iid-fmnist", "Async - Sync", (0.7, 0.5), 0.2),
        ("iid-fmnist-converge", "the worse of Async and Sync", (0.7, 0.5), 0.5),
        ("energy-closer", "Async, 15 kJ - Async, 12 kJ", (100.0, 300.0), 200.0),
        (
            "transporters-advantage",
            "(Async, K = 4 - Sync, K = 4) - (Async, K = 2 - Sync, K = 2)",
            (0.6, 0.5, 0.9, 0.6),
            0.2,
        ),
    ],
)
def test_what_is_compared(
    name: str, words: str, values: tuple[float, ...], compared: float
) -> None:
    claim = next(claim for claim in CLAIMS if claim.name == name)
    assert claim.comparison == words
    assert claim.compare(values) == pytest.approx(compared)


def test_statements_say_that_they_are_no_experiments() -> None:
    assert len(STATEMENTS) == 2
    for statement in STATEMENTS:
        assert statement.found.startswith("Not an experiment.")
        assert statement.place.startswith("Section ")
