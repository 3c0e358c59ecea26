"""How good a model is on some samples: cross-entropy and right answers, block by block."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexpress.learning.fast.compiled import entry, part
from flexpress.learning.fast.gather import Samples
from flexpress.learning.fast.layout import Net, Records
from flexpress.learning.fast.local_steps import forward, take_model
from flexpress.learning.fast.memory import at
from flexpress.learning.fast.workspace import Workspace, pointers


@entry
def scores(
    first: int,
    model: NDArray[np.float32],
    samples: Samples,
    net: Net,
    arrays: Workspace,
    batch: NDArray[np.int64],
    sums: NDArray[np.float64],
) -> None:
    """sums[i] = cross-entropy and right answers, summed over block first + i of the samples."""
    work = pointers(arrays)
    take_model(net, work, arrays.params.size, model)
    for i in range(sums.shape[0]):
        start = (first + i) * batch.size
        count = samples.labels.size - start
        rows = batch if count >= batch.size else batch[:count]
        for j in range(rows.size):
            rows[j] = start + j
        forward(samples, rows, net, work)
        sums[i, 0] = sums[i, 1] = 0
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
        largest = logit if logit > largest else largest
        right &= (logit < mine) if k < label else (logit <= mine)
    total = 0.0
    for k in range(layer.outputs):
        total += math.exp(np.float64(at(values, start + k)) - largest)
    return largest - mine + math.log(total), right
