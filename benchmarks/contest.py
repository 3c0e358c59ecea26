"""A contest: contestants in processes of their own, all alive at once, take turns at the same work.

Starting them is not timed. Each first does one round untimed, and its model must be that of the
others: there is no contest between those who compute different things.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from player import Player, Turn
from turns import Order
from workload import Model, Workload

TURN = 1.5
"""Seconds that a turn takes at least."""

LARGEST_DIFFERENCE = 1e-4
"""Between parameters of two contestants after one round, in which they move by 0.01 or more."""

Entry = tuple[str, bool]
"""A contestant's name, and whether its images are channels last."""


def contest(workload: Workload, players: Sequence[Player], repeats: int) -> dict[Entry, list[Turn]]:
    """The turns of all that stay to the end: each takes one, then each takes the next."""
    entries = [(player, order) for player in players for order in player.contestant.orders]
    turns: dict[Entry, list[Turn]] = {}
    with tempfile.TemporaryDirectory() as folder:
        workload.save(Path(folder))
        check_models(first_models(entries, folder))
        rounds = [enough(player.turn(Order(folder, order, 1))) for player, order in entries]
        for _ in range(repeats):
            for (player, order), num_rounds in zip(entries, rounds, strict=True):
                turn = player.turn(Order(folder, order, num_rounds))
                if turn is not None:
                    turns.setdefault((player.contestant.name, order), []).append(turn)
    lost = {player.contestant.name for player in players if player.lost is not None}
    return {entry: found for entry, found in turns.items() if entry[0] not in lost}


def enough(turn: Turn | None) -> int:
    """Rounds that fill a turn."""
    return 0 if turn is None else math.ceil(TURN / turn.wall)


def first_models(
    entries: Sequence[tuple[Player, bool]], folder: str
) -> Iterator[tuple[str, Model]]:
    """Of each, after one round."""
    path = Path(folder) / "saved"
    for player, order in entries:
        if player.turn(Order(folder, order, 1, str(path))) is not None:
            yield player.contestant.name, np.fromfile(path, dtype=np.float32)


def check_models(models: Iterator[tuple[str, Model]]) -> None:
    _, expected = next(models)
    for name, model in models:
        difference = float(np.abs(model - expected).max())
        if not difference < LARGEST_DIFFERENCE:
            raise RuntimeError(f"{name} computes another model: they differ by {difference:g}")
