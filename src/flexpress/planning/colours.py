"""The colour of every transporter: the same on maps, in exports and in all pictures of a plan.

The colours can be distinguished with any kind of colour vision.
"""

from __future__ import annotations

import numpy as np

from flexpress.planning.plan import Plan
from flexpress.scenario import Scenario

# Okabe and Ito's set without black, and without yellow, which is lost on white paper.
OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
# From Paul Tol's "muted" set: darker than those above.
_TOL = ("#882255", "#332288", "#999933")
COLOURS = OKABE_ITO + _TOL

NO_FLY = "#a5483c"
"""The colour of no-fly zones; pictures on paper use tints of it."""


def tour_colours(scenario: Scenario, plan: Plan) -> list[str]:
    """One per transporter, in their order. Tours that share a colour are not neighbours."""
    order = list(range(len(plan.transporters)))
    if len(order) > len(COLOURS):
        order = _by_direction(scenario, plan)
    rank = {k: place for place, k in enumerate(order)}
    return [COLOURS[rank[k] % len(COLOURS)] for k in range(len(order))]


def _by_direction(scenario: Scenario, plan: Plan) -> list[int]:
    """The transporters by the direction of their clients from the server."""
    server = scenario.positions[0]
    tours = plan.nodes(scenario)

    def direction(k: int) -> float:
        x, y = scenario.positions[tours[k] or [0]].mean(axis=0) - server
        return float(np.arctan2(y, x))

    return sorted(range(len(tours)), key=direction)
