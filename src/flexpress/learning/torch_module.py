"""The user's own torch module, made and tried out; and torch made deterministic."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from flexpress.errors import InputError
from flexpress.learning.architecture import MODELS
from flexpress.learning.user_code import call_function, import_function, user_code

_KEY = "learning.model"

_STREAM = 3
"""The random stream of torch, one of those that the scenario's seed gives."""


def own_module(name: str, seed: int) -> nn.Module:
    """The module that the user's "module:function" makes, initialised from the scenario's seed."""
    function = import_function(_KEY, name, MODELS)
    with deterministic_torch(seed, threads=1):
        module = call_function(_KEY, name, function)
    if not isinstance(module, nn.Module):
        kind = type(module).__name__
        raise InputError(f'{_KEY} = "{name}": {name}() returned {kind}: must be a torch.nn.Module')
    return module


def try_module(where: str, module: nn.Module, images: torch.Tensor, num_classes: int) -> None:
    """InputError if the module cannot do a training step on these images.

    The gradients are discarded. Transporters carry only parameters, so a module whose buffers
    change in training, such as the running means of batch norm, is refused.
    """
    labels = torch.from_numpy(np.arange(len(images)) % num_classes)
    with user_code(f"{where}: fails on images {tuple(images.shape)}:"):
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
                "use GroupNorm, or BatchNorm with track_running_stats=False"
            )
    if not any(each.requires_grad for each in module.parameters()):
        raise InputError(f"{where}: has no parameters to train: must have some")


def check_scores(where: str, scores: object, images: torch.Tensor, num_classes: int) -> None:
    expected = len(images), num_classes
    found = tuple(scores.shape) if isinstance(scores, torch.Tensor) else type(scores).__name__
    if found != expected:
        raise InputError(
            f"{where}: returns {found} for images {tuple(images.shape)}: must be {expected}, "
            "one score for each class"
        )


@contextmanager
def deterministic_torch(seed: int, threads: int) -> Iterator[None]:
    """Torch deterministic, seeded, and with this many threads; the old settings come back after."""
    settings = torch.utils.deterministic
    before = torch.get_num_threads(), settings.fill_uninitialized_memory
    strict = torch.are_deterministic_algorithms_enabled()
    lenient = torch.is_deterministic_algorithms_warn_only_enabled()
    with torch.random.fork_rng(devices=[]), torch.enable_grad():
        try:
            torch.set_num_threads(threads)
            settings.fill_uninitialized_memory = False  # slow, only for finding bugs in torch
            torch.use_deterministic_algorithms(True)
            seed_torch(seed)
            yield
        finally:
            torch.use_deterministic_algorithms(strict, warn_only=lenient)
            threads, settings.fill_uninitialized_memory = before
            torch.set_num_threads(threads)


def seed_torch(seed: int, *key: int) -> None:
    """Seed torch's CPU generator from the scenario's seed and the purpose of the draws."""
    words = np.random.SeedSequence(seed, spawn_key=(_STREAM, *key)).generate_state(1, np.uint64)
    torch.default_generator.manual_seed(int(words[0]))
