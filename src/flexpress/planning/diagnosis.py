"""What would help a fleet whose budgets no plan keeps: the smallest change of each kind."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from flexpress.arguments import LARGEST_SEED, check_callable, check_whole
from flexpress.arrays import FloatArray
from flexpress.callbacks import ShouldStop, never
from flexpress.planning.infeasible import Words, balanced, out_of_range, shares_alone
from flexpress.planning.problem import ABILITIES, Problem
from flexpress.planning.progress import OnProgress, Progress, Watch, ignore_progress
from flexpress.scenario import Scenario, check_scenario
from flexpress.scenario.units import DATA_SIZE, SPEED, TIME

_HALVINGS = 7
_FASTEST, _SLOWEST = 4.0, 0.25
"""Limits of the speed factor; slower helps only if power depends on speed."""

_STEPS = 6
"""Speeds tried in each direction."""

_ENOUGH = 1e-9


@dataclass(frozen=True)
class Remedy:
    """One change that makes the budgets fit, with everything else unchanged."""

    change: str  # "budgets", "transporters", "speeds", "model size" or "transfer time"
    factor: float | None  # of the present value; None: no such change is enough
    text: str

    @property
    def effort(self) -> float:
        """Distance from the present value, on a scale where doubling equals halving."""
        return math.inf if self.factor is None else abs(math.log(max(self.factor, 1e-9)))


def diagnose(
    scenario: Scenario,
    *,
    seed: int = 0,
    on_progress: OnProgress = ignore_progress,
    should_stop: ShouldStop = never,
) -> list[Remedy]:
    """The smallest changes of budgets, fleet, speeds or model that make a plan fit; best first.

    They are found by search, not proven: a smaller change may be enough. Empty if the budgets fit.
    """
    check_scenario(scenario)
    check_callable(on_progress=on_progress, should_stop=should_stop)
    seed = check_whole("seed", seed, 0, LARGEST_SEED)
    watch = Watch(on_progress, should_stop)
    possible = _Remedies(scenario, seed, watch)
    if possible.fits(possible.problem):
        return []
    remedies: list[Remedy] = []
    changes = (possible.budgets, possible.transporters, possible.speeds, possible.model_size)
    for number, smallest_change in enumerate(changes):
        watch.on_progress(Progress(number / len(changes), None))
        remedy = smallest_change()
        if watch.should_stop():  # this one may be incomplete
            break
        remedies.append(remedy)
    return sorted(remedies, key=lambda remedy: remedy.effort)


class _Remedies:
    """Looks for each remedy: solves the min-max problem of energies for changed problems."""

    def __init__(self, scenario: Scenario, seed: int, watch: Watch) -> None:
        self.scenario = scenario
        self.problem = Problem.of(scenario)
        self._words = Words.of(scenario)
        self._seed = seed
        self._should_stop = watch.should_stop

    def share(self, problem: Problem) -> float:
        """The largest share of its budget that a transporter needs with the best-balanced load."""
        if np.isinf(problem.budgets).all():
            return 0.0
        tours = balanced(problem, self._seed)
        assert tours is not None  # it is not stopped
        return max(problem.energy(k, t) / float(problem.budgets[k]) for k, t in enumerate(tours))

    def fits(self, problem: Problem) -> bool:
        return self.share(problem) <= 1 + _ENOUGH

    def budgets(self) -> Remedy:
        factor = self.share(self.problem)
        k = int(np.argmax(self.problem.budgets))
        enough = self._words.budget_of(k, factor * float(self.problem.budgets[k]))
        text = f"{enough} instead of {self._words.budget(k)}" + _others(self.problem.budgets)
        return Remedy("budgets", factor, text)

    def transporters(self) -> Remedy:
        """More of the kind that reaches every client; if there is none, more of every kind."""
        far, have = out_of_range(self.problem), self.problem.num_transporters
        if far is not None:
            who = self._words.client_ids[far]
            text = f"more do not help: none can fly straight to client {who} and back"
            return Remedy("transporters", None, text)
        alone = shares_alone(self.problem).max(axis=1)  # (transporters,)
        like = [int(np.argmin(alone))] if alone.min() <= 1 + _ENOUGH else list(range(have))
        number = have + len(like) * self._fewest(like)
        kind = f", the new ones like transporter {like[0] + 1}"
        unlike = kind if len(like) == 1 and not self._all_alike() else ""
        return Remedy("transporters", number / have, f"{number} instead of {have}{unlike}")

    def speeds(self) -> Remedy:
        now = max(self.scenario.speeds)
        for fast in (True, False):
            factor = self._nearest_speed(_FASTEST if fast else _SLOWEST)
            if factor is not None:
                enough = (SPEED.rounded_up if fast else SPEED.rounded_down)(factor * now, now)
                text = f"{enough} instead of {SPEED.text(now, now)}"
                return Remedy("speeds", factor, text + _others(self.problem.time_per_metre))
        limit = SPEED.text(_FASTEST * now, now)
        return Remedy("speeds", None, f"no speed up to {limit} is enough")

    def model_size(self) -> Remedy:
        """A smaller model takes less time to send; if only the time is given, a shorter time."""
        link = self.scenario.link
        change, dimension, now = "model size", DATA_SIZE, link.model_size
        if now is None:
            change, dimension, now = "transfer time", TIME, self.scenario.transfer_time
        if not self.fits(self._with_transfer(0.0)):
            return Remedy(change, None, f"no {change} is small enough")
        factor = self._halve(lambda f: self.fits(self._with_transfer(f)), good=0.0, bad=1.0)
        enough = dimension.rounded_down(factor * now, now)
        return Remedy(change, factor, f"{enough} instead of {dimension.text(now, now)}")

    def _fewest(self, like: Sequence[int]) -> int:
        """How often to add these transporters; once per client is always enough."""
        few, enough, most = 0, 1, self.problem.num_clients
        while enough < most and not self.fits(self._with_more(like, enough)):
            if self._should_stop():
                break
            few, enough = enough, min(2 * enough, most)
        while enough - few > 1 and not self._should_stop():
            middle = (few + enough) // 2
            if self.fits(self._with_more(like, middle)):
                enough = middle
            else:
                few = middle
        return enough

    def _all_alike(self) -> bool:
        return all(len(np.unique(getattr(self.problem, name))) == 1 for name in ABILITIES)

    def _nearest_speed(self, farthest: float) -> float | None:
        """The factor nearest to 1 at which the budgets fit; None if none up to `farthest` does."""
        bad = 1.0
        for factor in np.geomspace(1.0, farthest, _STEPS + 1)[1:].tolist():
            if self._should_stop():
                return None
            if self.fits(self._with_speed(factor)):
                return self._halve(lambda f: self.fits(self._with_speed(f)), good=factor, bad=bad)
            bad = factor
        return None

    def _halve(self, fits: Callable[[float], bool], good: float, bad: float) -> float:
        """By bisection, the change nearest to the bad one that still works."""
        for _ in range(_HALVINGS):
            if self._should_stop():
                break
            middle = (good + bad) / 2
            if fits(middle):
                good = middle
            else:
                bad = middle
        return good

    def _with_more(self, like: Sequence[int], times: int) -> Problem:
        longer: dict[str, Any] = {}
        for name in ABILITIES:
            values = getattr(self.problem, name)
            longer[name] = np.append(values, np.tile(values[like], times))
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


def _others(values: FloatArray) -> str:
    return ", the others in proportion" if len(np.unique(values)) > 1 else ""
