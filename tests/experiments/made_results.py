"""Studies and results made by hand: curves of which one knows what they say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from flexpress.experiments.claims import CLAIMS, Claim
from flexpress.experiments.protocol import Reading, as_paper, protocol, seeds_of
from flexpress.experiments.results import Result, Results
from flexpress.experiments.setting import Setting
from flexpress.experiments.study import Study
from flexpress.planning import Plan, Tour
from flexpress.simulation.trace import Measurement

HORIZON = 100
SEEDS = (1, 2, 3, 4)


def curve(*accuracy: float, horizon: int = HORIZON, complete: bool = True) -> Result:
    """Measured at even distances; one that is not complete ends 10 slots before the horizon."""
    end = horizon if complete else horizon - 10
    slots = np.linspace(0, end, len(accuracy)).astype(np.int64).tolist()
    losses = np.linspace(2.0, 1.0, len(accuracy)).tolist()
    points = zip(slots, losses, accuracy, strict=True)
    return Result(
        horizon, complete, tuple(Measurement(t, 60.0 * t, loss, part) for t, loss, part in points)
    )


def flat(mean: float) -> Result:
    """The same accuracy all the time."""
    return curve(*[mean] * 11)


def named(name: str) -> Claim:
    return next(claim for claim in CLAIMS if claim.name == name)


def plan(*energies: float) -> Plan:
    empty = Tour((1,), (1.0,), 1.0, 2.0, 1, 0.0, 0.0, 0.0, 0.0, 12e3)
    tours = tuple(replace(empty, energy=energy, round_trip=energy / 30) for energy in energies)
    return Plan("sws", 1.0, True, "search", 0, 0.0, tours)


def study(
    plans: Mapping[tuple[Setting, int], Plan], networks: int = 1, seeds: int = len(SEEDS)
) -> Study:
    return Study(protocol().full, tuple(range(networks)), seeds, {}, {}, dict(plans))


def of_claim(
    claim: Claim, *lines: Sequence[Result], reading: Reading | None = None
) -> tuple[Study, Results]:
    """The runs of each line of a claim, seed by seed from 1, on network 0, as the paper."""
    settings = [line.read_as(reading or as_paper()).setting for line in claim.lines]
    by_case = {
        (setting, 0, seed): run
        for setting, line in zip(settings, lines, strict=False)
        for seed, run in enumerate(line, start=1)
    }
    return study({(setting, 0): plan(1e3, 2e3) for setting in settings}), Results(by_case)


def on_networks(claim: Claim, *lines: Sequence[Result]) -> tuple[Study, Results]:
    """The runs of each line, network by network from 0, each with its first seed."""
    settings = [line.setting for line in claim.lines]
    by_case = {
        (setting, network, seeds_of(network, 1)[0]): run
        for setting, line in zip(settings, lines, strict=True)
        for network, run in enumerate(line)
    }
    plans = {
        (setting, network): plan(1e3) for setting in settings for network in range(len(lines[0]))
    }
    return study(plans, len(lines[0]), 1), Results(by_case)
