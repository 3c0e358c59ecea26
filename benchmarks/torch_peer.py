"""A plain loop in torch: one client after another, and the mean of their models."""

from __future__ import annotations

from typing import Any

import torch
from torch_work import load_work
from turns import Order, take_turns


def perform(order: Order) -> Any:
    work = load_work(order.workload, order.channels_last)
    model = work.model
    for _ in range(order.rounds):
        total = torch.zeros_like(model)
        for client in range(len(work.rows)):
            work.load(model)
            work.local_steps(client)
            total += work.vector()
        model = total / len(work.rows)
    return model.numpy()


if __name__ == "__main__":
    take_turns(perform)
