"""Machine code of the bounds, made once and kept on the disk."""

from __future__ import annotations

import numpy as np
from numba.core.event import install_listener

from flexpress.planning.bounds.column_generation import room_for
from flexpress.planning.bounds.ground import ground_of, kinds_of, make_flyer
from flexpress.planning.bounds.one_tree import least_length
from flexpress.planning.bounds.routes import FREE, enumerate_tours, price
from flexpress.planning.problem import Problem
from flexpress.planning.progress import OnProgress, Progress, ignore_progress
from flexpress.planning.search.compilation import CompilationNotice


def load(on_progress: OnProgress = ignore_progress, *, with_tours: bool = True) -> None:
    """Have the compiled code at hand, so that no clock runs while it is read or made.

    What tours prove needs HiGHS too: without it, leave out their code.
    """

    def tell() -> None:
        on_progress(Progress(0.0, None, "compiling the bounds, once: about 15 s"))

    one, prizes = np.ones(1), np.zeros(2)
    smallest = Problem(np.array([[0.0, 0.0], [1.0, 0.0]]), one, one, one, one, one)
    ground = ground_of(smallest, 1)
    flyer = make_flyer(kinds_of(smallest)[0], FREE, np.ones(2), ground.distances)
    with install_listener("numba:compile", CompilationNotice(tell)):
        least_length(smallest)
        if with_tours:
            price(ground, flyer, prizes, room_for(1), 0, 2, 0.0, 1)
            enumerate_tours(ground, flyer, prizes, 2, 0.0, 1)
