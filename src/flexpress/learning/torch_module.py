"""The user's own torch module: made, and tried before anything depends on it."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from flexpress.errors import InputError
from flexpress.learning.architecture import MODELS
from flexpress.learning.named import call_named, import_named, own_code
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


def try_module(where: str, module: nn.Module, images: torch.Tensor, num_classes: int) -> None:
    """InputError if anything goes wrong when the module takes a step from these images.

    The gradients are not kept. Only parameters are carried to clients, so a module whose buffers
    change while it trains, such as the running means of batch norm, would learn something else.
    """
    labels = torch.from_numpy(np.arange(len(images)) % num_classes)
    with own_code(f"{where}: fails on images {tuple(images.shape)}:"):
        before = {key: buffer.clone() for key, buffer in module.named_buffers()}
        scores = module.train()(images)
        check_scores(where, scores, images, num_classes)
        cross_entropy(scores, labels).backward()
        module.zero_grad(set_to_none=True)
        after = dict(module.named_buffers())
    for key, buffer in after.items():
        if key not in before or not torch.equal(buffer, before[key]):
            raise InputError(
                f"{where}: its buffer {key} changes in training, but only parameters are carried; "
                "take GroupNorm, or BatchNorm with track_running_stats=False"
            )
    if not any(each.requires_grad for each in module.parameters()):
        raise InputError(f"{where}: has no parameters to train: must have some")


def check_scores(where: str, scores: object, images: torch.Tensor, num_classes: int) -> None:
    expected = len(images), num_classes
    found = tuple(scores.shape) if isinstance(scores, torch.Tensor) else type(scores).__name__
    if found != expected:
        raise InputError(
            f"{where}: makes {found} of images {tuple(images.shape)}: must be {expected}, "
            "one score for each class"
        )
