"""What would help a fleet whose budgets no plan keeps: the least change of each kind."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from flexpress.arguments import LARGEST_SEED, check_callable, check_whole
from flexpress.planning.problem import ABILITIES, FloatArray, Problem
from flexpress.planning.progress import OnProgress, Progress, ShouldStop, ignore_progress, never
from flexpress.scenario import Scenario, check_scenario

MOST_EXTRA = 8
HALVINGS = 7
FASTEST, SLOWEST = 4.0, 0.25
"""Factors on the speed; slower helps only where power depends on speed."""

STEPS = 6
"""Speeds tried in each direction."""

ITERATIONS_PER_CLIENT = 1500
ENOUGH = 1e-9

Share = Callable[[float], float]
"""Of a change's size: the largest share of a budget that some transporter then needs."""


@dataclass(frozen=True)
class Remedy:
    """One change that makes the budgets fit, everything else as it is."""

    change: str  # "budgets", "transporters", "speeds", "model size"
    factor: float | None  # of the present value; None: no such change is enough
    text: str

    @property
    def effort(self) -> float:
        """How far from the present, on a scale on which doubling and halving are alike."""
        return math.inf if self.factor is None else abs(math.log(max(self.factor, 1e-9)))


def diagnose(
    scenario: Scenario,
    *,
    seed: int = 0,
    on_progress: OnProgress = ignore_progress,
    should_stop: ShouldStop = never,
) -> list[Remedy]:
    """The least change of budgets, fleet, speeds and model that search finds enough; best first.

    Found by search, not proven: a smaller change may do. Empty if the budgets fit as they are.
    """
    check_scenario(scenario)
    check_callable(on_progress=on_progress, should_stop=should_stop)
    seed = check_whole("seed", seed, 0, LARGEST_SEED)
    doctor = Doctor(scenario, seed, should_stop)
    if doctor.share(doctor.problem) <= 1 + ENOUGH:
        return []
    remedies: list[Remedy] = []
    examinations = (doctor.budgets, doctor.transporters, doctor.speeds, doctor.model_size)
    for number, examine in enumerate(examinations):
        on_progress(Progress(number / len(examinations), None))
        if should_stop():
            break
        remedies.append(examine())
    return sorted(remedies, key=lambda remedy: remedy.effort)


class Doctor:
    """Solves the min-max problem of energies for changed problems."""

    def __init__(self, scenario: Scenario, seed: int, should_stop: ShouldStop) -> None:
        self.scenario = scenario
        self.problem = Problem.of(scenario)
        self._seed = seed
        self._should_stop = should_stop

    def share(self, problem: Problem) -> float:
        """The largest share of its budget that a transporter needs if the load is shared best."""
        from flexpress.planning.search import solve_search

        if np.isinf(problem.budgets).all():
            return 0.0
        shares = problem.with_energy_for_time(problem.budgets)
        iterations = ITERATIONS_PER_CLIENT * problem.num_clients
        tours = solve_search(shares, "minmax", iterations=iterations, seed=self._seed)
        assert tours is not None  # there are no budgets in this problem
        return max(shares.round_trip(k, tour) for k, tour in enumerate(tours))

    def budgets(self) -> Remedy:
        factor = self.share(self.problem)
        largest = max(b for b in self.problem.budgets if not math.isinf(b))
        text = f"{factor * largest:,.1f} J instead of {largest:,.1f} J" + others(
            self.problem.budgets
        )
        return Remedy("budgets", factor, text)

    def transporters(self) -> Remedy:
        have = self.problem.num_transporters
        strongest = int(np.argmax(self.problem.budgets))
        for extra in range(1, MOST_EXTRA + 1):
            if self._should_stop() or self.share(self._with_more(strongest, extra)) <= 1 + ENOUGH:
                text = f"{have + extra} instead of {have}"
                return Remedy("transporters", (have + extra) / have, text)
        return Remedy("transporters", None, f"{MOST_EXTRA} more are not enough")

    def speeds(self) -> Remedy:
        now = max(self.scenario.speeds)
        for fast in (True, False):
            factor = self._nearest_speed(FASTEST if fast else SLOWEST)
            if factor is not None:
                text = f"{factor * now:,.2f} m/s instead of {now:,.2f} m/s"
                return Remedy("speeds", factor, text + others(self.problem.time_per_metre))
        return Remedy("speeds", None, f"no speed up to {FASTEST * now:g} m/s is enough")

    def model_size(self) -> Remedy:
        """A smaller model passes in less time."""
        if self.share(self._with_transfer(0.0)) > 1 + ENOUGH:
            return Remedy("model size", None, "no model is small enough")
        factor = self._halve(lambda f: self.share(self._with_transfer(f)), good=0.0, bad=1.0)
        size, time = self.scenario.link.model_size, self.scenario.transfer_time
        text = f"{factor * time:,.2f} s per client instead of {time:,.2f} s"
        if size is not None:
            text = f"{factor * size / 1e6:,.1f} MB instead of {size / 1e6:,.1f} MB"
        return Remedy("model size", factor, text)

    def _nearest_speed(self, farthest: float) -> float | None:
        """The factor nearest to 1, up to this one, at which the budgets fit; None if none does."""
        bad = 1.0
        for factor in np.geomspace(1.0, farthest, STEPS + 1)[1:].tolist():
            if self._should_stop():
                return None
            if self.share(self._with_speed(factor)) <= 1 + ENOUGH:
                return self._halve(lambda f: self.share(self._with_speed(f)), good=factor, bad=bad)
            bad = factor
        return None

    def _halve(self, share: Share, good: float, bad: float) -> float:
        """The change nearest to the bad one that still works."""
        for _ in range(HALVINGS):
            if self._should_stop():
                break
            middle = (good + bad) / 2
            if share(middle) <= 1 + ENOUGH:
                good = middle
            else:
                bad = middle
        return good

    def _with_more(self, like: int, extra: int) -> Problem:
        longer = {}
        for name in ABILITIES:
            values = getattr(self.problem, name)
            longer[name] = np.append(values, np.repeat(values[like], extra))
        return replace(self.problem, **longer)

    def _with_speed(self, factor: float) -> Problem:
        speeds = np.array(self.scenario.speeds) * factor
        power = np.array([self.scenario.power.flight_at(float(speed)) for speed in speeds])
        return replace(self.problem, time_per_metre=1 / speeds, energy_per_metre=power / speeds)

    def _with_transfer(self, factor: float) -> Problem:
        return replace(
            self.problem,
            time_per_client=self.problem.time_per_client * factor,
            energy_per_client=self.problem.energy_per_client * factor,
        )


def others(values: FloatArray) -> str:
    return ", the others in proportion" if len(np.unique(values)) > 1 else ""
