"""The local steps of a group of jobs: gather a mini-batch, forward, backward, and down."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexpress.learning.batches import draw_batch
from flexpress.learning.fast.compiled import entry, inlined
from flexpress.learning.fast.convolution import forward_block
from flexpress.learning.fast.convolution_backward import backward_block
from flexpress.learning.fast.gather import Samples, fetch_image, gather
from flexpress.learning.fast.layout import Net, Records
from flexpress.learning.fast.linear import backward_linear, forward_linear
from flexpress.learning.fast.memory import at, put
from flexpress.learning.fast.winograd import spread_weights
from flexpress.learning.fast.workspace import Workspace, pointers

JOB = np.dtype(
    [("client", "i8"), ("model", "i8"), ("first_step", "i8"), ("num_steps", "i8")], align=True
)
"""A client's row of `shards`, and a row of `models`."""


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
    arrays: Workspace,
    batch: NDArray[np.int64],
) -> None:
    """updates[j] = the model that job j was handed, minus the model after its steps."""
    work = pointers(arrays)
    for j in range(jobs.size):
        job = jobs[j]
        model = models[job.model]
        take_model(net, work, arrays.params.size, model)
        for step in range(job.first_step, job.first_step + job.num_steps):
            draw_batch(seed, job.client, step, shards.shape[1], batch)
            for i in range(batch.size):
                batch[i] = shards[job.client, batch[i]]
            local_step(samples, batch, net, work, rate)
        for i in range(model.size):
            updates[j, i] = model[i] - at(work.params, net.order[i])


@inlined
def take_model(net: Net, work: Workspace, num_params: int, model: NDArray[np.float32]) -> None:
    for i in range(num_params):
        put(work.params, i, np.float32(0))
    for i in range(model.size):
        put(work.params, net.order[i], model[i])
    for number in range(net.blocks.size):
        spread_weights(net.blocks[number], work)


@inlined
def local_step(
    samples: Samples, batch: NDArray[np.int64], net: Net, work: Workspace, rate: np.float32
) -> None:
    """One step of SGD on these samples."""
    forward(samples, batch, net, work)
    num_blocks, num_linears = net.blocks.size, net.linears.size
    logit_slopes(samples.labels, batch, net.linears[num_linears - 1], work)
    for number in range(num_linears - 1, -1, -1):
        rectified, further = number < num_linears - 1, number + num_blocks > 0
        backward_linear(net.linears[number], work, batch.size, rate, rectified, further)
    for number in range(num_blocks - 1, -1, -1):
        backward_block(net.blocks[number], work, batch.size, rate, number > 0)


@inlined
def forward(samples: Samples, batch: NDArray[np.int64], net: Net, work: Workspace) -> None:
    """Up to the logits of these samples."""
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
def logit_slopes(labels: Any, batch: NDArray[np.int64], layer: Records, work: Workspace) -> None:
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
