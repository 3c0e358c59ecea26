"""The compiled code of the bounds, read or made before any clock runs."""

from __future__ import annotations

import numpy as np

from flexpress.compiled import announced
from flexpress.planning.bounds.column_generation import room_for
from flexpress.planning.bounds.one_tree import least_length
from flexpress.planning.bounds.pricing import FREE, enumerate_tours, price
from flexpress.planning.bounds.pricing_data import ground_of, kinds_of, make_flyer
from flexpress.planning.problem import Problem
from flexpress.planning.progress import OnProgress, ignore_progress, telling


def load(on_progress: OnProgress = ignore_progress) -> None:
    """Have everything at hand; tells the user if it must be compiled."""
    one, prizes = np.ones(1), np.zeros(2)
    smallest = Problem(np.array([[0.0, 0.0], [1.0, 0.0]]), one, one, one, one, np.inf * one)
    ground = ground_of(smallest, memory=1)
    flyer = make_flyer(kinds_of(smallest)[0], FREE, np.full(2, np.inf), ground.distances)
    with announced(telling(on_progress), "the proofs, once (about 25 s)"):
        least_length(smallest)
        price(ground, flyer, prizes, room_for(1), 0, 4, 0.0, 1)
        enumerate_tours(ground, flyer, prizes, 4, 0.0, 1)
