"""All tours that a better plan could consist of, in Numba, and the best plan made of them.

Given a proof, a tour whose cost - prizes exceeds the least one by more than the gap is in no plan
that closes the gap. Often so few tours are left that HiGHS finds the optimum at once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from flexpress.arrays import FloatArray
from flexpress.planning.bounds.column_generation import PricedFleet, Proof, quiet_highs
from flexpress.planning.bounds.completions import completion_values, most_prizes, tour_cost
from flexpress.planning.bounds.effort import ProofEffort
from flexpress.planning.bounds.pricing_data import PricingData, PricingTask

_SetArray = NDArray[np.uint64]
"""Sets of clients: integers whose bit i - 1 stands for client i."""

MOST_CLIENTS = 64
"""The bits of such an integer."""

_MOST_PATHS = 2_000_000
_MOST_TOURS = 150_000
"""HiGHS would take too long for more."""

_MOST_NODES = 5_000
"""Limit of the branch and bound."""

_STEPS = 256
_ROUNDING = 1e-9

_SCALE = 1e3
"""Factor on the costs for HiGHS, which treats plans that differ by less than 1e-6 as equal."""


class _Paths(NamedTuple):
    """Memory for paths from the server that visit no client twice."""

    clients: _SetArray
    last: NDArray[np.int16]
    length: FloatArray
    prize: FloatArray


def best_plan_below(
    data: PricingData, fleet: PricedFleet, proof: Proof, ceiling: float, effort: ProofEffort
) -> float | None:
    """A lower bound of the plans that cost less than `ceiling`; `ceiling` if there are none.

    In the fleet's unit. None if there are too many tours or too little time.
    """
    covers = fleet.free and _keeps_triangles(data.distances)
    columns: list[tuple[int, _SetArray, FloatArray]] = []
    for kind, rules in enumerate(fleet.rules):
        below = (ceiling - proof.bound + proof.lows[kind] + _ROUNDING) * fleet.unit
        task = PricingTask(data, rules, proof.prizes * fleet.unit, below)
        sets, lengths, complete = enumerate_tours(task, _STEPS, _MOST_PATHS)
        effort.add(len(sets))
        if not complete or len(sets) > _MOST_TOURS or effort.over():
            return None
        columns.append((kind, *(_largest_sets(sets, lengths) if covers else (sets, lengths))))
    model = _model(len(data.distances) - 1, fleet, columns, covers)
    return _solve(model, fleet, ceiling, effort)


def _keeps_triangles(distances: FloatArray) -> bool:
    """Whether no detour is shorter: then a tour stays allowed when a client is removed from it."""
    through = (distances[:, k : k + 1] + distances[k] for k in range(len(distances)))
    return all((distances <= way * (1 + _ROUNDING)).all() for way in through)


def _largest_sets(sets: _SetArray, lengths: FloatArray) -> tuple[_SetArray, FloatArray]:
    """Those that are no subset of another set with one client more.

    If tours cost nothing and any client may be removed from them, clients may as well be visited
    more than once, and the smaller sets add nothing.
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
    num_clients: int,
    fleet: PricedFleet,
    columns: list[tuple[int, _SetArray, FloatArray]],
    covers: bool,
) -> Any:
    """Choose tours that visit every client once, or at least once if `covers`."""
    import highspy

    model = quiet_highs()
    for _ in range(num_clients):
        model.addRow(1.0, highspy.kHighsInf if covers else 1.0, 0, [], [])
    for number in fleet.numbers:
        model.addRow(0.0, float(number), 0, [], [])
    for kind, sets, lengths in columns:
        _add_columns(model, num_clients, fleet, kind, sets, lengths)
    total = sum(len(sets) for _, sets, _ in columns)
    whole = [highspy.HighsVarType.kInteger] * total
    model.changeColsIntegrality(total, np.arange(total, dtype=np.int32), np.array(whole))
    return model


def _solve(model: Any, fleet: PricedFleet, ceiling: float, effort: ProofEffort) -> float | None:
    """Run branch and bound."""
    import highspy

    model.setOptionValue("presolve", "off")  # finds nothing here and takes longest
    model.setOptionValue("mip_rel_gap", 0.0)
    model.setOptionValue("mip_abs_gap", 0.0)
    model.setOptionValue("mip_max_nodes", _MOST_NODES)
    if effort.seconds is not None:
        model.setOptionValue("time_limit", max(effort.seconds * (1 - effort.fraction), 0.1))
    _let_stop(model, effort)
    model.run()
    status = model.getModelStatus()
    if status == highspy.HighsModelStatus.kInfeasible:
        return ceiling
    bound = float(model.getInfo().mip_dual_bound)
    tolerance = 1e-6 + 1e-7 * sum(fleet.numbers)  # between plans, and of a tour's reduced cost
    return min((bound - tolerance) / _SCALE, ceiling) if np.isfinite(bound) else None


def _let_stop(model: Any, effort: ProofEffort) -> None:
    """HiGHS asks between nodes whether to continue."""
    import highspy

    def interrupt(kind: int, message: str, output: Any, answer: Any, data: object) -> None:
        answer.user_interrupt = effort.watch.should_stop()

    model.setCallback(interrupt, None)
    model.startCallback(highspy.cb.HighsCallbackType.kCallbackMipInterrupt)


