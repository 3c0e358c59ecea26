"""What to fly: always a row of the table, by its trial if there was one, else stability first."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from flexpress import InputError
from flexpress.scenario import Algorithm, Objective
from flexpress.theory import Advice, Constants, Forecast, RoundTrips, Trial, advise, forecast
from flexpress.theory.advice import WORTH

BOTH: tuple[Algorithm, ...] = ("sync", "async")
OBJECTIVES: tuple[Objective, ...] = ("minmax", "sws", "total")

VALLEY: dict[Objective, RoundTrips] = {  # as `bound valley` plans and measures it, by whole slots
    "minmax": RoundTrips((4, 5, 3), (8, 7, 5)),
    "sws": RoundTrips((5, 4, 3), (8, 6, 4)),
    "total": RoundTrips((10, 2), (9, 3)),
}
VALLEY_CONSTANTS = Constants(
    smoothness=82.1, gradient=8.6, noise=5.47, start_gap=2.31, start_gradient=0.0654
)
VALLEY_RATE = 0.05


def table(
    constants: Constants, plans: dict[Objective, RoundTrips], head_start: float = 0.0
) -> list[Forecast]:
    return [
        forecast(
            constants,
            plans[objective],
            objective=objective,
            algorithm=algorithm,
            horizon=1000,
            target=0.1 * constants.start_gradient,
            head_start=head_start,
        )
        for objective in OBJECTIVES
        if objective in plans
        for algorithm in BOTH
    ]


def trials(sync: float | None, free: float | None, slots: int = 400) -> list[Trial]:
    return [Trial("sync", "minmax", slots, sync), Trial("async", "sws", slots, free)]


def valley(sync: float | None, free: float | None) -> Advice:
    return advise(table(VALLEY_CONSTANTS, VALLEY), VALLEY_RATE, trials(sync, free))


def test_valley() -> None:
    """What version 0.6.1 sent up in Async, for 16.3 % fewer slots."""
    rows = table(VALLEY_CONSTANTS, VALLEY)
    bounds = {(row.algorithm, row.objective): row.bound.total for row in rows}
    assert bounds["sync", "minmax"] < bounds["async", "sws"]
    found = advise(rows, VALLEY_RATE)
    assert (found.algorithm, found.objective, found.decided_by) == ("sync", "minmax", "stability")
    assert found.sentence == (
        "Fly FedEx-Sync on the minmax plan: by a quadratic with this L, FedEx-Async is stable up "
        "to a learning rate of 0.0031, FedEx-Sync up to 0.012, and it is 0.05. "
        "This was not tried: simulate both."
    )
    found = valley(0.537, 0.547)
    assert (found.algorithm, found.objective, found.decided_by) == ("sync", "minmax", "trial")
    assert found.sentence == (
        "Fly FedEx-Sync on the minmax plan: tried for 400 slots at learning rate 0.05, it had a "
        "mean accuracy of 53.7%, FedEx-Async on the sws plan one of 54.7%: no difference worth "
        "naming, and with Sync all land together."
    )


def test_who_is_clearly_ahead_is_flown() -> None:
    found = valley(0.599, 0.501)
    assert (found.algorithm, found.objective) == ("sync", "minmax")
    assert "it had a mean accuracy of 59.9%, FedEx-Async on the sws plan one of 50.1%." in (
        found.sentence
    )
    found = valley(0.501, 0.599)
    assert (found.algorithm, found.objective) == ("async", "sws")
    assert "it had a mean accuracy of 59.9%, FedEx-Sync on the minmax plan one of 50.1%." in (
        found.sentence
    )
    assert found.sentence.endswith(
        "By a quadratic with this L it is stable up to 0.0031 only: lower the rate if the loss "
        "begins to swing."
    )


def test_what_diverges_is_not_flown() -> None:
    found = valley(0.1, None)
    assert found.algorithm == "sync"
    assert found.sentence.endswith("FedEx-Async on the sws plan diverged.")
    assert valley(None, 0.1).algorithm == "async"


def pair(without: float | None, ahead: float | None) -> list[Trial]:
    return [
        Trial("sync", "minmax", 400, without),
        Trial("sync", "minmax", 400, ahead, head_start=0.5),
    ]


@pytest.mark.parametrize(
    ("without", "ahead", "gamma", "sentence"),
    [
        (0.5, 0.6, 0.5, "Fly it with head_start = 0.5: 60.0% with it, 50.0% without."),
        (0.6, 0.5, 0.0, "Fly it with head_start = 0: 60.0%, 50.0% with 0.5."),
        (0.5, None, 0.0, "Fly it with head_start = 0: 50.0%, diverged with 0.5."),
        (0.5, 0.51, 0.0, "no difference worth naming: 51.0% with it, 50.0% without."),
    ],
)
def test_a_head_start_that_was_tried(
    without: float, ahead: float | None, gamma: float, sentence: str
) -> None:
    rows = table(VALLEY_CONSTANTS, VALLEY)
    found = advise(rows, VALLEY_RATE, trials(0.5, 0.5), pair(without, ahead))
    assert found.head_start == gamma
    assert found.head_start_sentence.endswith(sentence)
    assert found.sentence == advise(rows, VALLEY_RATE, trials(0.5, 0.5)).sentence


def test_a_head_start_that_was_not_tried() -> None:
    """By the larger root of z^2 + (gamma a - 1) z + (1 - gamma) a, for Sync."""
    rows = table(VALLEY_CONSTANTS, VALLEY)
    damped = advise(rows, VALLEY_RATE, smoothness=VALLEY_CONSTANTS.smoothness)
    assert damped.head_start == 0.5
    assert damped.head_start_sentence == (  # eta L is above 1: a = 1, roots 1 and sqrt(1/2)
        "Fly it with head_start = 0.5: by a quadratic with this L, a tour leaves 0.71 of a "
        "deviation, not 1.00. This was not tried."
    )
    slow = advise(rows, 1e-5, smoothness=VALLEY_CONSTANTS.smoothness)
    assert slow.head_start == 0
    assert slow.head_start_sentence.startswith("A head_start = 0.5 damps no more: by a quadratic")


def test_with_a_head_start_both_are_as_stable() -> None:
    """Up to 1/L, beyond which nobody looks: that is no reason against Async."""
    constants = replace(VALLEY_CONSTANTS, dissimilarity=2.0)
    rows = table(constants, VALLEY, head_start=0.5)
    assert {row.stable_rate for row in rows} == {1 / constants.smoothness}
    found = advise(rows, VALLEY_RATE, smoothness=constants.smoothness)
    assert (found.algorithm, found.objective, found.decided_by) == ("async", "sws", "bound")
    assert found.sentence == (
        "Fly FedEx-Async on the sws plan: by a quadratic with this L, both are stable up to 0.012, "
        "and by Theorem 2 for both it needs 16.4 % fewer slots than FedEx-Sync on the minmax plan. "
        "This was not tried: simulate both."
    )
    assert found.head_start == 0.5
    assert found.head_start_sentence.startswith("Fly it with head_start = 0.5: by a quadratic")
    slow = advise(rows, 0.01)
    assert "Fly FedEx-Async on the sws plan: learning rate 0.01 is stable, and by" in slow.sentence
    tried = advise(rows, VALLEY_RATE, trials(0.5, 0.6))
    assert tried.algorithm == "async"
    assert tried.sentence.endswith("FedEx-Sync on the minmax plan one of 50.0%.")  # no warning


def test_the_present_head_start_stays_if_it_makes_no_difference() -> None:
    constants = replace(VALLEY_CONSTANTS, dissimilarity=2.0)
    rows = table(constants, VALLEY, head_start=0.5)
    found = advise(rows, VALLEY_RATE, trials(0.5, 0.5), pair(0.5, 0.49))
    assert found.head_start == 0.5
    found = advise(rows, VALLEY_RATE, trials(0.5, 0.5), pair(0.5, 0.45))
    assert found.head_start == 0
    assert found.head_start_sentence == "Fly it with head_start = 0: 50.0%, 45.0% with 0.5."


def test_tours_of_one_length_need_no_trial() -> None:
    """Of whichever plan: who lands with all others waits for nobody."""
    plans: dict[Objective, RoundTrips] = {
        "minmax": RoundTrips((10, 20), (7, 7)),
        "sws": RoundTrips((15, 15), (6, 8)),
    }
    found = advise(table(VALLEY_CONSTANTS, plans), VALLEY_RATE)
    assert (found.algorithm, found.objective, found.decided_by) == ("sync", "minmax", "tours")
    assert found.sentence == (
        "Fly FedEx-Sync on the minmax plan: on tours of one length FedEx-Async is the same "
        "algorithm."
    )


def test_a_rate_that_is_stable_lets_the_bound_decide() -> None:
    """Where delay dominates, slots grow as its root: 1 - 6.53 / 8 = 18 %; noise takes some off."""
    rows = table(VALLEY_CONSTANTS, VALLEY)
    found = advise(rows, 0.003)
    assert (found.algorithm, found.objective, found.decided_by) == ("async", "sws", "bound")
    assert "learning rate 0.003 is stable, and by Theorem 2 for both it needs 1" in found.sentence
    assert "% fewer slots than FedEx-Sync on the minmax plan" in found.sentence
    assert found.sentence.endswith("This was not tried: simulate both.")


def test_a_difference_that_rounds_to_nothing_is_none() -> None:
    rows = table(VALLEY_CONSTANTS, {"sws": RoundTrips((1, 9999), (6, 7))})
    assert rows[1].slots_alike < rows[0].slots_alike
    found = advise(rows, 1e-6)
    assert (found.algorithm, found.decided_by) == ("sync", "bound")


@pytest.mark.parametrize("given", [["sync"], ["async"], ["sync", "sync"]])
def test_trials_of_both_or_none(given: list[Algorithm]) -> None:
    some = [Trial(each, "sws", 400, 0.5) for each in given]
    with pytest.raises(InputError, match="must be one of sync and one of async, or none"):
        advise(table(VALLEY_CONSTANTS, VALLEY), 0.05, some)


@pytest.mark.parametrize("tables", [10, pytest.param(100, marks=pytest.mark.slow)])
def test_advice_agrees_with_the_table_and_with_stability(tables: int) -> None:
    """Over random plans, constants, rates and trials."""
    rng = np.random.default_rng(16)
    seen: set[tuple[str, str]] = set()
    for _ in range(tables):
        rows = random_table(rng)
        for _ in range(30):
            rate, tried = random_trials(rng, rows)
            found = advise(rows, rate, tried)
            seen.add((found.decided_by, found.algorithm))
            (row,) = [each for each in rows if name(each) == (found.algorithm, found.objective)]
            own = [each.bound.total for each in rows if each.algorithm == found.algorithm]
            # Of its algorithm the best plan; a longer first tour also means that noise comes later.
            assert row.bound.total <= 1.02 * min(own)
            check(found, row, rows, rate, tried)
    trial, theory = {("trial", each) for each in BOTH}, {("stability", "sync"), ("bound", "async")}
    assert {("tours", "sync"), *trial, *theory} <= seen


def name(row: Forecast) -> tuple[Algorithm, Objective]:
    return row.algorithm, row.objective


def check(
    found: Advice, row: Forecast, rows: list[Forecast], rate: float, tried: list[Trial]
) -> None:
    if found.decided_by == "trial":
        one, other = (
            {trial.algorithm: trial.accuracy or 0.0 for trial in tried}[each] for each in BOTH
        )
        assert (found.algorithm == "async") == (other - one >= WORTH)
    elif found.algorithm == "async":
        assert rate <= row.stable_rate  # by theory alone: never what swings
        assert row.slots_alike < min(each.slots_alike for each in rows if each.algorithm == "sync")


def random_table(rng: np.random.Generator) -> list[Forecast]:
    """Of fleets of one to four; of one, both algorithms are the same."""
    fleet = int(rng.integers(1, 4, endpoint=True))
    clients = tuple(rng.integers(1, 12, fleet).tolist())
    plans: dict[Objective, RoundTrips] = {
        objective: RoundTrips(clients, tuple(np.round(rng.uniform(2, 12, fleet)).tolist()))
        for objective in OBJECTIVES
    }
    smoothness, gradient, noise = np.exp(rng.uniform(-2, 4, 3)).tolist()
    return table(Constants(smoothness, gradient, noise, 2.3, 0.1), plans)


def random_trials(rng: np.random.Generator, rows: list[Forecast]) -> tuple[float, list[Trial]]:
    """A learning rate around what is stable, and what came of it."""
    rate = rows[1].stable_rate * float(np.exp(rng.uniform(-3, 3)))
    if rng.random() < 0.3:
        return rate, []
    sync = float(rng.uniform(0.1, 0.9))
    free = None if rng.random() < 0.1 else float(np.clip(sync + rng.normal(0, 0.03), 0, 1))
    return rate, trials(sync, free)
