"""The arrays of the compiled code, its randomness, and how its functions are compiled.

Every tour is a ring of linked nodes, so that removing and inserting clients costs the same in a
tour of ten and in one of ten thousand. Nodes 0..N-1 are the clients, node N + k is the
server at the ends of tour k. A tour is not bound to a transporter: `owner` says who flies it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

MINMAX, SWS, TOTAL = 0, 1, 2

NODE = np.dtype(
    [
        ("x", "f8"),
        ("y", "f8"),
        ("leg", "f8"),  # distance to the next node
        ("next", "i8"),
        ("prev", "i8"),
        ("tour", "i8"),  # -1 while the client is taken out
        ("place", "i8"),  # in the tour's path, while polishing
        ("best_next", "i8"),
    ],
    align=True,
)
TOUR = np.dtype(
    [
        ("time_per_metre", "f8"),
        ("time_per_client", "f8"),
        ("energy_per_metre", "f8"),
        ("energy_per_client", "f8"),
        ("budgets", "f8"),
        ("length", "f8"),
        ("cost", "f8"),
        ("old_length", "f8"),
        ("old_cost", "f8"),
        ("count", "i8"),
        ("owner", "i8"),
        ("best_owner", "i8"),
        ("ruined", "i8"),
        ("detour", "f8"),  # of the best place offered to a client
        ("after", "i8"),  # which is behind this node
        ("asked", "i8"),  # the number of the client it was offered to
    ],
    align=True,
)
REMOVAL = np.dtype(
    [("client", "i8"), ("before", "i8"), ("inserted", "i8"), ("key", "f8")], align=True
)
SEARCH = np.dtype(
    [
        ("random", "u8"),
        ("best_cost", "f8"),
        ("best_seconds", "f8"),  # if the cost counts slots: the same in seconds
        ("asked", "i8"),
        ("plane", "i8"),  # whether distances are those of straight lines
    ],
    align=True,
)

Records = Any
"""A structured array. NumPy's types do not know its fields."""

index: Any = np.int64
"""For literals and 32-bit integers as arguments: to Numba these are different types, and it
compiles a function once more for every type of an argument."""

FLAGS: dict[str, Any] = {"error_model": "numpy"}
_INTERNAL: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
part = njit(**FLAGS, **_INTERNAL)
"""For functions that only compiled code calls: without wrappers for Python they compile faster."""


class Weights(NamedTuple):
    """How the search weighs tours."""

    objective: int
    penalty: float  # seconds per joule over budget
    step: float  # joules added to any overdraft, or a tiny one would pay
    per_time_unit: float  # minmax: 1 / the seconds that count as 1
    doublings: int  # minmax: the power is 2^doublings
    slot: float  # seconds, if the objective counts slots, else 0
    steps: float  # then the weight of slots beside seconds


_LUCK = -np.log((np.arange(4096) + 0.5) / 4096)
"""Quantiles of an exponential variate, so that Metropolis' rule needs no logarithm."""


@part
def random_bits(search: Records) -> np.uint64:
    x = search[0].random
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    search[0].random = x
    return x * np.uint64(2685821657736338717)


@part
def random_below(search: Records, limit: int) -> int:
    bits = random_bits(search) >> np.uint64(32)
    return index((bits * np.uint64(limit)) >> np.uint64(32))


@part
def random_unit(search: Records) -> float:
    return float(random_bits(search) >> np.uint64(11)) / 9007199254740992.0


@part
def accepts(search: Records, rise: float, temperature: float) -> bool:
    """Metropolis' rule: yes if the cost falls, else with probability exp(-rise / temperature)."""
    return rise < temperature * _LUCK[random_bits(search) >> np.uint64(52)]
