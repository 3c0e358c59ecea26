"""Which algorithm to fly: what the bound says, and what the data say, which the bound does not see.

No constant of the theorems tells how alike the transporters' data are. The paper's experiments do:
on i.i.d. data FedEx-Async is ahead, with labels dealt by Dirichlet (type 1) the two are comparable,
and with labels dealt by location (type 2) FedEx-Sync is ahead. Measured on the preset `paper` and
on `paper-svhn`, four seeds of the data, plans of all objectives, the mean skew is 0.01 to 0.05,
0.13 to 0.20 and 0.31 to 0.49: the limits below lie between.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from flexpress.scenario import Algorithm, Objective
from flexpress.theory.forecast import Forecast

ALIKE, APART = 0.10, 0.25
"""Mean skew up to which the bound decides, and from which FedEx-Sync is flown."""

SEEN = 0.0005
"""From which a share is more than 0.0 %."""

NAMES: dict[Algorithm, str] = {"sync": "FedEx-Sync", "async": "FedEx-Async"}


@dataclass(frozen=True)
class Advice:
    """What to fly, and why."""

    algorithm: Algorithm
    objective: Objective  # of the plan to fly it on
    decided_by: Literal["bound", "skew"]
    sentence: str


def advise(
    forecasts: Sequence[Forecast], skews: Mapping[Objective, float], learning_rate: float
) -> Advice:
    """`skews`: of every plan its transporters' mean distance from the mix of all labels."""
    sync, free = best(forecasts, "sync"), best(forecasts, "async")
    skew = skews[free.objective]
    if skew >= APART:
        data = f"{differ('much', skew)} where the paper finds Sync ahead"
        same = f"; {compared(sync, free)}" if one_algorithm(sync, free) else ""
        return Advice("sync", sync.objective, "skew", f"Fly {plan_of(sync)}: {data}{same}.")
    ahead, behind = (free, sync) if free.slots_alike <= sync.slots_alike else (sync, free)
    data = f"the transporters' data are alike (skew {skew:.2f})"
    if skew > ALIKE:
        data = f"{differ('somewhat', skew)} where the paper finds the two comparable: simulate both"
    sentence = f"Fly {plan_of(ahead)}: {compared(ahead, behind)}; {data}."
    if ahead is free and learning_rate > free.stable_rate and not one_algorithm(sync, free):
        sentence = f"{sentence} {swings(sync, free, learning_rate)}"
    return Advice(ahead.algorithm, ahead.objective, "bound", sentence)


def differ(how: str, skew: float) -> str:
    return f"labels differ {how} from transporter to transporter (skew {skew:.2f}), as in the data"


def compared(ahead: Forecast, behind: Forecast) -> str:
    less = 1 - ahead.slots_alike / behind.slots_alike
    if one_algorithm(ahead, behind):
        return f"its tours are of one length, so that it is the same as {plan_of(behind)}"
    fewer = f"{100 * less:.1f} % fewer slots than" if less >= SEEN else "as many slots as"
    return f"by Theorem 2 for both it needs {fewer} {plan_of(behind)}"


def swings(sync: Forecast, free: Forecast, rate: float) -> str:
    """Of which no theorem warns."""
    return (
        f"But with a learning rate of {rate:g} it may swing: by a quadratic with this L, Async is "
        f"stable up to {free.stable_rate:.2g}, Sync up to {sync.stable_rate:.2g}. Simulate both."
    )


def one_algorithm(one: Forecast, other: Forecast) -> bool:
    """On tours of one length nobody waits."""
    return one.objective == other.objective and len(set(one.tours.slots)) == 1


def best(forecasts: Sequence[Forecast], algorithm: Algorithm) -> Forecast:
    """Its plan with the fewest slots."""
    own = [each for each in forecasts if each.algorithm == algorithm]
    return min(own, key=lambda each: (each.slots, each.bound.delay))


def plan_of(one: Forecast) -> str:
    return f"{NAMES[one.algorithm]} on the {one.objective} plan"
