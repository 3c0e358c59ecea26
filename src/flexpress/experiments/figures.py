"""The figures of the paper's Section "Experiments", each as the settings it compares."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from flexpress.experiments.setting import DatasetName, Setting
from flexpress.scenario import Partition

FigureKind = Literal["map", "curves", "energy"]

SYNC, ASYNC = Setting("sync", "minmax"), Setting("async", "sws")
"""As the paper flies them: FedEx-Sync on Min-Max routes, FedEx-Async on SWS routes."""


@dataclass(frozen=True)
class Line:
    label: str
    setting: Setting


@dataclass(frozen=True)
class Figure:
    name: str
    title: str
    kind: FigureKind
    about: str  # what is compared, and how
    lines: tuple[Line, ...]
    doubt: str = ""  # what was tried, and why it may differ, where a claim is not reproduced


DATASETS: dict[DatasetName, str] = {"fmnist": "FMNIST", "svhn": "SVHN"}
_PARTITIONS: dict[Partition, tuple[str, str]] = {
    "iid": ("iid", "i.i.d. data"),
    "dirichlet": ("type1", "type 1 (Dirichlet) data"),
    "location": ("type2", "type 2 (location) data"),
}


_BOTH_CLOCKS = (
    "Sync flies Min-Max routes, Async SWS routes, as in the paper. Dashed: the same by the clock "
    "of whole slots, where each tour is rounded up: tours that differ by less than a slot end "
    "together, and Async merges them together, as Sync does."
)


_STAGGERED = (
    "Why it may differ from the paper: tours that are as balanced as these leave Async little "
    "waiting to save, and landings at different times make old updates do harm at learning rates "
    "at which Sync is still stable (docs/theory.md). Tried: rates from 0.01 to 0.1 with batches of "
    "10 and 20, i.i.d. data, another seed: Async was behind with all of them."
)


def _sync_and_async(dataset: DatasetName, partition: Partition) -> Figure:
    """By both clocks: whole slots hide most of the differences between well-balanced tours."""
    short, words = _PARTITIONS[partition]
    lines = [
        Line(
            f"{name}, {clock} clock" if clock == "slots" else name,
            replace(setting, dataset=dataset, partition=partition, clock=clock),
        )
        for clock in ("exact", "slots")
        for name, setting in (("Sync", SYNC), ("Async", ASYNC))
    ]
    title = f"Sync and Async: {words}, {DATASETS[dataset]}"
    return Figure(f"{short}-{dataset}", title, "curves", _BOTH_CLOCKS, tuple(lines), _STAGGERED)


_BALANCED = (
    "Why it may differ from the paper: within these budgets all routes are much alike. On its "
    "network the longest tour is 6.9 min with Min-Max, 7.0 with SWS and 7.5 with Shortest-Total; "
    "clients wait 6.7, 6.6 and 6.7 min on average from visit to visit."
)


def _routes(name: str, setting: Setting) -> Figure:
    words = {"minmax": "Min-Max", "sws": "SWS", "total": "Shortest-Total"}
    lines = (
        Line(f"{name}, {words['minmax']}", replace(setting, objective="minmax")),
        Line(f"{name}, {words['sws']}", replace(setting, objective="sws")),
        Line(f"{name}, {words['total']}", replace(setting, objective="total")),
    )
    about = "FMNIST, i.i.d.; nothing differs but the routes. All keep budgets of 15 kJ."
    return Figure(f"routes-{name.lower()}", f"Routes for {name}", "curves", about, lines, _BALANCED)


def _both(words: str, **changes: object) -> tuple[Line, ...]:
    return tuple(
        Line(f"{name}, {words}", replace(setting, **changes))  # type: ignore[arg-type]  # fields
        for name, setting in (("Sync", SYNC), ("Async", ASYNC))
    )


_NO_BUDGET = (
    "fly without a budget: no plan keeps 15 kJ then, and the paper does not say which it gave them."
)

FIGURES: tuple[Figure, ...] = (
    Figure(
        "network",
        "The network",
        "map",
        "Four clients in each of ten blocks, the server, and the SWS routes that Async flies.",
        (Line("SWS", ASYNC),),
    ),
    *(_sync_and_async(dataset, partition) for partition in _PARTITIONS for dataset in DATASETS),
    _routes("Async", ASYNC),
    _routes("Sync", SYNC),
    Figure(
        "transporters",
        "Number of transporters",
        "curves",
        f"FMNIST, i.i.d. Two transporters {_NO_BUDGET}",
        _both("K = 4") + _both("K = 2", transporters=2, budget=None),
        _STAGGERED,
    ),
    Figure(
        "speed",
        "Speed",
        "curves",
        f"FMNIST, i.i.d. At 5 m/s they {_NO_BUDGET}",
        _both("10 m/s") + _both("5 m/s", speed=5.0, budget=None),
    ),
    Figure(
        "budget",
        "Energy budget",
        "curves",
        "FMNIST, i.i.d. On the paper's network 12 kJ binds for SWS routes, and not for Min-Max "
        "routes, whose longest tour is the same under both.",
        _both("15 kJ") + _both("12 kJ", budget=12e3),
    ),
    Figure(
        "energy",
        "Energy of each transporter",
        "energy",
        "Of one tour on the SWS routes that Async flies, with its budget.",
        (Line("Async, 15 kJ", ASYNC), Line("Async, 12 kJ", replace(ASYNC, budget=12e3))),
    ),
)
