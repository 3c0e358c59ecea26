"""CARP, the paper's own planner (FedEx: Bian, Shen, Xu; "Client Assignment and Route Planning").

Two levels. Inner: the shortest route through a given set of clients, by multi-start 2-OPT or exact
dynamic programming, cached per set. Outer: Gibbs sampling over the assignment
a = (a_1, .., a_N), client after client in a fixed order, while q decreases.

The paper does not specify the following; we choose:

- the order: the clients' numbers;
- the initial assignment: sectors around the server, or any transporter for every client, drawn
  until the budgets hold. (On the paper's network the latter puts all transporters over budget;
  from there every S_i is empty and nothing ever moves.) For `total`, which is often best with some
  transporters idle, any number of sectors. For `minmax` the sampler continues a run for `sws`:
  most moves do not change the maximum, so that alone it would wander where `sws` goes downhill;
- q: geometric over a run, in multiples of C(a)/N, a client's share of the cost of equal sectors;
- the number of iterations: `starts` runs, each from its own draw, of `sweeps` visits to every
  client.

Differs from the paper: the result is the best feasible assignment visited, not the last one;
the Gibbs formula is corrected (`gibbs_probabilities`); an empty S_i leaves the client where it is.
As in the paper, clients move one at a time and within the budgets: where these are so tight that
only an exchange of whole tours helps, CARP cannot leave what its starts reach.

If the objective counts slots, the Gibbs step compares slots alone, as in the paper: of transporters
that cost equally many, each is as likely. The result is the best assignment visited: of those with
the least cost in slots, the one with the least in seconds.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import Literal

import numpy as np

from flexpress.planning.exact import check_size, held_karp_tour
from flexpress.planning.problem import BUDGET_TOLERANCE, Problem, Rank, Tours, objective_value
from flexpress.planning.progress import UNWATCHED, Effort, Progress, Watch
from flexpress.planning.two_opt import route_length, shortest_route
from flexpress.scenario import Objective
from flexpress.scenario.physics import slots

Inner = Literal["two_opt", "exact"]
_Members = list[int]
"""R_1 .. R_K: each transporter's client set, an integer whose bit i - 1 stands for client i."""

_ROUTE_STARTS = 8
"""Random initial routes of the inner level; of 11 clients 2-OPT then finds the optimum in 95 %."""

_COOLING = (0.6, 0.2)
"""First and last q of a run from such a draw, in shares C(a)/N."""

_MINMAX_COOLING = (0.1, 0.01)
"""The same for `minmax`: its start is a good plan already, which a higher q would take apart."""

_MAX_DRAWS = 100
"""Initial assignments tried for one that fits the budgets."""

_STARTS, _SWEEPS = 10, 100
"""Runs, and visits to every client in each, where no limit is given."""

_STEPS_PER_REPORT = 10


def solve_carp(
    problem: Problem,
    objective: Objective,
    effort: Effort,
    watch: Watch = UNWATCHED,
    *,
    inner: Inner = "two_opt",
) -> Tours | None:
    """The best feasible plan that Gibbs sampling visits, or None if it visits none.

    An iteration is one visit to one client. Without a limit there are _STARTS runs of _SWEEPS
    visits to every client. A limit of iterations makes the runs fewer, then shorter. With a limit
    of seconds, runs follow one another until the time is up. q falls over a whole run, so a first
    run that the clock cuts short never reaches its lowest q.
    """
    if inner == "exact":
        check_size(problem.num_clients)
    routes = Routes(problem, inner, effort.seed)
    best: _Members | None = None
    best_rank = math.inf, math.inf
    per_sweep = len(_phases(objective)) * problem.num_clients
    starts, sweeps = _runs_within(effort, per_sweep)
    routes.length(1)  # load the compiled code before the clock starts
    if effort.seconds is None:
        effort = replace(effort, iterations=starts * sweeps * per_sweep)
    started = time.perf_counter()
    runs = _all_runs(problem, objective, routes, sweeps, starts, effort.seed)
    for step, members in enumerate(runs):
        rank = routes.rank(objective, members)
        if rank < best_rank and routes.feasible(members):
            best, best_rank = members.copy(), rank
        if step % _STEPS_PER_REPORT == 0:
            fraction = effort.fraction(step, started)
            watch.on_progress(Progress(min(fraction, 1.0), None if best is None else best_rank[0]))
            if fraction >= 1 or watch.should_stop():
                break
    return None if best is None else [routes.tour(clients) for clients in best]