def _add_columns(
    model: Any,
    num_clients: int,
    fleet: PricedFleet,
    kind: int,
    sets: _SetArray,
    lengths: FloatArray,
) -> None:
    """Add the tours of one kind."""
    bits = np.arange(num_clients, dtype=np.uint64)
    members = (sets[:, None] >> bits & np.uint64(1)).astype(bool)  # (tours, clients)
    counts = members.sum(axis=1)
    rules = fleet.rules[kind]
    pairs = zip(counts.tolist(), lengths.tolist(), strict=True)
    costs = np.array([tour_cost(rules, count, length) for count, length in pairs])
    costs *= _SCALE / fleet.unit
    own = np.full((len(sets), 1), num_clients + kind, dtype=np.int32)
    with_kind = np.hstack([members, np.ones((len(sets), 1), bool)])
    rows = np.hstack([np.broadcast_to(bits.astype(np.int32), members.shape), own])[with_kind]
    starts = np.concatenate([[0], np.cumsum(counts + 1)[:-1]]).astype(np.int32)
    ones: NDArray[np.float64] = np.ones(len(rows))
    if len(sets):
        model.addCols(
            len(sets), costs, 0 * costs, np.ones(len(sets)), len(rows), starts, rows, ones
        )


@njit(cache=True)
def enumerate_tours(task: PricingTask, steps: int, room: int) -> tuple[_SetArray, FloatArray, bool]:
    """All sets of clients whose shortest tour has cost - prizes below the limit, and its length.

    Of paths with the same clients and the same end only the shortest is kept. False, and nothing
    else, if there is no room for all of them.
    """
    rules, prizes = task.rules, task.prizes
    table = most_prizes(task, steps)
    values = np.empty((len(prizes), steps // 2 + 1))
    paths, longer = _make_paths(room), _make_paths(room)
    sets, lengths = np.empty(room, np.uint64), np.empty(room)
    paths.clients[0], paths.last[0], paths.length[0], paths.prize[0] = 0, 0, 0.0, 0.0
    known, found = 1, 0
    for count in range(1, len(rules.longest)):
        completion_values(rules, table, count, values)
        new = _lengthen(task, values, count, paths, known, longer)
        if new > room:
            return sets[:0], lengths[:0], False
        known = _keep_shortest(longer, new, paths, len(prizes))
        found = _close(task, count, paths, known, sets, lengths, found)
        if found > room:
            return sets[:0], lengths[:0], False
    return sets[:found].copy(), lengths[:found].copy(), True


@njit()
def _make_paths(room: int) -> _Paths:
    return _Paths(
        np.empty(room, np.uint64), np.empty(room, np.int16), np.empty(room), np.empty(room)
    )


@njit()
def _lengthen(
    task: PricingTask, values: FloatArray, count: int, paths: _Paths, known: int, longer: _Paths
) -> int:
    """Paths with one client more, `count`, that may still become tours below the limit: how many.

    The number exceeds the room if they do not fit.
    """
    data, rules, prizes, below = task
    new, room = 0, len(longer.length)
    per_step = (values.shape[1] - 1) / rules.reach
    for p in range(known):
        for j in range(1, len(prizes)):
            bit = np.uint64(1) << np.uint64(j - 1)
            way = paths.length[p] + data.distances[paths.last[p], j]
            if paths.clients[p] & bit or way > rules.longest[count] - data.home[j]:
                continue
            prize = paths.prize[p] + prizes[j]
            if values[j, int(way * per_step)] - prize >= below:
                continue
            if new == room:
                return room + 1
            longer.clients[new], longer.last[new] = paths.clients[p] | bit, j
            longer.length[new], longer.prize[new] = way, prize
            new += 1
    return new


@njit()
def _keep_shortest(paths: _Paths, known: int, kept: _Paths, nodes: int) -> int:
    """The shortest paths of each set of clients and end, sorted by clients: how many."""
    order = np.argsort(paths.clients[:known])
    shortest = np.full(nodes, np.inf)
    num_kept, t = 0, 0
    while t < known:
        first = order[t]
        while t < known and paths.clients[order[t]] == paths.clients[first]:
            p = order[t]
            shortest[paths.last[p]] = min(shortest[paths.last[p]], paths.length[p])
            t += 1
        for j in range(1, nodes):
            if shortest[j] < np.inf:
                kept.clients[num_kept], kept.last[num_kept] = paths.clients[first], j
                kept.length[num_kept], kept.prize[num_kept] = shortest[j], paths.prize[first]
                num_kept += 1
                shortest[j] = np.inf
    return num_kept


@njit()
def _close(
    task: PricingTask,
    count: int,
    paths: _Paths,
    known: int,
    sets: _SetArray,
    lengths: FloatArray,
    found: int,
) -> int:
    """Add the tours made of paths of `count` clients, sorted by clients: how many there are now.

    The number exceeds the room if they do not fit.
    """
    data, rules, _, below = task
    closed = np.inf
    for p in range(known):
        closed = min(closed, paths.length[p] + data.distances[paths.last[p], 0])
        if p + 1 < known and paths.clients[p + 1] == paths.clients[p]:
            continue
        value = tour_cost(rules, count, closed) - paths.prize[p]
        if closed <= rules.longest[count] and value < below:
            if found == len(sets):
                return found + 1
            sets[found], lengths[found] = paths.clients[p], closed
            found += 1
        closed = np.inf
    return found
