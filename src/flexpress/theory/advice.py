"""Which algorithm to fly on which plan: by a trial where that is quick, else by theory.

Each algorithm flies the plan that minimises the delay in its theorem. No theorem decides between
the algorithms: by Theorem 2 for both, FedEx-Async is never behind on the same plan, and no theorem
shows that stale updates make it oscillate. The stability of a quadratic shows that, but knows
neither how steep a net really is nor what is gained by landing sooner. So both are tried for some
hundred slots at the scenario's learning rate, and the one that learns better is advised. That one
is then tried without a head start and with one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from flexpress.errors import InputError
from flexpress.scenario import DEFAULT_HEAD_START, Algorithm, Objective
from flexpress.theory.bounds import RoundTrips
from flexpress.theory.forecast import Forecast
from flexpress.theory.stability import growth_per_tour

WORTH = 0.02
"""The smallest difference in mean accuracy between two runs that counts.

From seed to seed of data and first model the difference varies by 0.016 (standard deviation, the
median of 14 networks in docs/theory.md): a smaller one may have the other sign with the next seed.
"""

_SEEN = 0.0005
"""Smaller shares are shown as 0.0 %."""

_NAMES: dict[Algorithm, str] = {"sync": "FedEx-Sync", "async": "FedEx-Async"}


@dataclass(frozen=True)
class Trial:
    """A short run of an algorithm on its plan, at the scenario's learning rate."""

    algorithm: Algorithm
    objective: Objective  # of the plan
    slots: int
    accuracy: float | None  # on the test samples, mean over the slots; None: it diverged
    head_start: float = 0.0


@dataclass(frozen=True)
class Advice:
    """What to fly, and why."""

    algorithm: Algorithm
    objective: Objective  # of the plan to fly it on
    decided_by: Literal["tours", "trial", "stability", "bound"]
    sentence: str
    head_start: float = 0.0  # to fly it with
    head_start_sentence: str = ""


def advise(
    forecasts: Sequence[Forecast],
    learning_rate: float,
    trials: Sequence[Trial] = (),
    head_start_trials: Sequence[Trial] = (),
    *,
    smoothness: float | None = None,
) -> Advice:
    """Choose one of the forecasts, and a head start for it.

    `trials` holds one for each algorithm, or none; `head_start_trials` two of the better algorithm,
    without and with a head start, or none. Then the head start is judged by a quadratic whose
    curvature is `smoothness`.
    """
    sync, free = _best(forecasts, "sync"), _best(forecasts, "async")
    if one_algorithm(sync.tours, free.tours):
        same = "on tours of one length FedEx-Async is the same algorithm"
        advice = Advice("sync", sync.objective, "tours", f"Fly {_plan_of(sync)}: {same}.")
    elif trials:
        advice = _tried(sync, free, learning_rate, trials)
    else:
        advice = _untried(sync, free, learning_rate)
    flown = free if advice.algorithm == "async" else sync
    if head_start_trials:
        gamma, why = _tried_head_start(flown.head_start, head_start_trials)
    elif smoothness is not None:
        gamma, why = _damping(flown, min(1.0, learning_rate * smoothness))
    else:
        gamma, why = flown.head_start, ""
    return replace(advice, head_start=gamma, head_start_sentence=why)


def _tried_head_start(present: float, trials: Sequence[Trial]) -> tuple[float, str]:
    """The better one, and why; if there is no difference worth naming, the present one."""
    without, ahead = sorted(trials, key=lambda trial: trial.head_start)
    gain = (ahead.accuracy or 0.0) - (without.accuracy or 0.0)
    gamma, less = f"{ahead.head_start:g}", _text(without.accuracy)
    found = f"{_text(ahead.accuracy)} with it, {less} without"
    if gain >= WORTH:
        return ahead.head_start, f"Fly it with head_start = {gamma}: {found}."
    if gain <= -WORTH:  # a scenario that does not name it has one
        worse = f"{_text(ahead.accuracy)} with {gamma}"
        return 0.0, f"Fly it with head_start = 0: {less}, {worse}."
    return present, f"A head_start = {gamma} makes no difference worth naming: {found}."


def _text(accuracy: float | None) -> str:
    return "diverged" if accuracy is None else f"{accuracy:.1%}"


def _damping(flown: Forecast, step: float) -> tuple[float, str]:
    """By what a tour leaves of the mode with the curvature L."""
    gamma = flown.head_start or DEFAULT_HEAD_START
    more, less = (
        growth_per_tour(flown.algorithm, flown.tours, step, each) for each in (gamma, 0.0)
    )
    named = f"head_start = {gamma:g}"
    left = f"by a quadratic with this L, a tour leaves {more:.2f} of a deviation, not {less:.2f}"
    if more < less:
        return gamma, f"Fly it with {named}: {left}. This was not tried."
    return flown.head_start, f"A {named} damps no more: {left}. This was not tried."