def _runs_within(effort: Effort, per_sweep: int) -> tuple[int, int]:
    """The number of runs and of sweeps in each: full runs if the effort allows it."""
    if effort.seconds is not None:
        return sys.maxsize, _SWEEPS
    iterations = effort.iterations
    sweeps = _STARTS * _SWEEPS if iterations is None else max(1, iterations // per_sweep)
    starts = min(_STARTS, max(1, sweeps // _SWEEPS))
    return starts, min(_SWEEPS, sweeps) if starts == 1 else sweeps // starts


def gibbs_probabilities(costs: Sequence[float], q: float) -> list[float]:
    """P(k) = exp(-C(k, a_-i) / q) / sum over k' in S_i of exp(-C(k', a_-i) / q).

    Differs from the paper: there the bracket of the exponential closes too late, and the sum runs
    over all transporters, also those outside S_i. The lowest cost is taken off before the
    exponential, which changes no probability and cannot overflow.
    """
    lowest = min(costs)
    weights = [math.exp((lowest - cost) / q) for cost in costs]
    total = sum(weights)
    return [weight / total for weight in weights]


def _members_of(owners: list[int], num_transporters: int) -> _Members:
    """R_k = {i : a_i = k}."""
    members = [0] * num_transporters
    for i, k in enumerate(owners):
        members[k] |= 1 << i
    return members


class Routes:
    """The inner level: round trips and energies of client sets, by their shortest routes.

    The length of a route depends on its clients only, not on who flies it: one entry a set.
    """

    def __init__(self, problem: Problem, inner: Inner = "two_opt", seed: int = 0) -> None:
        self._distances = np.array(problem.distances(), order="C")  # one array type, compiled once
        self._inner = inner
        self._seed = seed
        self._lengths: dict[int, float] = {0: 0.0}
        self._time_per_metre: list[float] = problem.time_per_metre.tolist()
        self._time_per_client: list[float] = problem.time_per_client.tolist()
        self._energy_per_metre: list[float] = problem.energy_per_metre.tolist()
        self._energy_per_client: list[float] = problem.energy_per_client.tolist()
        self._problem = problem
        self._limits: list[float] = (problem.budgets * (1 + BUDGET_TOLERANCE)).tolist()

    def length(self, clients: int) -> float:
        """Length of the route through this set, computed once."""
        length = self._lengths.get(clients)
        if length is None:
            route = np.array([0, *self.tour(clients)])
            length = self._lengths[clients] = float(route_length(self._distances, route))
        return length

    def tour(self, clients: int) -> list[int]:
        """The route through this set."""
        nodes = [i for i in range(1, clients.bit_length() + 1) if clients >> (i - 1) & 1]
        if self._inner == "exact":
            return held_karp_tour(self._distances, nodes)
        own_seed = (clients + self._seed) % 2**63  # depends only on the set
        stops = np.array([0, *nodes])
        _, route = shortest_route(self._distances, stops, _ROUTE_STARTS, own_seed)
        tour: list[int] = route[1:].tolist()
        return tour

    def round_trip(self, k: int, clients: int) -> float:
        """Delta_k(R_k)."""
        per_client = self._time_per_client[k] * clients.bit_count()
        return self._time_per_metre[k] * self.length(clients) + per_client

    def counted(self, k: int, clients: int) -> float:
        """Delta_k(R_k) as the objective counts it: in seconds or in slots."""
        round_trip = self.round_trip(k, clients)
        slot = self._problem.slot
        return slots(round_trip, slot) if slot else round_trip

    def within_budget(self, k: int, clients: int) -> bool:
        """The paper's energy constraint."""
        return self.energy(k, clients) <= self._limits[k]

    def energy(self, k: int, clients: int) -> float:
        """E_prop(R_k) + E_trans(R_k)."""
        per_client = self._energy_per_client[k] * clients.bit_count()
        return self._energy_per_metre[k] * self.length(clients) + per_client

    def excess(self, owners: list[int]) -> float:
        """Joules by which this assignment is over the budgets."""
        members = _members_of(owners, len(self._limits))
        over = [self.energy(k, clients) - self._limits[k] for k, clients in enumerate(members)]
        return sum(max(joules, 0.0) for joules in over)

    def feasible(self, members: _Members) -> bool:
        return all(self.within_budget(k, clients) for k, clients in enumerate(members))

    def cost(self, objective: Objective, members: _Members) -> float:
        """C(a)."""
        return self.rank(objective, members)[0]

    def rank(self, objective: Objective, members: _Members) -> Rank:
        """C(a), and the same in seconds."""
        round_trips = [self.round_trip(k, clients) for k, clients in enumerate(members)]
        return self._problem.rank_of(objective, round_trips, [c.bit_count() for c in members])


class GibbsSampler:
    """The outer level: the assignment a, and the step that redraws one client's transporter."""

    def __init__(
        self, routes: Routes, owners: list[int], num_transporters: int, rng: Random
    ) -> None:
        self._routes = routes
        self._rng = rng
        self._owners = owners  # a_1 .. a_N
        self.members = _members_of(owners, num_transporters)  # R_1 .. R_K

    def run(self, objective: Objective, schedule: Sequence[float]) -> Iterator[_Members]:
        """Visit every client once for each q of the schedule; yields a after each visit."""
        for q in schedule:
            for i in range(len(self._owners)):
                self._visit(i, objective, q)
                yield self.members

    def _visit(self, i: int, objective: Objective, q: float) -> None:
        """One iteration of the paper: client i draws its transporter, the others keep theirs.

        A client with an empty S_i stays where it is: this happens only in a plan over budget.
        """
        client = 1 << i
        k = self._owners[i]
        self.members[k] ^= client  # now a_-i
        joined = [clients | client for clients in self.members]
        available = [k for k, c in enumerate(joined) if self._routes.within_budget(k, c)]  # S_i
        if available:
            costs = self._costs_of_choices(objective, joined, available)
            k = self._rng.choices(available, gibbs_probabilities(costs, q))[0]
        self._owners[i] = k
        self.members[k] = joined[k]

    def _costs_of_choices(
        self, objective: Objective, joined: _Members, available: list[int]
    ) -> list[float]:
        """C(k, a_-i) for every k in S_i."""
        without = [self._routes.counted(k, c) for k, c in enumerate(self.members)]
        counts = [clients.bit_count() for clients in self.members]
        costs = []
        for k in available:
            round_trips, num_clients = without.copy(), counts.copy()
            round_trips[k] = self._routes.counted(k, joined[k])
            num_clients[k] += 1
            costs.append(objective_value(objective, round_trips, num_clients))
        return costs


def _phases(objective: Objective) -> list[tuple[Objective, tuple[float, float]]]:
    """The costs a run samples one after the other, each with its first and last q."""
    if objective == "minmax":
        return [("sws", _COOLING), ("minmax", _MINMAX_COOLING)]
    return [(objective, _COOLING)]


def _all_runs(
    problem: Problem, objective: Objective, routes: Routes, sweeps: int, starts: int, seed: int
) -> Iterator[_Members]:
    """The assignment after every client step of every run."""
    rng = Random(seed)
    num_transporters = problem.num_transporters
    typical = _members_of(_sectors(problem, num_transporters, rng), num_transporters)
    for _ in range(starts):
        owners = _initial_assignment(problem, objective, routes, rng)
        sampler = GibbsSampler(routes, owners, num_transporters, rng)
        for phase_objective, cooling in _phases(objective):
            share = routes.cost(phase_objective, typical) / problem.num_clients
            yield from sampler.run(phase_objective, _q_schedule(share, cooling, sweeps))


def _q_schedule(share: float, cooling: tuple[float, float], sweeps: int) -> list[float]:
    """q for each sweep, from the first to the last multiple of a client's share of the cost."""
    schedule: list[float] = ((share or 1.0) * np.geomspace(*cooling, sweeps)).tolist()
    return schedule


def _initial_assignment(
    problem: Problem, objective: Objective, routes: Routes, rng: Random
) -> list[int]:
    """The first of several draws that fits the budgets, else the one least over them."""
    most = problem.num_transporters
    fewest = 1 if objective == "total" else most
    draws: list[list[int]] = []
    while len(draws) < _MAX_DRAWS:
        in_sectors = rng.random() < 0.5
        num_sectors = rng.randint(fewest, most)
        draws.append(_sectors(problem, num_sectors, rng) if in_sectors else _anything(problem, rng))
        if routes.excess(draws[-1]) == 0.0:
            return draws[-1]
    return min(draws, key=routes.excess)


def _anything(problem: Problem, rng: Random) -> list[int]:
    """An initial assignment a: any transporter for every client."""
    return rng.choices(range(problem.num_transporters), k=problem.num_clients)


def _sectors(problem: Problem, num_sectors: int, rng: Random) -> list[int]:
    """An initial assignment a: clients by direction from the server, as many in each sector."""
    ranks = np.argsort(problem.by_direction(rng.uniform(0.0, 2 * math.pi)))
    transporters = rng.sample(range(problem.num_transporters), num_sectors)
    return [transporters[rank * num_sectors // problem.num_clients] for rank in ranks.tolist()]
