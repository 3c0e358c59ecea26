"""The colour of every transporter: the same on maps, in exports, in all pictures of a plan.

People with any colour vision can tell them apart.
"""

from __future__ import annotations

import numpy as np

from flexpress.planning.plan import Plan
from flexpress.scenario import Scenario

# Okabe and Ito's set without black, and without yellow, which is lost on white paper.
OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
# From Paul Tol's "muted" set: darker than those above.
TOL = ("#882255", "#332288", "#999933")
COLOURS = OKABE_ITO + TOL

NO_FLY = "#a5483c"
"""Of zones; pictures on paper use tints of it."""


def tour_colours(scenario: Scenario, plan: Plan) -> list[str]:
    """One per transporter, in their order; if they must come again, then not side by side."""
    order = list(range(len(plan.transporters)))
    if len(order) > len(COLOURS):
        order = _by_direction(scenario, plan)
    rank = {k: place for place, k in enumerate(order)}
    return [COLOURS[rank[k] % len(COLOURS)] for k in range(len(order))]


def _by_direction(scenario: Scenario, plan: Plan) -> list[int]:
    """The transporters by the direction in which they fly, as seen from the server."""
    node_of = {client: node for node, client in enumerate(scenario.client_ids, start=1)}
    server = scenario.positions[0]

    def direction(k: int) -> float:
        nodes = [node_of[client] for client in plan.transporters[k].clients] or [0]
        x, y = scenario.positions[nodes].mean(axis=0) - server
        return float(np.arctan2(y, x))

    return sorted(range(len(plan.transporters)), key=direction)
