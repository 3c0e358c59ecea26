"""The linear programme over the tours known so far, in HiGHS."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from flexpress.arrays import FloatArray


def quiet_highs() -> Any:
    """A solver that prints nothing and works in this thread. highspy has no types."""
    import highspy

    model = highspy.Highs()  # type: ignore[no-untyped-call]
    model.setOptionValue("output_flag", False)
    model.setOptionValue("threads", 1)
    return model


class Master:
    """min sum of costs, every client visited at least once, at most so many tours of each kind.

    A client may also be left out at a high price, so that there is always a solution.
    """

    def __init__(
        self, num_clients: int, numbers: Sequence[int], price_of_leaving_out: float
    ) -> None:
        import highspy

        self._infinity = highspy.kHighsInf
        self._model = quiet_highs()
        self._num_clients = num_clients
        for _ in range(num_clients):
            self._model.addRow(1.0, self._infinity, 0, [], [])
        for number in numbers:
            self._model.addRow(-float(number), self._infinity, 0, [], [])
        for i in range(num_clients):
            self._model.addCol(price_of_leaving_out, 0.0, self._infinity, 1, [i], [1.0])

    def add(self, kind: int, cost: float, route: Sequence[int]) -> None:
        """A tour over these nodes, 1..N, perhaps some of them more than once."""
        clients, times = np.unique(np.asarray(route) - 1, return_counts=True)
        rows = np.append(clients, self._num_clients + kind).astype(np.int32)
        entries = np.append(times, -1).astype(np.float64)
        self._model.addCol(cost, 0.0, self._infinity, len(rows), rows, entries)

    def solve(self) -> tuple[float, FloatArray]:
        """The value, and the prizes of the clients: (nodes,), none for the server."""
        self._model.run()
        duals = np.array(self._model.getSolution().row_dual[: self._num_clients])
        return float(self._model.getInfo().objective_function_value), np.append(
            0.0, np.maximum(duals, 0.0)
        )
