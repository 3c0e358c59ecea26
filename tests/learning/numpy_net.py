"""The nets of an Architecture in plain NumPy and float64: the oracle of the fast learner."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexpress.learning import Dataset, Task
from flexpress.learning.architecture import Architecture
from flexpress.learning.batches import batches

Array = NDArray[np.float64]


def seen(data: Dataset, images: NDArray[Any]) -> Array:
    """Images as the net sees them: in float32, that much is agreed."""
    scale, shift = (values[:, None, None] for values in (data.scale, data.shift))
    return (images.astype(np.float32) * scale + shift).astype(float)


def numpy_update(
    task: Task,
    architecture: Architecture,
    client: int,
    model: Any,
    first_step: int,
    num_steps: int,
    *,
    last_of_equals: bool = False,
) -> Array:
    """The start model minus the model after the steps; `client` is a row of the shards."""
    data, start = task.dataset, np.asarray(model, dtype=float)
    after = start.copy()
    size = (task.shards.shape[1], task.batch_size)
    for positions in batches(task.seed, client, first_step, num_steps, *size):
        rows = task.shards[client][positions]
        images = seen(data, data.train_images[rows])
        after -= task.learning_rate * gradient(
            architecture, after, images, data.train_labels[rows], last_of_equals
        )
    return np.asarray(start - after)


def numpy_metrics(task: Task, architecture: Architecture, model: Any) -> tuple[float, float]:
    data = task.dataset
    vector = np.asarray(model, dtype=float)
    logits, _ = forward(architecture, vector, seen(data, data.test_images))
    likely = log_softmax(logits)[np.arange(len(logits)), data.test_labels]
    return float(-likely.mean()), float((logits.argmax(axis=1) == data.test_labels).mean())


def numpy_logits(architecture: Architecture, model: Array, images: Array) -> Array:
    return forward(architecture, model, images)[0]


def layers(architecture: Architecture, model: Any) -> list[tuple[Any, Any]]:
    """Weights and biases of every layer: views of the flat vector."""
    found, at = [], 0
    for shape in architecture.weights():
        size = int(np.prod(shape))
        found.append((model[at : at + size].reshape(shape), model[at + size :][: shape[0]]))
        at += size + shape[0]
    return found


def windows(images: Array, kernel: int) -> Array:
    """What every output pixel sees: (samples, height, width, channels x kernel x kernel)."""
    seen_by = np.lib.stride_tricks.sliding_window_view(images, (kernel, kernel), axis=(2, 3))
    samples, _, height, width = seen_by.shape[:4]
    return seen_by.transpose(0, 2, 3, 1, 4, 5).reshape(samples, height, width, -1)


def forward(
    architecture: Architecture, model: Array, images: Array, last_of_equals: bool = False
) -> tuple[Array, list[Any]]:
    """The logits, and what the way back needs of every layer."""
    x: Array = images
    kept: list[Any] = []
    params = layers(architecture, model)
    for block, (weights, bias) in zip(architecture.convolutions, params, strict=False):
        pad = block.padding
        x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
        y = windows(x, block.kernel) @ weights.reshape(len(weights), -1).T + bias
        y = np.maximum(y, 0).transpose(0, 3, 1, 2)
        samples, channels, height, width = y.shape
        cut = y[:, :, : height // 2 * 2, : width // 2 * 2]
        cells = cut.reshape(samples, channels, height // 2, 2, width // 2, 2)
        cells = cells.transpose(0, 1, 2, 4, 3, 5).reshape(*cells.shape[:3], width // 2, 4)
        winner = cells.argmax(axis=-1)  # the first of equals
        if last_of_equals:
            winner = 3 - cells[..., ::-1].argmax(axis=-1)
        kept.append((x, y, winner))
        x = np.take_along_axis(cells, winner[..., None], axis=-1)[..., 0]
    x = x.reshape(len(x), -1)
    linears = params[len(architecture.convolutions) :]
    for number, (weights, bias) in enumerate(linears):
        kept.append(x)
        x = x @ weights.T + bias
        x = np.maximum(x, 0) if number < len(linears) - 1 else x
    return x, kept


def log_softmax(logits: Array) -> Array:
    shifted = logits - logits.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))


def gradient(
    architecture: Architecture,
    model: Array,
    images: Array,
    labels: NDArray[np.int32],
    last_of_equals: bool,
) -> Array:
    """The gradient of the mean cross-entropy, flat."""
    logits, kept = forward(architecture, model, images, last_of_equals)
    slope = np.exp(log_softmax(logits))
    slope[np.arange(len(labels)), labels] -= 1
    slope /= len(labels)
    parts: list[Array] = []
    params = layers(architecture, model)
    for number in range(len(params) - 1, len(architecture.convolutions) - 1, -1):
        x = kept[number]
        parts += [slope.sum(axis=0), (slope.T @ x).ravel()]
        slope = slope @ params[number][0]
        if number > len(architecture.convolutions):
            slope *= x > 0
    shape = (len(images), *architecture.shapes()[-1])
    slope = slope.reshape(shape)
    for number in range(len(architecture.convolutions) - 1, -1, -1):
        block, (x, y, winner) = architecture.convolutions[number], kept[number]
        through = unpool(slope, winner, y)
        parts.append(through.sum(axis=(0, 2, 3)))
        axes = ([0, 2, 3], [0, 1, 2])
        parts.append(np.tensordot(through, windows(x, block.kernel), axes).ravel())
        slope = spread_back(through, params[number][0], x.shape)
        pad = block.padding
        slope = slope[:, :, pad : x.shape[2] - pad, pad : x.shape[3] - pad]
    return np.concatenate(parts[::-1])


def unpool(slope: Array, winner: NDArray[np.int64], y: Array) -> Array:
    """Each slope goes to the pixel that won, if it is above 0."""
    through = np.zeros_like(y)
    s, c, h, w = np.indices(winner.shape)
    through[s, c, 2 * h + winner // 2, 2 * w + winner % 2] = slope
    return np.where(y > 0, through, 0.0)


def spread_back(through: Array, weights: Array, shape: tuple[int, ...]) -> Array:
    slope = np.zeros(shape)
    _, _, height, width = through.shape
    for k in range(weights.shape[2]):
        for m in range(weights.shape[3]):
            part = np.tensordot(through, weights[:, :, k, m], ([1], [0]))
            slope[:, :, k : k + height, m : m + width] += part.transpose(0, 3, 1, 2)
    return slope
