"""The list of claims: complete, in the paper's order, and about figures that exist."""

from __future__ import annotations

from flexpress.experiments.claims import CLAIMS, MARGIN, ClaimKind, _figure_named, claims_of
from flexpress.experiments.figures import FIGURES
from flexpress.experiments.setting import Setting
from flexpress.experiments.verdicts import _SIGNS

NAMES = [
    "iid-fmnist",  # Async beats Sync under i.i.d.
    "iid-svhn",
    "type1-fmnist",  # comparable under type 1
    "type1-svhn",
    "type2-fmnist",  # Sync beats Async under type 2
    "type2-svhn",
    "routes-async-sws-minmax",  # SWS is best for Async
    "routes-async-sws-total",
    "routes-sync-minmax-sws",  # Min-Max and SWS alike for Sync
    "routes-sync-minmax-total",  # and both ahead of Shortest-Total
    "routes-sync-sws-total",
    "transporters-sync",  # K = 4 faster than K = 2
    "transporters-async",
    "transporters-advantage",  # Async's advantage smaller for K = 2
    "transporters-two-alike",  # so small that both tie
    "speed-sync",  # 10 m/s faster than 5
    "speed-async",
    "budget-async",  # at 12 kJ Async slower
    "budget-sync",  # and Sync about the same
    "energy-closer",  # at 12 kJ the transporters' energies closer together
]


def settings(name: str) -> list[Setting]:
    claim = next(claim for claim in CLAIMS if claim.name == name)
    return [line.setting for line in claim.lines]


def test_the_list() -> None:
    assert [claim.name for claim in CLAIMS] == NAMES


def test_the_kinds() -> None:
    of_kind: dict[ClaimKind, list[str]] = {kind: [] for kind in _SIGNS}
    for claim in CLAIMS:
        of_kind[claim.kind].append(claim.name)
        assert len(claim.lines) == len(_SIGNS[claim.kind])
        assert sum(_SIGNS[claim.kind]) == 0
    assert of_kind["alike"] == [
        "type1-fmnist",
        "type1-svhn",
        "routes-sync-minmax-sws",
        "transporters-two-alike",
        "budget-sync",
    ]
    assert of_kind["less advantage"] == ["transporters-advantage"]
    assert of_kind["closer"] == ["energy-closer"]
    assert MARGIN == 0.005


def test_every_sentence_is_one_and_no_other_has_it() -> None:
    sentences = [claim.sentence for claim in CLAIMS]
    assert len(set(sentences)) == len(sentences)
    assert all(sentence.endswith(".") and "\n" not in sentence for sentence in sentences)


def test_lines_are_those_of_their_figures() -> None:
    for claim in CLAIMS:
        assert set(claim.lines) <= set(_figure_named(claim.figure).lines)
        assert len(set(claim.lines)) == len(claim.lines)


def test_every_figure_but_the_map_has_claims_in_the_order_of_the_paper() -> None:
    shown = list(dict.fromkeys(claim.figure for claim in CLAIMS))
    assert shown == [figure.name for figure in FIGURES if figure.kind != "map"]


def test_claims_of_some_figures() -> None:
    chosen = claims_of([_figure_named("energy"), _figure_named("speed")])
    assert [claim.name for claim in chosen] == ["speed-sync", "speed-async", "energy-closer"]
    assert claims_of(FIGURES) == CLAIMS


def test_who_is_said_to_be_better() -> None:
    """By what was set, whatever the labels say."""
    assert [each.algorithm for each in settings("iid-svhn")] == ["async", "sync"]
    assert [each.algorithm for each in settings("type2-svhn")] == ["sync", "async"]
    assert [each.dataset for each in settings("type2-svhn")] == ["svhn", "svhn"]
    assert [each.partition for each in settings("type2-svhn")] == ["location", "location"]
    assert [each.objective for each in settings("routes-async-sws-total")] == ["sws", "total"]
    assert [each.objective for each in settings("routes-sync-minmax-sws")] == ["minmax", "sws"]
    assert [each.speed for each in settings("speed-sync")] == [10.0, 5.0]
    assert [each.budget for each in settings("budget-async")] == [15e3, 12e3]
    assert [each.budget for each in settings("energy-closer")] == [12e3, 15e3]
    assert [(each.transporters, each.algorithm) for each in settings("transporters-advantage")] == [
        (2, "async"),
        (2, "sync"),
        (4, "async"),
        (4, "sync"),
    ]


def test_only_what_is_said_differs() -> None:
    """Sync and Async each on the routes that the paper flies them on, one thing changed."""
    for claim in CLAIMS:
        clocks = {line.setting.clock for line in claim.lines}
        data = {(line.setting.dataset, line.setting.partition) for line in claim.lines}
        assert clocks == {"exact"}
        assert len(data) == 1


def test_sync_against_async_is_there_by_slots_too() -> None:
    with_slots = [claim for claim in CLAIMS if claim.lines_by_slots]
    assert [claim.name for claim in with_slots] == NAMES[:6]
    for claim in with_slots:
        for line, other in zip(claim.lines, claim.lines_by_slots, strict=True):
            assert other.setting.clock == "slots"
            assert other.setting.algorithm == line.setting.algorithm
            assert other.setting.partition == line.setting.partition
