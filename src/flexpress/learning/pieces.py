"""Work cut into pieces for threads or workers: neighbours together, of about equal weight."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from numpy.typing import NDArray

_LARGEST_PIECE = 200
"""Local steps, or blocks of test samples, in one call, which cannot be interrupted."""

_PIECES_PER_WORKER = 4
"""At least, if there is enough work, so that all workers finish at about the same time."""


def pieces(
    weights: Sequence[int] | NDArray[Any], num_workers: int, most: int | None = None
) -> list[slice]:
    """Slices of the items that have these weights, each of at most `most` items."""
    size = min(_LARGEST_PIECE, sum(weights) / (_PIECES_PER_WORKER * num_workers))
    cuts, weight = [0], 0
    for end, its_weight in enumerate(weights, start=1):
        weight += its_weight
        if weight >= size or end - cuts[-1] == most or end == len(weights):
            cuts.append(end)
            weight = 0
    return [slice(first, last) for first, last in pairwise(cuts)]
