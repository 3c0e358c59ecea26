"""Work that is shared out among threads, in pieces."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

from numpy.typing import NDArray

LARGEST_PIECE = 200
"""Local steps, or blocks of test samples, in one call: compiled code cannot be interrupted."""

PIECES_PER_THREAD = 4
"""At least, if there is enough to do: so that threads end at about the same time."""


def share(work: Callable[[slice], None], weights: NDArray[Any], threads: int) -> None:
    """Have all items worked on, pieces of neighbours at a time; threads live in this call only."""
    parts = pieces(weights, threads)
    threads = min(threads, len(parts))
    if threads <= 1:
        for part in parts:
            work(part)
        return
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(work, parts):
            pass  # an exception of a thread comes out here, and the pieces not begun are dropped


def pieces(weights: NDArray[Any], threads: int) -> list[slice]:
    """Neighbours of about equal weight together."""
    size = min(LARGEST_PIECE, weights.sum() / (PIECES_PER_THREAD * threads))
    cuts, weight = [0], 0
    for i in range(len(weights)):
        weight += weights[i]
        if weight >= size or i == len(weights) - 1:
            cuts.append(i + 1)
            weight = 0
    return [slice(first, last) for first, last in pairwise(cuts)]
