"""All tours that a better plan could be made of, and the best plan made of them.

Given a proof, a tour whose cost - prizes exceeds the least one by more than the gap is in no plan
that closes it. What is left is often so little that HiGHS finds the optimum at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexpress.arrays import FloatArray
from flexpress.planning.bounds.column_generation import Fleet, Proof
from flexpress.planning.bounds.master import quiet_highs
from flexpress.planning.bounds.pricing import Ground, SetArray, enumerate_tours, tour_cost
from flexpress.planning.bounds.work import Work

MOST_CLIENTS = 64
"""A set of clients is one integer."""

MOST_PATHS = 2_000_000
MOST_TOURS = 150_000
"""More would keep HiGHS busy for too long."""

MOST_NODES = 5_000
"""Of the branch and bound."""

STEPS = 256
ROUNDING = 1e-9

SCALE = 1e3
"""Of the costs that HiGHS sees: it takes plans that differ by less than 1e-6 for equal."""


def best_plan_below(
    ground: Ground, fleet: Fleet, proof: Proof, ceiling: float, work: Work
) -> float | None:
    """A bound on the cost of plans below `ceiling`, in the fleet's unit; `ceiling` if none is.

    Costs below it were searched in full. None: there are too many tours, or too little time.
    """
    covers = fleet.free and keeps_triangles(ground.distances)
    columns: list[tuple[int, SetArray, FloatArray]] = []
    for kind, flyer in enumerate(fleet.flyers):
        below = (ceiling - proof.bound + proof.lows[kind] + ROUNDING) * fleet.unit
        prizes = proof.prizes * fleet.unit
        sets, lengths, complete = enumerate_tours(ground, flyer, prizes, STEPS, below, MOST_PATHS)
        work.add(len(sets))
        if not complete or len(sets) > MOST_TOURS or work.over():
            return None
        columns.append((kind, *(largest_sets(sets, lengths) if covers else (sets, lengths))))
    model = _model(len(ground.distances) - 1, fleet, columns, covers)
    return _solve(model, fleet, ceiling, work)


def keeps_triangles(distances: FloatArray) -> bool:
    """Whether no detour is shorter: then a client may be left out of any tour."""
    through = (distances[:, k : k + 1] + distances[k] for k in range(len(distances)))
    return all((distances <= way * (1 + ROUNDING)).all() for way in through)


def largest_sets(sets: SetArray, lengths: FloatArray) -> tuple[SetArray, FloatArray]:
    """Those that are no subset of another with one client more.

    Where tours are free and clients may be left out of them, every client may as well be visited
    more than once: the others add nothing.
    """
    order = np.argsort(sets)
    sets, lengths = sets[order], lengths[order]
    keep = np.ones(len(sets), bool)
    for i in range(MOST_CLIENTS if len(sets) else 0):
        bit = np.uint64(1) << np.uint64(i)
        smaller = sets[sets & bit != 0] ^ bit
        places = np.searchsorted(sets, smaller)
        keep[places[sets[places] == smaller]] = False
    return sets[keep], lengths[keep]


def _model(
    num_clients: int, fleet: Fleet, columns: list[tuple[int, SetArray, FloatArray]], covers: bool
) -> Any:
    """Choose tours, every client once, or at least once if they are to cover all clients."""
    import highspy

    model = quiet_highs()
    for _ in range(num_clients):
        model.addRow(1.0, highspy.kHighsInf if covers else 1.0, 0, [], [])
    for number in fleet.numbers:
        model.addRow(0.0, float(number), 0, [], [])
    for kind, sets, lengths in columns:
        _add(model, num_clients, fleet, kind, sets, lengths)
    total = sum(len(sets) for _, sets, _ in columns)
    whole = [highspy.HighsVarType.kInteger] * total
    model.changeColsIntegrality(total, np.arange(total, dtype=np.int32), np.array(whole))
    return model


def _solve(model: Any, fleet: Fleet, ceiling: float, work: Work) -> float | None:
    """By branch and bound."""
    import highspy

    model.setOptionValue("presolve", "off")  # finds nothing here, and takes longer than the rest
    model.setOptionValue("mip_rel_gap", 0.0)
    model.setOptionValue("mip_abs_gap", 0.0)
    model.setOptionValue("mip_max_nodes", MOST_NODES)
    if work.seconds is not None:
        model.setOptionValue("time_limit", max(work.seconds * (1 - work.fraction), 0.1))
    _let_stop(model, work)
    model.run()
    status = model.getModelStatus()
    if status == highspy.HighsModelStatus.kInfeasible:
        return ceiling
    bound = float(model.getInfo().mip_dual_bound)
    tolerance = 1e-6 + 1e-7 * sum(fleet.numbers)  # between plans, and of a tour's reduced cost
    return min((bound - tolerance) / SCALE, ceiling) if np.isfinite(bound) else None


def _let_stop(model: Any, work: Work) -> None:
    """HiGHS asks between nodes whether to go on."""
    import highspy

    def interrupt(kind: int, message: str, told: Any, answer: Any, data: object) -> None:
        answer.user_interrupt = work.should_stop()

    model.setCallback(interrupt, None)
    model.startCallback(highspy.cb.HighsCallbackType.kCallbackMipInterrupt)


def _add(
    model: Any,
    num_clients: int,
    fleet: Fleet,
    kind: int,
    sets: SetArray,
    lengths: FloatArray,
) -> None:
    """The tours of one kind as columns."""
    bits = np.arange(num_clients, dtype=np.uint64)
    members = (sets[:, None] >> bits & np.uint64(1)).astype(bool)  # (tours, clients)
    counts = members.sum(axis=1)
    flyer = fleet.flyers[kind]
    pairs = zip(counts.tolist(), lengths.tolist(), strict=True)
    costs = np.array([tour_cost(flyer, count, length) for count, length in pairs])
    costs *= SCALE / fleet.unit
    own = np.full((len(sets), 1), num_clients + kind, dtype=np.int32)
    with_kind = np.hstack([members, np.ones((len(sets), 1), bool)])
    rows = np.hstack([np.broadcast_to(bits.astype(np.int32), members.shape), own])[with_kind]
    starts = np.concatenate([[0], np.cumsum(counts + 1)[:-1]]).astype(np.int32)
    ones: NDArray[np.float64] = np.ones(len(rows))
    if len(sets):
        model.addCols(
            len(sets), costs, 0 * costs, np.ones(len(sets)), len(rows), starts, rows, ones
        )
