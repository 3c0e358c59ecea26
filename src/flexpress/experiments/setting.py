"""What one line of a figure shows: the paper's main experiment, but for what is named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from flexpress.scenario import Algorithm, Clock, Objective, Partition, Scenario

Dataset = Literal["fmnist", "svhn"]

PRESETS: dict[Dataset, str] = {"fmnist": "paper", "svhn": "paper-svhn"}

STAND_IN = "fmnist-mini"
"""The data in the package, for those who have no other at hand."""


@dataclass(frozen=True)
class Scale:
    """How much of it: as in the paper, or so that one sees it work."""

    name: Literal["full", "quick"]
    seeds: int
    horizon: int  # slots
    eval_every: int
    stand_in: bool  # for both data sets the one in the package


FULL = Scale("full", seeds=4, horizon=2000, eval_every=40, stand_in=False)
QUICK = Scale("quick", seeds=2, horizon=80, eval_every=20, stand_in=True)

FIRST_SEED = 1
"""Seed 0 was used up in the search for learning rates and batch sizes."""


@dataclass(frozen=True)
class Setting:
    """Speed and budget are those of every transporter."""

    algorithm: Algorithm
    objective: Objective
    dataset: Dataset = "fmnist"
    partition: Partition = "iid"
    clock: Clock = "exact"
    transporters: int = 4
    speed: float = 10.0  # m/s
    budget: float | None = 15e3  # joules

    def scenario(self, scale: Scale, network: int, seed: int) -> Scenario:
        """`network` draws the positions, `seed` the data, the first model and the batches."""
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
            },
        )

    def _preset(self, scale: Scale) -> str:
        """A stand-in with i.i.d. data is the same for both data sets, and so are its runs."""
        same = scale.stand_in and self.partition == "iid"
        return PRESETS["fmnist" if same else self.dataset]

    def _learning(self, scale: Scale) -> Mapping[str, object]:
        """A stand-in keeps only how unlike the clients' data are."""
        if not scale.stand_in:
            return {"dataset": self.dataset}
        usual = Scenario.preset(PRESETS["fmnist"]).learning
        return {
            "dataset": STAND_IN,
            "samples_per_client": usual.samples_per_client,
            "learning_rate": usual.learning_rate,
        }
