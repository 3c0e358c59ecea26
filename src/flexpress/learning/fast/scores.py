"""How good a model is on some samples: cross-entropy and right answers, block by block."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexpress.learning.fast.compiled import entry, part
from flexpress.learning.fast.layout import Net, Records
from flexpress.learning.fast.local_steps import Samples, forward, take_model
from flexpress.learning.fast.pooling import at
from flexpress.learning.fast.workspace import Workspace


@entry
def scores(
    first: int,
    model: NDArray[np.float32],
    samples: Samples,
    net: Net,
    work: Workspace,
    sums: NDArray[np.float64],
) -> None:
    """sums[i] = cross-entropy and right answers, summed over block first + i of the samples."""
    take_model(net, work, model)
    block = work.batch.size
    for i in range(sums.shape[0]):
        start = (first + i) * block
        rows = np.arange(start, min(start + block, samples.labels.size))
        forward(samples, rows, net, work)
        sums[i] = 0
        for j in range(rows.size):
            label = samples.labels[rows[j]]
            loss, right = score(net.linears[net.linears.size - 1], work.values, j, label)
            sums[i, 0] += loss
            sums[i, 1] += right


@part
def score(layer: Records, values: Any, sample: int, label: int) -> tuple[float, bool]:
    """Of one sample; among equal logits the first is the answer, and NaN is never right."""
    start = layer.output + sample * layer.output_size
    mine = np.float64(at(values, start + label))
    largest = mine
    right = mine == mine
    for k in range(layer.outputs):
        logit = np.float64(at(values, start + k))
        largest = max(largest, logit)
        right &= (logit < mine) if k < label else (logit <= mine)
    total = 0.0
    for k in range(layer.outputs):
        total += math.exp(np.float64(at(values, start + k)) - largest)
    return largest - mine + math.log(total), right
