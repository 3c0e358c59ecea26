"""Clients of Flower's simulation; a file of their own, so that Ray's workers import it once.

`documented` is what Flower's tutorials for PyTorch teach: a new module for each message, its state
dict, a DataLoader, torch's SGD. `tuned` has the loop of `torch_work`, and the model is one vector,
which costs Flower less than ten tensors do.
"""

from __future__ import annotations

from typing import Any

import torch
from flwr.app import ArrayRecord, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from torch.utils.data import DataLoader, TensorDataset
from torch_work import Work, load_work, make_lenet


def train_documented(message: Any, context: Any) -> Any:
    work, client = ordered(message, context)
    module = make_lenet(work.images.shape[1:]).to(memory_format=work.order)
    module.load_state_dict(message.content["arrays"].to_torch_state_dict())
    rows = work.rows[client].reshape(-1)
    samples = TensorDataset(work.images[rows], work.labels[rows])
    loader = DataLoader(samples, batch_size=work.rows.shape[2])  # mini-batches as they are given
    optimizer = torch.optim.SGD(module.parameters(), lr=work.learning_rate)
    criterion = torch.nn.CrossEntropyLoss()
    running_loss = 0.0
    for images, labels in loader:
        optimizer.zero_grad()
        loss = criterion(module(images), labels)
        loss.backward()
        optimizer.step()
        running_loss += loss.item()
    metrics = {"train_loss": running_loss / len(loader), "num-examples": len(samples)}
    return reply(message, ArrayRecord(module.state_dict()), metrics)


def train_tuned(message: Any, context: Any) -> Any:
    work, client = ordered(message, context)
    (model,) = message.content["arrays"].to_numpy_ndarrays()
    work.load(torch.tensor(model))
    work.local_steps(client)
    arrays = ArrayRecord([work.vector().numpy()])
    return reply(message, arrays, {"num-examples": work.rows[0].numel()})


TRAIN = {"documented": train_documented, "tuned": train_tuned}


def ordered(message: Any, context: Any) -> tuple[Work, int]:
    order = message.content["config"]
    work = load_work(order["workload"], order["channels-last"])
    return work, int(context.node_config["partition-id"])


def reply(message: Any, arrays: Any, metrics: dict[str, float]) -> Any:
    content = {"arrays": arrays, "metrics": MetricRecord(metrics)}
    return Message(RecordDict(content), reply_to=message)


def make_client(style: str) -> Any:
    app = ClientApp()
    app.train()(TRAIN[style])
    return app
