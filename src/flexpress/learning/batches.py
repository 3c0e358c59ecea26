"""Which samples a client takes in a local step: a pure function of (seed, client, step).

The random numbers are Philox4x64-10 of Salmon et al., "Parallel Random Numbers: As Easy as 1, 2,
3", SC 2011: a counter goes in, four words come out, and there is no state that engines could share
or lose. The samples are Floyd's: Bentley & Floyd, "A Sample of Brilliance", CACM 30(9), 1987.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Batch = NDArray[np.int64]
Seed = int | np.uint64
Words = tuple[np.uint64, np.uint64, np.uint64, np.uint64]

STREAM = np.uint64(0x62617463686573)  # "batches"
"""The second word of the key: other draws from the same seed take another one."""

MULTIPLIERS = np.uint64(0xD2E7470EE14C6C93), np.uint64(0xCA5A826395121157)
KEY_STEPS = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBB67AE8584CAA73B)
ROUNDS = 10

HALF = np.uint64(32)
LOW = np.uint64(0xFFFFFFFF)


def batches(
    seed: int, client: int, first_step: int, num_steps: int, num_samples: int, batch_size: int
) -> Batch:
    """The mini-batches of some steps, as positions in the client's own samples."""
    drawn = np.empty((num_steps, batch_size), dtype=np.int64)
    for i in range(num_steps):
        draw_batch(np.uint64(seed), client, first_step + i, num_samples, drawn[i])
    return drawn


@njit(cache=False, nogil=True)
def draw_batch(seed: Seed, client: int, step: int, num_samples: int, batch: Batch) -> None:
    """Fill `batch` with different positions in 0 .. num_samples - 1; all such sets are as likely.

    Their order is that of Floyd's algorithm, which favours none of the sets, but is not random.
    The caller sees to it that there are at least as many samples as the batch takes.
    """
    words = block(seed, client, step, 0)
    missing = num_samples - batch.size
    for i in range(batch.size):
        if i % 4 == 0 and i > 0:
            words = block(seed, client, step, i // 4)
        last = missing + i
        position = np.int64(high(words[i % 4], np.uint64(last + 1)))
        for other in batch[:i]:
            if other == position:
                position = np.int64(last)
                break
        batch[i] = position


@njit(cache=False, nogil=True)
def block(seed: Seed, client: int, step: int, number: int) -> Words:
    """Four random words of this step: Philox4x64-10 of the counter (number, step, client, 0)."""
    w, x, y, z = np.uint64(number), np.uint64(step), np.uint64(client), np.uint64(0)
    key, other_key = np.uint64(seed), STREAM
    for _ in range(ROUNDS):
        high_w, low_w = high(MULTIPLIERS[0], w), MULTIPLIERS[0] * w
        high_y, low_y = high(MULTIPLIERS[1], y), MULTIPLIERS[1] * y
        w, x, y, z = high_y ^ x ^ key, low_y, high_w ^ z ^ other_key, low_w
        key += KEY_STEPS[0]
        other_key += KEY_STEPS[1]
    return w, x, y, z


@njit(cache=False, nogil=True)
def high(a: np.uint64, b: np.uint64) -> np.uint64:
    """The upper word of a * b, by halves: Numba has no numbers of 128 bits.

    Of a random word and n it is a number below n; the bias, n / 2^64, cannot be measured.
    """
    a_high, a_low = a >> HALF, a & LOW
    b_high, b_low = b >> HALF, b & LOW
    middle = a_high * b_low + (a_low * b_low >> HALF)
    return a_high * b_high + (middle >> HALF) + (a_low * b_high + (middle & LOW) >> HALF)
