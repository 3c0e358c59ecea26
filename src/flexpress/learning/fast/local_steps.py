"""The local steps of a group of jobs: gather a mini-batch, forward, backward, and down."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flexpress.learning.batches import draw_batch
from flexpress.learning.fast.compiled import entry, part
from flexpress.learning.fast.convolution import forward_block, gather, spread_weights
from flexpress.learning.fast.convolution_backward import backward_block
from flexpress.learning.fast.layout import Net, Records
from flexpress.learning.fast.linear import backward_linear, forward_linear
from flexpress.learning.fast.pooling import at, put
from flexpress.learning.fast.workspace import Workspace

JOB = np.dtype(
    [("client", "i8"), ("model", "i8"), ("first_step", "i8"), ("num_steps", "i8")], align=True
)
"""A client's row of `shards`, and a row of `models`."""


class Samples(NamedTuple):
    """Images of all clients, where they lie, and how a net sees them."""

    images: NDArray[Any]  # (samples, channels, height, width)
    labels: NDArray[np.int32]
    scale: NDArray[np.float32]  # (channels,)
    shift: NDArray[np.float32]


@entry
def local_steps(
    jobs: Records,
    models: NDArray[np.float32],
    updates: NDArray[np.float32],
    samples: Samples,
    shards: NDArray[np.int32],
    seed: np.uint64,
    rate: np.float32,
    net: Net,
    work: Workspace,
) -> None:
    """updates[j] = the model that job j was handed, minus the model after its steps."""
    for j in range(jobs.size):
        job = jobs[j]
        model = models[job.model]
        take_model(net, work, model)
        for step in range(job.first_step, job.first_step + job.num_steps):
            draw_batch(seed, job.client, step, shards.shape[1], work.batch)
            for i in range(work.batch.size):
                work.batch[i] = shards[job.client, work.batch[i]]
            local_step(samples, net, work, rate)
        for i in range(model.size):
            updates[j, i] = at(model, i) - at(work.params, at(net.order, i))


@part
def take_model(net: Net, work: Workspace, model: NDArray[np.float32]) -> None:
    for i in range(work.params.size):
        put(work.params, i, np.float32(0))
    for i in range(model.size):
        put(work.params, at(net.order, i), at(model, i))
    for number in range(net.blocks.size):
        spread_weights(net.blocks[number], net, work)


@part
def local_step(samples: Samples, net: Net, work: Workspace, rate: np.float32) -> None:
    """One step of SGD on the samples of `work.batch`."""
    batch = work.batch.size
    forward(samples, work.batch, net, work)
    logit_slopes(samples, net, work)
    num_blocks, num_linears = net.blocks.size, net.linears.size
    for number in range(num_linears - 1, -1, -1):
        rectified, further = number < num_linears - 1, number + num_blocks > 0
        backward_linear(net.linears[number], work, batch, rate, rectified, further)
    for number in range(num_blocks - 1, -1, -1):
        backward_block(net.blocks[number], net, work, batch, rate, number > 0)


@part
def forward(samples: Samples, rows: NDArray[np.int64], net: Net, work: Workspace) -> None:
    """Up to the logits of these samples."""
    size = net.blocks[0].input_size if net.blocks.size > 0 else net.linears[0].input_size
    for i in range(rows.size):
        gather(
            samples.images,
            rows[i],
            samples.scale,
            samples.shift,
            net.padding,
            work.values,
            i * size,
        )
        for number in range(net.blocks.size):
            forward_block(net.blocks[number], net, work, i)
    for number in range(net.linears.size):
        forward_linear(net.linears[number], work, rows.size, number < net.linears.size - 1)


@part
def logit_slopes(samples: Samples, net: Net, work: Workspace) -> None:
    """Derivatives of the mean cross-entropy: (softmax - one-hot) / batch."""
    layer = net.linears[net.linears.size - 1]
    share = np.float32(1) / np.float32(work.batch.size)
    for sample in range(work.batch.size):
        start = layer.output + sample * layer.output_size
        largest = at(work.values, start)
        for k in range(1, layer.outputs):
            largest = max(largest, at(work.values, start + k))
        total = np.float32(0)
        for k in range(layer.outputs):
            power = np.float32(math.exp(at(work.values, start + k) - largest))
            put(work.slopes, start + k, power)
            total += power
        for k in range(layer.outputs):
            put(work.slopes, start + k, at(work.slopes, start + k) / total * share)
        label = start + samples.labels[work.batch[sample]]
        put(work.slopes, label, at(work.slopes, label) - share)
