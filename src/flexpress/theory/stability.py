"""Up to which learning rate old updates do no harm, by a loss with one curvature for all clients.

The theorems do not tell this apart. Let f = (c/2) x^2. A tour of Delta steps brings the share
a = 1 - (1 - eta c)^Delta of the model that its clients had, which was the server's two tours ago.
FedEx-Sync is x_{r+1} = x_r - a x_{r-1}: stable for a < 1. K transporters that land evenly spread
over the tour make it x_{n+1} = x_n - (a/K) x_{n+1-2K}. Such a recursion, x_{n+1} = x_n - b x_{n-d},
is stable for b < 2 sin(pi / (4 d + 2)): with K = 4 for a < 0.84, with many for a < pi/4.
"""

from __future__ import annotations

import math

from flexpress.arguments import check_choice, check_kind, check_number
from flexpress.scenario import Algorithm
from flexpress.theory.tours import Tours


def stable_rate(algorithm: Algorithm, tours: Tours, smoothness: float) -> float:
    """The largest eta that is stable in the direction in which f curves most.

    Transporters whose tours are equally long land together, and are one.
    """
    check_choice("algorithm", algorithm, ("sync", "async"))
    check_kind("tours", tours, Tours, "take Tours.of(scenario, plan)")
    check_number("smoothness", smoothness, above=0)
    landings = 1 if algorithm == "sync" else len(set(tours.slots))
    length = math.sqrt(tours.mean_square)
    step = 1.0 if landings == 1 else 1 - math.pow(1 - stable_share(landings), 1 / length)
    return step / smoothness


def stable_share(landings: int) -> float:
    """a, for so many landings in the time of a tour."""
    return min(1.0, 2 * landings * math.sin(math.pi / (8 * landings - 2)))
