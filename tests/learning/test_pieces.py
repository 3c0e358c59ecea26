"""How work is cut into pieces: all items in order, of about equal weight."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from flexpress.learning.pieces import _LARGEST_PIECE, pieces


def test_pieces_are_whole_and_even() -> None:
    rng = np.random.default_rng(0)
    for threads in (1, 2, 7):
        for count in (0, 1, 5, 300):
            weights = rng.integers(0, 9, count)
            parts = pieces(weights, threads)
            assert [i for part in parts for i in range(part.start, part.stop)] == [*range(count)]
            assert all(weights[part].sum() <= _LARGEST_PIECE + 9 for part in parts)
            assert count < 300 or len(parts) >= 3 * threads


@given(st.lists(st.integers(1, 450), max_size=40), st.integers(1, 9), st.integers(1, 9))
def test_pieces_of_few_items(steps: list[int], num_workers: int, most: int) -> None:
    found = pieces(steps, num_workers, most)
    assert [i for piece in found for i in range(piece.start, piece.stop)] == [*range(len(steps))]
    assert all(1 <= piece.stop - piece.start <= most for piece in found)
    for piece in found:
        assert sum(steps[piece]) < _LARGEST_PIECE + max(steps)


def test_there_are_pieces_for_all_workers() -> None:
    """Forty shards of 8 clients with 8 steps each, and three workers."""
    found = pieces([64] * 40, 3, 100)
    assert len(found) >= 9
    assert {piece.stop - piece.start for piece in found} == {4}
