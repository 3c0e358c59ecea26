"""Beyond the paper's figures: where its headline holds, and what a head start brings.

A sweep is a difference of two settings over something that the paper leaves open.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from flexpress.experiments.figures import ASYNC, DATASETS, PARTITIONS, SYNC
from flexpress.experiments.protocol import Reading, Scale, as_flown, as_paper, protocol
from flexpress.experiments.setting import Setting
from flexpress.scenario import DEFAULT_HEAD_START, Partition
from flexpress.simulation.simulate import ServerRule

SWEEP_NAMES = ("remote", "rates", "server-rule", "head-start")


@dataclass(frozen=True)
class SweepPoint:
    """The mean accuracy of the first setting minus that of the second."""

    x: float
    first: Setting
    second: Setting


@dataclass(frozen=True)
class Series:
    label: str
    points: tuple[SweepPoint, ...]


@dataclass(frozen=True)
class Sweep:
    name: str
    title: str
    about: str
    difference: str  # what is compared
    x_label: str
    series: tuple[Series, ...]
    names: tuple[str, ...] = ()  # of x = 0, 1, 2, ..., if they are no quantities
    logarithmic: bool = False

    @property
    def settings(self) -> Iterator[Setting]:
        for series in self.series:
            for point in series.points:
                yield from (point.first, point.second)


def sweeps_of(scale: Scale) -> tuple[Sweep, ...]:
    """The four sweeps with the points of this scale; none if it has no points."""
    if not scale.has_sweeps:
        return ()
    return _remote(scale), _rates(scale), _server_rule(scale), _head_start()


def _async_and_sync(x: float, reading: Reading, **changes: object) -> SweepPoint:
    asynchronous, sync = (
        replace(setting, reading=reading, **changes)  # type: ignore[arg-type]  # fields
        for setting in (ASYNC, SYNC)
    )
    return SweepPoint(x, asynchronous, sync)


def _remote(scale: Scale) -> Sweep:
    series = tuple(
        Series(
            reading.name,
            tuple(
                _async_and_sync(distance, reading, remote=distance, budget=None)
                for distance in scale.distances
            ),
        )
        for reading in protocol().readings
    )
    return Sweep(
        "remote",
        "A remote group",
        "30 clients within 800 m of the server, 10 more together at a distance, four drones "
        "without budgets; FMNIST, i.i.d. The tour to the remote group is longer than the others. "
        "Every network has other positions.",
        "Async - Sync",
        "distance of the remote group (km)",
        series,
    )


def _rates(scale: Scale) -> Sweep:
    usual = protocol().learning_rates["fmnist"]
    series = tuple(
        Series(reading.name, tuple(_at_rate(rate, reading, usual) for rate in scale.rates))
        for reading in protocol().readings
    )
    return Sweep(
        "rates",
        "The learning rate",
        f"The paper's network, FMNIST, i.i.d. The paper does not give its rate; ours is {usual:g}.",
        "Async - Sync",
        "learning rate",
        series,
        logarithmic=True,
    )


def _at_rate(rate: float, reading: Reading, usual: float, **changes: object) -> SweepPoint:
    """The usual rate is not named, so that its runs are shared with the figures."""
    named = None if rate == usual else rate
    return _async_and_sync(rate, reading, learning_rate=named, **changes)


def _server_rule(scale: Scale) -> Sweep:
    kinds: tuple[tuple[Partition, ServerRule, str], ...] = (
        ("iid", "clients", "1/N, i.i.d."),
        ("iid", "landed", "by clients that landed, i.i.d."),
        ("location", "clients", "1/N, type 2"),
        ("location", "landed", "by clients that landed, type 2"),
    )
    return Sweep(
        "server-rule",
        "The rule of the server",
        "The server divides what lands by the number N of all clients, Eq. (14) of the paper. Had "
        "it divided by the number of clients whose updates landed, each landing would count "
        "as much as a whole round. Sync is the same under both rules. The paper's network, FMNIST, "
        f"{as_paper().name}.",
        "Async - Sync",
        "learning rate",
        tuple(
            Series(label, tuple(_by_rule(rate, data, rule) for rate in scale.server_rates))
            for data, rule, label in kinds
        ),
        logarithmic=True,
    )


def _by_rule(rate: float, partition: Partition, rule: ServerRule) -> SweepPoint:
    usual = protocol().learning_rates["fmnist"]
    point = _at_rate(rate, as_paper(), usual, partition=partition)
    return replace(point, first=replace(point.first, server_rule=rule))


def _head_start() -> Sweep:
    cells = [(dataset, partition) for partition in PARTITIONS for dataset in DATASETS]
    flown = {
        "Sync": SYNC,
        "Async": ASYNC,
        "Sync, head start": replace(SYNC, head_start=DEFAULT_HEAD_START),
        "Async, head start": replace(ASYNC, head_start=DEFAULT_HEAD_START),
    }
    link = replace(SYNC, algorithm="direct")

    def point(x: int, setting: Setting) -> SweepPoint:
        dataset, partition = cells[x]
        first, second = (
            replace(each, dataset=dataset, partition=partition, reading=as_flown())
            for each in (setting, link)
        )
        return SweepPoint(float(x), first, second)

    series = (
        Series(label, tuple(point(x, setting) for x in range(len(cells))))
        for label, setting in flown.items()
    )
    return Sweep(
        "head-start",
        "Head start",
        f"Beyond the paper: a client starts from the model minus {DEFAULT_HEAD_START:g} times the "
        "update that it has just handed over. Against an ideal link that exchanges models once in "
        f"Sync's period. The paper's network, {as_flown().name}.",
        "ahead of the ideal link",
        "",
        tuple(series),
        names=tuple(
            f"{DATASETS[dataset]}\n{PARTITIONS[partition][1].split(' (')[0].removesuffix(' data')}"
            for dataset, partition in cells
        ),
    )
