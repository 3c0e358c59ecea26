"""Which samples a client uses in a local step: a pure function of (seed, client, step).

The random numbers are Philox4x64-10 of Salmon et al., "Parallel Random Numbers: As Easy as 1, 2,
3", SC 2011: a counter goes in, four words come out, and there is no state to share or lose. The
samples are drawn by Floyd's algorithm: Bentley & Floyd, "A Sample of Brilliance", CACM 30(9), 1987.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from flexpress.arrays import IntArray

_Seed = int | np.uint64
_Words = tuple[np.uint64, np.uint64, np.uint64, np.uint64]

_STREAM = np.uint64(0x62617463686573)  # "batches"
"""The second word of the key: other draws from the same seed use another one."""

_MULTIPLIERS = np.uint64(0xD2E7470EE14C6C93), np.uint64(0xCA5A826395121157)
_KEY_STEPS = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBB67AE8584CAA73B)
_ROUNDS = 10

_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


def batches(
    seed: int, client: int, first_step: int, num_steps: int, num_samples: int, batch_size: int
) -> IntArray:
    """The mini-batches of `num_steps` local steps, as positions in the client's samples."""
    drawn = np.empty((num_steps, batch_size), dtype=np.int64)
    for i in range(num_steps):
        draw_batch(np.uint64(seed), client, first_step + i, num_samples, drawn[i])
    return drawn


@njit(cache=False, nogil=True)
def draw_batch(seed: _Seed, client: int, step: int, num_samples: int, batch: IntArray) -> None:
    """Fill `batch` with different positions in 0 .. num_samples - 1; all sets are equally likely.

    Their order, that of Floyd's algorithm, is not random. There must be at least as many samples
    as the batch has places.
    """
    words = _block(seed, client, step, 0)
    missing = num_samples - batch.size
    for i in range(batch.size):
        if i % 4 == 0 and i > 0:
            words = _block(seed, client, step, i // 4)
        last = missing + i
        position = np.int64(_high(words[i % 4], np.uint64(last + 1)))
        for other in batch[:i]:
            if other == position:
                position = np.int64(last)
                break
        batch[i] = position


@njit(cache=False, nogil=True)
def _block(seed: _Seed, client: int, step: int, number: int) -> _Words:
    """Four random words of a local step: Philox4x64-10 of the counter (number, step, client, 0)."""
    w, x, y, z = np.uint64(number), np.uint64(step), np.uint64(client), np.uint64(0)
    key, other_key = np.uint64(seed), _STREAM
    for _ in range(_ROUNDS):
        high_w, low_w = _high(_MULTIPLIERS[0], w), _MULTIPLIERS[0] * w
        high_y, low_y = _high(_MULTIPLIERS[1], y), _MULTIPLIERS[1] * y
        w, x, y, z = high_y ^ x ^ key, low_y, high_w ^ z ^ other_key, low_w
        key += _KEY_STEPS[0]
        other_key += _KEY_STEPS[1]
    return w, x, y, z


@njit(cache=False, nogil=True)
def _high(a: np.uint64, b: np.uint64) -> np.uint64:
    """The upper word of a * b, computed by halves, since Numba has no 128-bit integers.

    With a random word and n it is a random number below n; the bias, n / 2^64, is negligible.
    """
    a_high, a_low = a >> _HALF, a & _LOW
    b_high, b_low = b >> _HALF, b & _LOW
    middle = a_high * b_low + (a_low * b_low >> _HALF)
    return a_high * b_high + (middle >> _HALF) + (a_low * b_high + (middle & _LOW) >> _HALF)
