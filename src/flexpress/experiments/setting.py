"""The setting of one line of a figure: the paper's main experiment, unless stated otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from flexpress.scenario import Algorithm, Clock, Objective, Partition, Scenario

DatasetName = Literal["fmnist", "svhn"]

_PRESETS: dict[DatasetName, str] = {"fmnist": "paper", "svhn": "paper-svhn"}

_STAND_IN = "fmnist-mini"
"""The data set in the package, which needs no download."""


@dataclass(frozen=True)
class Scale:
    """The size of the experiments: as in the paper, or small enough for a quick look."""

    name: Literal["full", "quick"]
    seeds: int
    horizon: int  # slots
    eval_every: int
    stand_in: bool  # use the data set in the package for both


FULL = Scale("full", seeds=4, horizon=2000, eval_every=40, stand_in=False)
QUICK = Scale("quick", seeds=2, horizon=80, eval_every=20, stand_in=True)

FIRST_SEED = 1
"""Seed 0 was used in the search for learning rates and batch sizes."""


@dataclass(frozen=True)
class Setting:
    """Speed and budget are those of every transporter."""

    algorithm: Algorithm
    objective: Objective
    dataset: DatasetName = "fmnist"
    partition: Partition = "iid"
    clock: Clock = "exact"
    transporters: int = 4
    speed: float = 10.0  # m/s
    budget: float | None = 15e3  # joules

    def scenario(self, scale: Scale, network: int, seed: int) -> Scenario:
        """`network` draws the positions, `seed` the data, the first model and the batches.

        Without a head start, as in the paper.
        """
        alike = [self.speed] * self.transporters
        budgets = None if self.budget is None else [self.budget] * self.transporters
        return Scenario.preset(self._preset(scale), network).replace(
            fleet={"speeds": alike, "budgets": budgets},
            plan={"objective": self.objective},
            learning={**self._learning(scale), "partition": self.partition, "seed": seed},
            run={
                "algorithm": self.algorithm,
                "clock": self.clock,
                "horizon": scale.horizon,
                "eval_every": scale.eval_every,
                "head_start": 0.0,
            },
        )

    def _preset(self, scale: Scale) -> str:
        """With i.i.d. data the stand-in is the same for both data sets, and so are its runs."""
        same = scale.stand_in and self.partition == "iid"
        return _PRESETS["fmnist" if same else self.dataset]

    def _learning(self, scale: Scale) -> Mapping[str, object]:
        """The stand-in keeps only the partition of the data set."""
        if not scale.stand_in:
            return {"dataset": self.dataset}
        usual = Scenario.preset(_PRESETS["fmnist"]).learning
        return {
            "dataset": _STAND_IN,
            "samples_per_client": usual.samples_per_client,
            "learning_rate": usual.learning_rate,
        }
