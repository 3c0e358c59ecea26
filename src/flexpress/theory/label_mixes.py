"""The mix of labels at each transporter's clients, and its distance from that of all the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexpress.arrays import FloatArray
from flexpress.planning import Plan
from flexpress.scenario import Scenario

Counts = NDArray[np.integer[Any]]
"""(clients, labels): samples of each label, clients in the order of the scenario."""


@dataclass(frozen=True, eq=False)
class LabelMix:
    """The samples of some clients, taken together."""

    rows: tuple[int, ...]  # of the counts
    samples: int
    shares: FloatArray  # (labels,), of these samples; zero if there are none
    distance: float  # distance of these shares from those of all the data
    alone: float  # mean distance of the single clients


def label_mixes(scenario: Scenario, plan: Plan, counts: Counts) -> list[LabelMix]:
    """One per transporter, in their order, its clients in the order of visits.

    How biased a transporter's data are as a whole decides between Sync and Async on non-i.i.d.
    data: Section "Experiments, Results" of the paper.
    """
    assert len(counts) == scenario.num_clients, "a row of counts for each client"
    row_of = {client: row for row, client in enumerate(scenario.client_ids)}
    return [label_mix([row_of[i] for i in tour.clients], counts) for tour in plan.transporters]


def mean_skew(mixes: Sequence[LabelMix]) -> float:
    """Mean distance of the transporters' mixes from that of all data, weighted by clients."""
    clients = sum(len(mix.rows) for mix in mixes)
    return sum(len(mix.rows) * mix.distance for mix in mixes) / max(clients, 1)


def label_mix(rows: Sequence[int], counts: Counts) -> LabelMix:
    everyone = shares(counts.sum(axis=0))
    own = counts[list(rows)]  # (these clients, labels)
    together = shares(own.sum(axis=0))
    alone = [_distance(client, everyone) for client in shares(own)]
    return LabelMix(
        rows=tuple(rows),
        samples=int(own.sum()),
        shares=together,
        distance=_distance(together, everyone) if rows else 0.0,
        alone=sum(alone) / len(alone) if alone else 0.0,
    )


def shares(counts: Counts) -> FloatArray:
    """(..., labels): shares of the samples in each row; zero where a row has none."""
    totals = counts.sum(axis=-1, keepdims=True)
    return np.asarray(counts / np.maximum(totals, 1), dtype=float)


def _distance(one: FloatArray, other: FloatArray) -> float:
    """Total variation: the share of labels that must change to make the mixes equal."""
    return float(np.abs(one - other).sum() / 2)
