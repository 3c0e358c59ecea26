"""A first assignment: clients by their direction from the server."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from flexpress.planning.problem import Problem


def by_direction(problem: Problem, turn: float) -> NDArray[np.intp]:
    """The nodes 1..N ordered by their direction from the server, starting at the angle `turn`."""
    offsets = problem.positions[1:] - problem.positions[0]
    directions = (np.arctan2(offsets[:, 1], offsets[:, 0]) + turn) % (2 * np.pi)
    return np.argsort(directions, kind="stable") + 1
