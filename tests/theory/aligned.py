"""The paper's aligned view of both algorithms, slot by slot, as its text has it.

"Aligning Client Training": clients of transporter k receive x^t at t = 0, Delta_k, 2 Delta_k, ..
at once, train for Delta_k slots, and their updates wait one more round before they are uploaded.
With a head start they begin at x^t less gamma times the update that begins to wait.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from flexpress.learning import Job, Learner

Models = NDArray[np.floating[Any]]


@dataclass(frozen=True, eq=False)
class Aligned:
    """At every slot t = 0 .. T, after what lands in t has been merged and handed out."""

    real: Models  # x^t: (slots + 1, parameters)
    virtual: Models  # v^t
    local: Models  # x_i^t: (slots + 1, clients, parameters)
    received: NDArray[np.int64]  # phi_i(t), -1 as long as there is nothing: (slots + 1, clients)
    restart: NDArray[np.int64]  # when client i was last handed a global model


def aligned(
    learner: Learner,
    groups: Sequence[Sequence[int | str]],
    periods: Sequence[int],
    num_slots: int,
    algorithm: Literal["sync", "async"],
    head_start: float = 0.0,
) -> Aligned:
    """`groups[k]` are the clients of transporter k, R_k; clients are in the order of all groups."""
    if algorithm == "sync":
        periods = [max(periods)] * len(periods)
    clients = [i for group in groups for i in group]
    members = [[clients.index(i) for i in group] for group in groups]
    num = len(clients)
    x = np.array(learner.initial_model(), dtype=np.float64)
    v = x.copy()
    local = np.tile(x, (num, 1))
    done = np.zeros_like(local)  # m_i: what client i has added up since it was handed a model
    waiting = np.zeros_like(local)  # what it had added up in the round before
    phi = np.full(num, -1)
    since = np.zeros(num, dtype=np.int64)
    history = []
    for t in range(num_slots + 1):
        landing = [k for k in range(len(groups)) if t > 0 and t % periods[k] == 0]
        for k in landing:
            for i in members[k]:
                x = x - waiting[i] / num
                waiting[i] = done[i]
                done[i] = 0.0
                phi[i] = t - periods[k] - 1
        for k in landing:
            for i in members[k]:
                local[i] = x - head_start * waiting[i]
                since[i] = t
        history.append((x, v, local.copy(), phi.copy(), since.copy()))
        jobs = [Job(i, model, t, 1) for i, model in zip(clients, local, strict=True)]
        steps = learner.train(jobs)  # eta g_i^t
        local = local - steps
        done = done + steps
        v = v - steps.mean(axis=0)
    return Aligned(*(np.stack(column) for column in zip(*history, strict=True)))