def better(trials: Sequence[Trial]) -> Algorithm:
    """Async only if it is clearly ahead, or Sync diverged."""
    found = _by_algorithm(trials)
    less, more = found["sync"].accuracy, found["async"].accuracy
    if less is None or more is None:
        return "async" if less is None else "sync"
    return "async" if more - less >= WORTH else "sync"


def _by_algorithm(trials: Sequence[Trial]) -> dict[Algorithm, Trial]:
    found = {trial.algorithm: trial for trial in trials}
    if len(trials) != len(_NAMES) or set(found) != set(_NAMES):
        given = ", ".join(trial.algorithm for trial in trials)
        raise InputError(f"trials of {given}: must be one of sync and one of async, or none")
    return found


def _tried(sync: Forecast, free: Forecast, rate: float, trials: Sequence[Trial]) -> Advice:
    """By the trials."""
    found = _by_algorithm(trials)
    less, more = found["sync"].accuracy, found["async"].accuracy
    how = f"tried for {found['sync'].slots} slots at learning rate {rate:g}"
    swings = _swings_sooner(sync, free, rate)
    if less is None or more is None:
        kept, lost = (free, sync) if less is None else (sync, free)
        return _of_trial(kept, f"{how}, {_plan_of(lost)} diverged", swings=swings)
    ahead, behind, by = (free, sync, more - less) if more > less else (sync, free, less - more)
    if by >= WORTH:
        high, low = max(less, more), min(less, more)
        means = f"a mean accuracy of {high:.1%}, {_plan_of(behind)} one of {low:.1%}"
        return _of_trial(ahead, f"{how}, it had {means}", swings=swings)
    means = f"a mean accuracy of {less:.1%}, {_plan_of(free)} one of {more:.1%}"
    tie = "no difference worth naming, and with Sync all land together"
    return _of_trial(sync, f"{how}, it had {means}: {tie}", swings=swings)


def _swings_sooner(sync: Forecast, free: Forecast, rate: float) -> bool:
    """Whether FedEx-Async swings at this rate, and FedEx-Sync is stable up to a larger one.

    Stable rates are searched up to 1/L. With a head start both mostly reach it.
    """
    return free.stable_rate < min(rate, sync.stable_rate)


def _of_trial(flown: Forecast, why: str, *, swings: bool) -> Advice:
    sentence = f"Fly {_plan_of(flown)}: {why}."
    if flown.algorithm == "async" and swings:
        limit = f"By a quadratic with this L it is stable up to {flown.stable_rate:.2g} only"
        sentence = f"{sentence} {limit}: lower the rate if the loss begins to swing."
    return Advice(flown.algorithm, flown.objective, "trial", sentence)


def _untried(sync: Forecast, free: Forecast, rate: float) -> Advice:
    """By stability first: what oscillates does not learn, whatever its bound."""
    if _swings_sooner(sync, free, rate):
        why = (
            f"by a quadratic with this L, FedEx-Async is stable up to a learning rate of "
            f"{free.stable_rate:.2g}, FedEx-Sync up to {sync.stable_rate:.2g}, and it is {rate:g}"
        )
        return _not_tried(sync, "stability", why)
    less = 1 - free.slots_alike / sync.slots_alike
    if less < _SEEN:
        return _not_tried(sync, "bound", "by Theorem 2 for both, neither needs fewer slots")
    fewer = f"{100 * less:.1f} % fewer slots than {_plan_of(sync)}"
    stable = f"learning rate {rate:g} is stable"
    if rate > free.stable_rate:
        stable = f"by a quadratic with this L, both are stable up to {free.stable_rate:.2g}"
    return _not_tried(free, "bound", f"{stable}, and by Theorem 2 for both it needs {fewer}")


def _not_tried(flown: Forecast, decided_by: Literal["stability", "bound"], why: str) -> Advice:
    sentence = f"Fly {_plan_of(flown)}: {why}. This was not tried: simulate both."
    return Advice(flown.algorithm, flown.objective, decided_by, sentence)


def one_algorithm(sync: RoundTrips, free: RoundTrips) -> bool:
    """Whether all tours are equally long, so that Sync and Async are the same."""
    return set(free.slots) == {sync.longest}


def _best(forecasts: Sequence[Forecast], algorithm: Algorithm) -> Forecast:
    """The forecast with the smallest delay, whatever the constants."""
    own = [each for each in forecasts if each.algorithm == algorithm]
    return min(own, key=lambda each: each.tours.routes(algorithm))


def _plan_of(one: Forecast) -> str:
    return f"{_NAMES[one.algorithm]} on the {one.objective} plan"
