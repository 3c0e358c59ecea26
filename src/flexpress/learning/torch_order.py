"""Torch made to do the same each time, for a while."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch

STREAM = 3
"""Of the random numbers that the scenario's seed gives."""


@contextmanager
def torch_in_order(seed: int, threads: int) -> Iterator[None]:
    """Within the block: deterministic, seeded, with so many threads. Then it is as it was."""
    settings = torch.utils.deterministic
    before = torch.get_num_threads(), settings.fill_uninitialized_memory
    strict = torch.are_deterministic_algorithms_enabled()
    lenient = torch.is_deterministic_algorithms_warn_only_enabled()
    with torch.random.fork_rng(devices=[]), torch.enable_grad():
        try:
            torch.set_num_threads(threads)
            settings.fill_uninitialized_memory = False  # it would find bugs in torch, at a price
            torch.use_deterministic_algorithms(True)
            seed_torch(seed)
            yield
        finally:
            torch.use_deterministic_algorithms(strict, warn_only=lenient)
            threads, settings.fill_uninitialized_memory = before
            torch.set_num_threads(threads)


def seed_torch(seed: int, *key: int) -> None:
    """Torch's generator of the CPU, from the scenario's seed and what the draws are for."""
    words = np.random.SeedSequence(seed, spawn_key=(STREAM, *key)).generate_state(1, np.uint64)
    torch.default_generator.manual_seed(int(words[0]))
