"""The compiled functions that Python calls: local steps of jobs, and scores on test samples."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexpress.arrays import IntArray
from flexpress.learning.batches import draw_batch
from flexpress.learning.fast.convolution import forward_block
from flexpress.learning.fast.convolution_backward import backward_block
from flexpress.learning.fast.decorators import entry, inlined, part
from flexpress.learning.fast.gather import SampleArrays, fetch_image, gather
from flexpress.learning.fast.linear import backward_linear, forward_linear
from flexpress.learning.fast.memory import at, put
from flexpress.learning.fast.tables import NetTables, Records
from flexpress.learning.fast.winograd import pack_weights
from flexpress.learning.fast.workspace import Workspace, pointers

JOB = np.dtype(
    [
        ("client", "i8"),
        ("number", "i8"),
        ("model", "i8"),
        ("first_step", "i8"),
        ("num_steps", "i8"),
        ("gives_model", "i8"),
    ],
    align=True,
)
"""A client's row of `shards`, its number in the draw of mini-batches, and a row of `models`.

`gives_model` is 1 if the model after the steps is wanted, and not the update.
"""


@entry
def local_steps(
    jobs: Records,
    models: NDArray[np.float32],
    updates: NDArray[np.float32],
    samples: SampleArrays,
    shards: NDArray[np.int32],
    seed: np.uint64,
    rate: np.float32,
    net: NetTables,
    arrays: Workspace,
    batch: IntArray,
) -> None:
    """updates[j] = the model of job j minus the model after its local steps, or the latter."""
    work = pointers(arrays)
    for j in range(jobs.size):
        job = jobs[j]
        model = models[job.model]
        _take_model(net, work, arrays.params.size, model)
        for step in range(job.first_step, job.first_step + job.num_steps):
            draw_batch(seed, job.number, step, shards.shape[1], batch)
            for i in range(batch.size):
                batch[i] = shards[job.client, batch[i]]
            _local_step(samples, batch, net, work, rate)
        for i in range(model.size):
            after = at(work.params, net.order[i])
            updates[j, i] = after if job.gives_model else model[i] - after


@inlined
def _take_model(
    net: NetTables, work: Workspace, num_params: int, model: NDArray[np.float32]
) -> None:
    for i in range(num_params):
        put(work.params, i, np.float32(0))
    for i in range(model.size):
        put(work.params, net.order[i], model[i])
    for number in range(net.blocks.size):
        pack_weights(net.blocks[number], work)


@inlined
def _local_step(
    samples: SampleArrays,
    batch: IntArray,
    net: NetTables,
    work: Workspace,
    rate: np.float32,
) -> None:
    """One step of SGD on these samples."""
    _forward(samples, batch, net, work)
    num_blocks, num_linears = net.blocks.size, net.linears.size
    _logit_slopes(samples.labels, batch, net.linears[num_linears - 1], work)
    for number in range(num_linears - 1, -1, -1):
        rectified, further = number < num_linears - 1, number + num_blocks > 0
        backward_linear(net.linears[number], work, batch.size, rate, rectified, further)
    for number in range(num_blocks - 1, -1, -1):
        backward_block(net.blocks[number], work, batch.size, rate, number > 0)


@inlined
def _forward(samples: SampleArrays, batch: IntArray, net: NetTables, work: Workspace) -> None:
    """Compute the logits of these samples."""
    size = net.blocks[0].input_size if net.blocks.size > 0 else net.linears[0].input_size
    for i in range(batch.size):
        gather(samples, batch[i], net.padding, work.values, i * size)
        if i + 1 < batch.size:
            fetch_image(samples, batch[i + 1])
        for number in range(net.blocks.size):
            forward_block(net.blocks[number], work, i)
    for number in range(net.linears.size):
        forward_linear(net.linears[number], work, batch.size, number < net.linears.size - 1)


@inlined
def _logit_slopes(labels: Any, batch: IntArray, layer: Records, work: Workspace) -> None:
    """Derivatives of the mean cross-entropy: (softmax - one-hot) / batch."""
    share = np.float32(1) / np.float32(batch.size)
    for sample in range(batch.size):
        start = layer.output + sample * layer.output_size
        largest = at(work.values, start)
        for k in range(1, layer.outputs):
            logit = at(work.values, start + k)
            largest = logit if logit > largest else largest
        total = np.float32(0)
        for k in range(layer.outputs):
            power = np.float32(math.exp(at(work.values, start + k) - largest))
            put(work.slopes, start + k, power)
            total += power
        for k in range(layer.outputs):
            put(work.slopes, start + k, at(work.slopes, start + k) / total * share)
        label = start + labels[batch[sample]]
        put(work.slopes, label, at(work.slopes, label) - share)


@entry
def scores(
    first: int,
    model: NDArray[np.float32],
    samples: SampleArrays,
    net: NetTables,
    arrays: Workspace,
    batch: IntArray,
    sums: NDArray[np.float64],
) -> None:
    """sums[i] = cross-entropy and correct answers, summed over block first + i of the samples."""
    work = pointers(arrays)
    _take_model(net, work, arrays.params.size, model)
    for i in range(sums.shape[0]):
        start = (first + i) * batch.size
        count = samples.labels.size - start
        rows = batch if count >= batch.size else batch[:count]
        for j in range(rows.size):
            rows[j] = start + j
        _forward(samples, rows, net, work)
        sums[i, 0] = sums[i, 1] = 0
        for j in range(rows.size):
            label = samples.labels[rows[j]]
            loss, right = _score(net.linears[net.linears.size - 1], work.values, j, label)
            sums[i, 0] += loss
            sums[i, 1] += right


@part
def _score(layer: Records, values: Any, sample: int, label: int) -> tuple[float, bool]:
    """Loss of one sample, and whether it is correct; of equal logits the first is the answer."""
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
