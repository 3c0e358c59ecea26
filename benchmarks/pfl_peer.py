"""pfl: its simulated backend, its federated averaging and its training in torch, in one process.

It evaluates only in the first round of all, which is not timed.
"""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Any

os.environ["PFL_PYTORCH_DEVICE"] = "cpu"

import torch
from pfl.aggregate.simulate import SimulatedBackend
from pfl.algorithm.base import NNAlgorithmParams
from pfl.algorithm.federated_averaging import FederatedAveraging
from pfl.data.dataset import Dataset
from pfl.data.federated_dataset import FederatedDataset
from pfl.data.sampling import get_user_sampler
from pfl.hyperparam import NNTrainHyperParams
from pfl.metrics import Weighted
from pfl.model.pytorch import PyTorchModel
from torch.nn.functional import cross_entropy
from torch_work import Work, load_work
from turns import Order, claim_answers, take_turns

NEVER = 10**9


class Simulation:
    """Runs of one algorithm go on where the run before ended; the model is set back."""

    def __init__(self, work: Work) -> None:
        self._work = work
        give_methods(work.module)
        users = list(range(len(work.rows)))
        data = FederatedDataset(self._samples, get_user_sampler("minimize_reuse", users))
        self._backend = SimulatedBackend(training_data=data, val_data=data)
        self._algorithm = FederatedAveraging()
        central = torch.optim.SGD(work.module.parameters(), lr=1.0)
        self._model = PyTorchModel(work.module, torch.optim.SGD, central)
        self._rounds = 0

    def run(self, rounds: int) -> Any:
        work = self._work
        work.load(work.model)
        self._rounds += rounds
        num_clients, _, batch_size = work.rows.shape
        self._algorithm.run(
            NNAlgorithmParams(
                central_num_iterations=self._rounds,
                evaluation_frequency=NEVER,
                train_cohort_size=num_clients,
                val_cohort_size=0,
            ),
            self._backend,
            self._model,
            NNTrainHyperParams(
                local_num_epochs=1,
                local_learning_rate=work.learning_rate,
                local_batch_size=batch_size,
            ),
            send_metrics_to_platform=False,
        )
        return work.vector().numpy()

    def _samples(self, user: int) -> Any:
        """All mini-batches of the round, one after another: an epoch of pfl goes through them."""
        rows = self._work.rows[user].reshape(-1)
        return Dataset((self._work.images[rows], self._work.labels[rows]))


def give_methods(module: Any) -> None:
    """What pfl asks of a module."""
    module.loss = lambda images, labels: cross_entropy(module(images), labels)
    module.metrics = lambda images, labels: {"samples": Weighted(len(labels), 1)}


@lru_cache(maxsize=2)
def simulation(workload: str, channels_last: bool) -> Simulation:
    return Simulation(load_work(workload, channels_last))


def perform(order: Order) -> Any:
    return simulation(order.workload, order.channels_last).run(order.rounds)


if __name__ == "__main__":
    take_turns(perform, answers=claim_answers())
