"""The figures of the paper's Section "Experiments", each as the settings it compares.

Lines are those of the paper's reading; `read_as` gives the same line in another one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from flexpress.experiments.protocol import DatasetName, Reading
from flexpress.experiments.setting import Setting
from flexpress.scenario import Partition

FigureKind = Literal["map", "curves", "energy"]

SYNC, ASYNC = Setting("sync", "minmax"), Setting("async", "sws")
"""As the paper flies them: FedEx-Sync on Min-Max routes, FedEx-Async on SWS routes."""


@dataclass(frozen=True)
class Line:
    label: str
    setting: Setting

    def read_as(self, reading: Reading) -> Line:
        return replace(self, setting=replace(self.setting, reading=reading))


@dataclass(frozen=True)
class Figure:
    name: str
    number: int  # in the paper
    topic: str  # the paragraph of the paper's Section VII
    title: str
    kind: FigureKind
    about: str  # what is compared, and how
    lines: tuple[Line, ...]

    @property
    def place(self) -> str:
        """Where it is in the paper."""
        return f"Fig. {self.number}, {self.topic}"

    @property
    def dataset(self) -> DatasetName:
        return self.lines[0].setting.dataset


DATASETS: dict[DatasetName, str] = {"fmnist": "FMNIST", "svhn": "SVHN"}
PARTITIONS: dict[Partition, tuple[str, str]] = {
    "iid": ("iid", "i.i.d. data"),
    "dirichlet": ("type1", "type 1 (Dirichlet) data"),
    "location": ("type2", "type 2 (location) data"),
}

_RESULTS = "Section VII-C"


def _sync_and_async(number: int, dataset: DatasetName, partition: Partition) -> Figure:
    short, words = PARTITIONS[partition]
    lines = tuple(
        Line(name, replace(setting, dataset=dataset, partition=partition))
        for name, setting in (("Sync", SYNC), ("Async", ASYNC))
    )
    data = "i.i.d." if partition == "iid" else "non-i.i.d."
    return Figure(
        f"{short}-{dataset}",
        number,
        f"{_RESULTS}, FedEx-Sync and FedEx-Async under {data} data",
        f"Sync and Async: {words}, {DATASETS[dataset]}",
        "curves",
        "Sync flies Min-Max routes, Async SWS routes.",
        lines,
    )


def _routes(number: int, name: str, setting: Setting) -> Figure:
    words = {"minmax": "Min-Max", "sws": "SWS", "total": "Shortest-Total"}
    lines = (
        Line(f"{name}, {words['minmax']}", replace(setting, objective="minmax")),
        Line(f"{name}, {words['sws']}", replace(setting, objective="sws")),
        Line(f"{name}, {words['total']}", replace(setting, objective="total")),
    )
    return Figure(
        f"routes-{name.lower()}",
        number,
        f"{_RESULTS}, Impact of Routes",
        f"Routes for {name}",
        "curves",
        "FMNIST, i.i.d.; nothing differs but the routes. All keep budgets of 15 kJ.",
        lines,
    )


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
        4,
        "Section VII-B, Network",
        "The network",
        "map",
        "Four clients in each of ten blocks, the server, and the SWS routes that Async flies.",
        (Line("SWS", ASYNC),),
    ),
    *(
        _sync_and_async(number, dataset, partition)
        for number, (partition, dataset) in enumerate(
            ((partition, dataset) for partition in PARTITIONS for dataset in DATASETS), start=5
        )
    ),
    _routes(11, "Async", ASYNC),
    _routes(12, "Sync", SYNC),
    Figure(
        "transporters",
        13,
        f"{_RESULTS}, Impact of Number of Transporters",
        "Number of transporters",
        "curves",
        f"FMNIST, i.i.d. Two transporters {_NO_BUDGET}",
        _both("K = 4") + _both("K = 2", transporters=2, budget=None),
    ),
    Figure(
        "speed",
        14,
        f"{_RESULTS}, Impact of Moving Speed",
        "Speed",
        "curves",
        f"FMNIST, i.i.d. At 5 m/s they {_NO_BUDGET}",
        _both("10 m/s") + _both("5 m/s", speed=5.0, budget=None),
    ),
    Figure(
        "budget",
        15,
        f"{_RESULTS}, Impact of Energy Budget",
        "Energy budget",
        "curves",
        "FMNIST, i.i.d. A plan for 15 kJ that keeps 12 kJ is flown with both budgets.",
        _both("15 kJ") + _both("12 kJ", budget=12e3),
    ),
    Figure(
        "energy",
        16,
        f"{_RESULTS}, Impact of Energy Budget",
        "Energy of each transporter",
        "energy",
        "Of one tour on the SWS routes that Async flies, with its budget.",
        (Line("Async, 15 kJ", ASYNC), Line("Async, 12 kJ", replace(ASYNC, budget=12e3))),
    ),
)
