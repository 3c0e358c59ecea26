"""Steps of the paper's proofs: one that is not true, those that stand in for it, what they need."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor
from typing import Any

import hard_cases as hard
import numpy as np
import pytest
from bound_cases import KINDS, Case, random_case
from noises import Arrow
from numpy.typing import NDArray
from shapes import Array
from sides import ROUNDING, deviations, drift, running_means, square, theorem1, verdict

from flexpress.theory import Constants

Z = deviations(num_comparisons=10**6)


def random_cases() -> Iterator[Case]:
    for i in range(20):
        yield random_case(np.random.default_rng([9, i]), KINDS[i % 5], 32, longest=8)


def test_a_client_may_move_farther_in_a_tour_than_its_steps_go() -> None:
    """Theorem 1 is proved by E|x_i^t - x_i^{t-Delta}|^2 <= eta^2 G^2 Delta^2: 49/9 is not <= 4.

    Three clients, Delta = 2, eta = L = G = 1. The first stays on its hilltop at 0 for two rounds;
    the others bring x^4 to -4/3, from where the first steps on to -7/3.
    """
    run = hard.hill(delta=2, num_clients=3, start=0.0).run("sync")
    constants = run.problem.constants
    assert (constants.smoothness, constants.gradient) == (1, 1)
    assert run.local[3, 0, 0, 0] == 0
    assert run.local[5, 0, 0, 0] == pytest.approx(-7 / 3)


def test_nearly_three_times_as_far() -> None:
    """Of Delta steps; it cannot be more than 3 Delta - 2."""
    run = hard.hill(delta=50, num_clients=50, start=47.0).run("sync")
    moved = np.sqrt(square(run.local[50:] - run.local[:-50]).max())
    assert 146 - 1e-9 <= moved <= 148


def test_what_stands_in_for_that_step() -> None:
    """x^t = v^{t-Delta} of the proof and x_i^{t-Delta}: at most Delta + 2 (t - t') steps apart.

    In the mean over the clients their squares are at most Delta^2 + (t - t')^2, as the distances
    from the clients' own mean add to it only squared.
    """
    for case in random_cases():
        run, delta = case.run("sync"), max(case.periods)
        apart = square(run.virtual[:, np.newaxis] - run.local)
        since = np.arange(float(len(apart))) % delta
        one, mean = drift(run) * (delta + 2 * since) ** 2, drift(run) * (delta**2 + since**2)
        every = np.broadcast_to(one[:, np.newaxis], apart.shape[:2])
        assert verdict(apart, every, Z).excess <= 1 + ROUNDING
        assert verdict(apart.mean(axis=1), mean, Z).excess <= 1 + ROUNDING


@pytest.mark.parametrize(("sequence", "factor"), [("averaged", 2.0), ("real", 3.25)])
def test_theorem1_with_smaller_factors(sequence: str, factor: float) -> None:
    """Before the delay term 10 is more than is needed; docs/theory.md has the proofs."""
    for case in random_cases():
        run, delta = case.run("sync"), max(case.periods)
        horizons = np.arange(delta + 1.0, case.num_slots + 1)
        flown = (horizons - delta) / horizons
        delay = drift(run) * (run.problem.smoothness * delta) ** 2
        right = theorem1(run, horizons) - (10 - factor) * flown * delay
        left = running_means(run.problem, getattr(run, sequence))[delta:]
        assert verdict(left, right, Z).excess <= 1 + ROUNDING


def test_lemma1_of_the_servers_own_models() -> None:
    """They stand still while a client trains: t - t' steps apart, not 2 (t - t')."""
    for case in random_cases():
        run, delta = case.run("sync"), max(case.periods)
        apart = square(run.real[:, np.newaxis] - run.local)
        since = np.arange(float(len(apart)))[:, np.newaxis] % delta
        steps = np.broadcast_to(since, apart.shape[:2])
        moved = steps > 0
        assert np.all(apart[~moved] == 0)
        assert verdict(apart[moved], (drift(run) * steps**2)[moved], Z).excess <= 1 + ROUNDING


def test_lemma1_is_reached_by_models_about_to_be_replaced() -> None:
    """If x_i^t is the model that client i hands over at t: 2 Delta (1 - 1/N) steps, of 2 Delta."""
    delta, num = 20, 40
    run = hard.one_against_all(delta, num).run("sync")
    t = 3 * delta
    before = run.local[t - 1, 0, 0, 0] + 1  # the first client's next step, of length 1
    for models in (run.real, run.averaged):
        assert before - models[t, 0, 0] == pytest.approx(2 * delta * (1 - 1 / num))


def test_the_first_tour_is_paid_by_the_start() -> None:
    """The last step of why the simplified form holds: for eta L Delta <= 1/sqrt(10) it needs 6.8.

    With q = 0.45 and k = a / (1 - a): what the delay comes to, and the noise beyond sigma^2 / N.
    """
    a = np.linspace(0, 10**-0.5, 1001)
    k, q = a / (1 - a), 0.45
    p = 1 - k / (1 - q)
    assert p.min() > 0
    assert 1 / (1 + k) + a == pytest.approx(1)
    largest = 0.0
    for delta in [1, 2, 3, 4, 5, 7, 10, 30, 100, 1000]:
        distances = np.mean((1 + np.arange(delta) / delta) ** 2)
        delay = (1 + (1 - q) * (1 / p - 1)) / (1 + k) * distances
        noise = (1 - q) / ((q - a) * delta)
        assert noise * a * delta == pytest.approx(q / ((q - a) * (1 + k)) - 1)
        largest = max(largest, (delay + noise).max())
    assert largest == pytest.approx(6.8, abs=0.05)


@dataclass(frozen=True)
class Shared(Arrow):
    """The same for all clients."""

    def draw(self, rng: np.random.Generator, num: tuple[int, int], axes: Array) -> NDArray[Any]:
        return np.repeat(super().draw(rng, (1, num[1]), axes), num[0], axis=0)


def test_clients_must_draw_their_batches_independently() -> None:
    """sigma^2 / N in both theorems needs it, though no assumption says so."""
    case = hard.trembling(num_clients=50, share=0.01, num_slots=400, replicates=100)
    horizon = np.array([400.0])
    for noise, above in ((Shared(1.0), True), (Arrow(1.0), False)):
        run = replace(case, problem=replace(case.problem, noise=noise)).run("sync")
        left = running_means(run.problem, run.real)[-1:]
        assert (verdict(left, theorem1(run, horizon), Z).excess > 1) == above


def test_theorem1_says_nothing_of_the_first_tour() -> None:
    """T > Delta is needed: before, T - Delta is below 0, and so may be the right-hand side."""
    run = hard.slide(delta=10, num_rounds=3, share=1.0).run("sync")
    left = running_means(run.problem, run.real).mean(axis=1)
    horizons = np.arange(1.0, 31)
    above = horizons[left > theorem1(run, horizons)]
    assert above.tolist() == list(range(1, int(above[-1]) + 1))
    assert 1 <= above[-1] < 10


def test_rates_for_which_the_theorems_say_something() -> None:
    """From 1 / (sqrt(10) L Delta) on the delay term alone is G^2, which no gradient exceeds."""
    for case in random_cases():
        constants: Constants = case.problem.constants
        delta = max(case.periods)
        case = replace(
            case,
            problem=replace(
                case.problem, learning_rate=1.0001 / (10**0.5 * constants.smoothness * delta)
            ),
        )
        run = case.run("sync")
        gradients = square(run.problem.gradient(run.real))
        assert gradients.max() <= constants.gradient**2 * (1 + 1e-9)
        horizon = np.array([1e12])
        assert theorem1(run, horizon)[0] > constants.gradient**2


@pytest.mark.parametrize(
    ("period", "most"), [(Fraction(21, 20), 3), (Fraction(63, 10), 13), (Fraction(7), 13)]
)
def test_steps_under_way_on_tours_of_broken_length(period: Fraction, most: int) -> None:
    """By the exact clock more than 2 Delta_k: Lemma 2 needs lengths rounded up to whole slots."""
    assert most_steps_under_way(period, offset=Fraction(1, 1000)) == most
    assert (most > 2 * period) == (period.denominator > 1)
    assert most <= 2 * ceil(period)


def most_steps_under_way(period: Fraction, offset: Fraction) -> int:
    """Steps done when a transporter is about to land, less those of which the server has news.

    A client met at time a has done floor(b) - floor(a) steps at time b. The server has those done
    until the meeting in the tour before.
    """
    most = 0
    for tour in range(1, 200):
        landing, met = (tour + 1) * period, (tour - 1) * period + offset
        most = max(most, (ceil(landing) - 1) - floor(met))
    return most
