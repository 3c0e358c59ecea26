"""The setting of one line of a figure: the paper's main experiment, unless stated otherwise."""

from __future__ import annotations

from dataclasses import dataclass, field

from flexpress.experiments.protocol import DatasetName, Reading, Scale, as_paper, protocol
from flexpress.experiments.remote import remote_clients
from flexpress.scenario import Algorithm, Objective, Partition, Scenario
from flexpress.simulation.simulate import ServerRule

_PRESETS: dict[DatasetName, str] = {"fmnist": "paper", "svhn": "paper-svhn"}

_REMOTE = "remote"

USUAL_BUDGET = 15e3
"""Joules, of every transporter in the paper's main experiments."""

STAND_IN = "fmnist-mini"
"""The data set in the package, which needs no download."""


@dataclass(frozen=True)
class Setting:
    """Speed and budget are those of every transporter."""

    algorithm: Algorithm
    objective: Objective
    dataset: DatasetName = "fmnist"
    partition: Partition = "iid"
    reading: Reading = field(default_factory=as_paper)
    transporters: int = 4
    speed: float = 10.0  # m/s
    budget: float | None = USUAL_BUDGET  # joules
    learning_rate: float | None = None  # None: that of the protocol
    remote: float | None = None  # km to a remote group; None: the paper's network
    head_start: float = 0.0  # gamma; 0 is the paper
    server_rule: ServerRule = "clients"  # Eq. (14)

    def scenario(self, scale: Scale, network: int, seed: int) -> Scenario:
        """`network` draws the positions, `seed` the data, the first model and the batches."""
        speeds = [self.speed] * self.transporters
        budgets = None if self.budget is None else [self.budget] * self.transporters
        scenario = Scenario.preset(self._preset(scale), network).replace(
            fleet={"speeds": speeds, "budgets": budgets},
            plan={
                "objective": self.objective,
                "solver": self.reading.solver,
                "round_trips": self.reading.round_trips,
            },
            learning={**self._learning(scale), "partition": self.partition, "seed": seed},
            run={
                "algorithm": self.algorithm,
                "clock": self.reading.clock,
                "horizon": scale.horizon[self.dataset],
                "eval_every": scale.eval_every,
                "head_start": self.head_start,
            },
        )
        if self.remote is None:
            return scenario
        return scenario.replace(network={"clients": remote_clients(network, self.remote)})

    def _preset(self, scale: Scale) -> str:
        """With i.i.d. data the stand-in is the same for both data sets, and so are its runs."""
        same = scale.stand_in and self.partition == "iid"
        return _REMOTE if self.remote is not None else _PRESETS["fmnist" if same else self.dataset]

    def _learning(self, scale: Scale) -> dict[str, object]:
        """The stand-in keeps only the partition of the data set."""
        rates = protocol().learning_rates
        if not scale.stand_in:
            rate = self.learning_rate or rates[self.dataset]
            return {"dataset": self.dataset, "learning_rate": rate}
        samples = Scenario.preset(_PRESETS["fmnist"]).learning.samples_per_client
        return {
            "dataset": STAND_IN,
            "samples_per_client": samples,
            "learning_rate": self.learning_rate or rates["fmnist"],
        }
