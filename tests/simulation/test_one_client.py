"""One client, one transporter, f(x) = a/2 (x - c)^2: models that a pencil can write down.

Delta steps from x leave q = (1 - eta a)^Delta of the offset y = x - c, so one round takes p = 1 - q
of the offset that the model had two rounds before its landing:

    y_{r+1} = y_r - p y_{r-1},  y_0 = y_1,

which lambda^2 - lambda + p = 0 solves: y_r = y_0 (lambda_1^{r+1} - lambda_2^{r+1}) / (lambda_1 -
lambda_2), as lambda_1 + lambda_2 = 1.

With a head start a round begins with b_r = y_r - gamma u_{r-1}, takes u_r = p b_r of it, and
y_{r+1} = y_r - u_{r-1}, so that

    y_{r+2} = (1 - gamma p) y_{r+1} - (1 - gamma) p y_r,  y_0 = y_1,

or y_1 = (1 - eta a)^s y_0 if the client has x^0 on board and is met after s steps.
"""

from __future__ import annotations

import cmath
from dataclasses import replace

import numpy as np
import pytest
from fleets import Fleet, plan_of
from quadratic import Quadratic
from runs import run

from flexpress.scenario import Algorithm, Clock, Scenario

CENTRE, START = 3.0, 11.0


def one_client(delta: int, clock: Clock = "slots", num_rounds: int = 12) -> Fleet:
    """A way of 30 m at 1 m/s, and back; a slot is such that this takes `delta` of them."""
    scenario = Scenario.from_dict(
        {
            "slot": 64.0 / delta,
            "network": {"server": [0, 0], "clients": [[30, 0]], "ids": ["weir"]},
            "fleet": {"speeds": [2.0, 1.0, 5.0]},
            "link": {"transfer_time": 4.0},
            "run": {"clock": clock, "head_start": 0.0},
        }
    )
    return Fleet(scenario, plan_of(scenario, [[], [1], []]), num_rounds * delta)


def changed(fleet: Fleet, **run: object) -> Fleet:
    return replace(fleet, scenario=fleet.scenario.replace(run=run))


def scalar(rate: float) -> Quadratic:
    """eta a = rate, with a = 2."""
    return Quadratic(
        ["weir"],
        curvatures=np.array([[[2.0]]]),
        centres=np.array([[CENTRE]]),
        noise=np.zeros((1, 400, 1)),
        learning_rate=rate / 2,
        start=np.array([START]),
    )


def offsets(fleet: Fleet, learner: Quadratic, algorithm: Algorithm, delta: int) -> list[float]:
    """y_0, y_1, ... in units of y_0, at the ends of rounds; between them nothing may change."""
    models = run(fleet, learner, algorithm).models(fleet.horizon)[:, 0]
    rounds = models[::delta]
    assert np.array_equal(models, np.repeat(rounds, delta)[: len(models)])
    return list((rounds - CENTRE) / (START - CENTRE))


@pytest.mark.parametrize("clock", ["slots", "exact"])
@pytest.mark.parametrize("algorithm", ["sync", "async"])
@pytest.mark.parametrize("delta", [1, 2, 4, 8])
@pytest.mark.parametrize("rate", [0.01, 0.1, 0.5, 1.2])
def test_the_recurrence(rate: float, delta: int, algorithm: Algorithm, clock: Clock) -> None:
    p = 1 - (1 - rate) ** delta
    root = cmath.sqrt(1 - 4 * p)
    one, two = (1 + root) / 2, (1 - root) / 2
    expected = [((one ** (r + 1) - two ** (r + 1)) / root).real for r in range(13)]
    found = offsets(one_client(delta, clock), scalar(rate), algorithm, delta)
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("algorithm", ["sync", "async"])
def test_the_double_root(algorithm: Algorithm) -> None:
    """p = 1/4: y_r = (r + 1) / 2^r."""
    found = offsets(one_client(1), scalar(0.25), algorithm, 1)
    assert found == [(r + 1) / 2**r for r in range(13)]


@pytest.mark.parametrize("algorithm", ["sync", "async"])
def test_the_circle(algorithm: Algorithm) -> None:
    """p = 1: y_{r+1} = y_r - y_{r-1}, which comes back every six rounds."""
    found = offsets(one_client(1), scalar(1.0), algorithm, 1)
    assert found == [1, 1, 0, -1, -1, 0, 1, 1, 0, -1, -1, 0, 1]


@pytest.mark.parametrize("delta", [1, 2, 4, 8])
def test_the_ideal_link_is_plain_descent(delta: int) -> None:
    found = offsets(one_client(delta), scalar(0.1), "direct", delta)
    assert found == pytest.approx([0.9 ** (delta * r) for r in range(13)], rel=1e-12)


@pytest.mark.parametrize("preloaded", [False, True])
@pytest.mark.parametrize("clock", ["slots", "exact"])
@pytest.mark.parametrize("algorithm", ["sync", "async"])
@pytest.mark.parametrize("delta", [1, 4, 8])
@pytest.mark.parametrize("rate", [0.01, 0.5, 1.2])
@pytest.mark.parametrize("gamma", [0.0, 0.3, 1.0])
def test_a_head_start(
    gamma: float, rate: float, delta: int, algorithm: Algorithm, clock: Clock, preloaded: bool
) -> None:
    """After 30 s of 64 the client with x^0 on board has done floor(30 delta / 64) steps."""
    p = 1 - (1 - rate) ** delta
    expected = [1.0, (1 - rate) ** (30 * delta // 64) if preloaded else 1.0]
    for _ in range(11):
        expected.append((1 - gamma * p) * expected[-1] - (1 - gamma) * p * expected[-2])
    fleet = changed(one_client(delta, clock), head_start=gamma, preloaded=preloaded)
    found = offsets(fleet, scalar(rate), algorithm, delta)
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)
