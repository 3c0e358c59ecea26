"""The user's own torch module: made, and tried before anything depends on it."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from flexpress.errors import InputError
from flexpress.learning.architecture import MODELS
from flexpress.learning.named import call_named, import_named, in_one_line
from flexpress.learning.torch_order import torch_in_order

KEY = "learning.model"


def own_module(name: str, seed: int) -> nn.Module:
    """What the user's "module:function" makes; its random numbers come from the scenario's seed."""
    function = import_named(KEY, name, MODELS)
    with torch_in_order(seed, threads=1):
        module = call_named(KEY, name, function)
    if not isinstance(module, nn.Module):
        kind = type(module).__name__
        raise InputError(f'{KEY} = "{name}": {name}() returned {kind}: must be a torch.nn.Module')
    return module


def try_module(module: nn.Module, images: torch.Tensor, num_classes: int) -> str | None:
    """What goes wrong when the module takes a step from these images; None if nothing does.

    The gradients are not kept. Only parameters are carried to clients, so a module whose buffers
    change while it trains, such as the running means of batch norm, would learn something else.
    """
    before = {key: buffer.clone() for key, buffer in module.named_buffers()}
    labels = torch.from_numpy(np.arange(len(images)) % num_classes)
    try:
        scores = module.train()(images)
        if tuple(scores.shape) != (len(images), num_classes):
            return (
                f"makes {tuple(scores.shape)} of images {tuple(images.shape)}: "
                f"must be {(len(images), num_classes)}, one score for each class"
            )
        cross_entropy(scores, labels).backward()
    except Exception as error:  # the user's module may raise anything
        return f"fails on images {tuple(images.shape)}: {in_one_line(error)}"
    module.zero_grad(set_to_none=True)
    for key, buffer in module.named_buffers():
        if key not in before or not torch.equal(buffer, before[key]):
            return (
                f"its buffer {key} changes in training, but only parameters are carried; take "
                "GroupNorm, or BatchNorm with track_running_stats=False"
            )
    return None
