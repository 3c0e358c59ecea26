"""Flower's simulation with its Ray backend: 40 nodes, its FedAvg, one worker on our one core.

The server waits for orders inside one simulation, so that starting Flower and Ray is not timed.
All processes of both are: server, Ray's own, and the worker that trains.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable
from typing import Any

os.environ["FLWR_TELEMETRY_ENABLED"] = "0"
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
# Models need not go through Ray's store; the name is spelled as Ray spells it.
os.environ["RAY_max_direct_call_object_size"] = "2000000"  # noqa: SIM112

import numpy as np
from flower_client import make_client
from flwr.app import ArrayRecord, ConfigRecord
from flwr.serverapp import ServerApp
from flwr.serverapp.strategy import FedAvg
from flwr.simulation import run_simulation
from torch_work import load_work
from turns import Order, claim_answers, cpu_seconds_of_all, take_turns

NUM_CLIENTS = 40


def main(style: str) -> None:
    answers = claim_answers()
    logging.getLogger("flwr").setLevel(logging.WARNING)
    server = ServerApp()
    server.main()(
        lambda grid, context: take_turns(federate(grid, style), cpu_seconds_of_all, answers)
    )
    backend = {
        # By its own address: otherwise Ray joins a cluster that it finds on this machine.
        "init_args": {"address": "local", "num_cpus": 1, "include_dashboard": False},
        "client_resources": {"num_cpus": 1, "num_gpus": 0.0},
    }
    run_simulation(server, make_client(style), NUM_CLIENTS, backend_config=backend)


def federate(grid: Any, style: str) -> Callable[[Order], Any]:
    def perform(order: Order) -> Any:
        work = load_work(order.workload, order.channels_last)
        documented = style == "documented"
        model = work.module.state_dict() if documented else [work.model.numpy()]
        settings = {"workload": order.workload, "channels-last": order.channels_last}
        result = FedAvg(fraction_evaluate=0.0).start(
            grid,
            ArrayRecord(model),
            num_rounds=order.rounds,
            train_config=ConfigRecord(settings),
        )
        return np.concatenate([part.reshape(-1) for part in result.arrays.to_numpy_ndarrays()])

    return perform


if __name__ == "__main__":
    main(sys.argv[1])
