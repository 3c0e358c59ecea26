"""A client of Flower's simulation; a file of its own, so that Ray's workers import it once."""

from __future__ import annotations

from typing import Any

import torch
from flwr.app import ArrayRecord, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from torch_work import load_work


def train(message: Any, context: Any) -> Any:
    """The model goes in and out as one vector, which costs Flower less than ten tensors do."""
    order = message.content["config"]
    work = load_work(order["workload"], order["channels-last"])
    (model,) = message.content["arrays"].to_numpy_ndarrays()
    work.load(torch.tensor(model))
    work.local_steps(int(context.node_config["partition-id"]))
    content = {
        "arrays": ArrayRecord([work.vector().numpy()]),
        "metrics": MetricRecord({"num-examples": work.rows[0].numel()}),
    }
    return Message(RecordDict(content), reply_to=message)


def make_client() -> Any:
    app = ClientApp()
    app.train()(train)
    return app
