"""FedEx-Sync with gamma = 1: the models of an ideal link, one tour later. By algebra and simulator.

With x_r on tour r, client i starts from b_{r,i} = x_r - u_{r-1,i} and trains to phi_r(b_{r,i}); the
server then has x_{r+1} = x_r - mean_i u_{r-1,i}, which is the mean of the b_{r,i}. If clients are
equal, all of them start from x_{r+1}, and x_{r+2} = phi_r(x_{r+1}), as over a link. The same holds
for the means if phi_r is linear with the same curvature for all: then clients may differ in their
centres and in the noise of their gradients.

With x^0 on board client i has done s_i steps when it is first met, so x_1 is not x_0 but the mean
of what they have reached by then; from there on x_{r+2} = phi_r(x_{r+1}) as before. If all are met
in slot 0, it changes nothing; if all are met in slot s, the models are those of a link after s
steps more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from fleets import Fleet, plan_of, random_fleet
from quadratic import MOST_STEPS, FloatArray, Quadratic
from runs import assert_equal_models, run, timetables

from flexpress.scenario import Scenario

Draw = Callable[[Fleet, int], Quadratic]

SEEDS = range(40)


def with_full_head_start(fleet: Fleet, *, preloaded: bool = False) -> Fleet:
    """For three tours or more."""
    run = {"head_start": 1.0, "preloaded": preloaded}
    horizon = max(fleet.horizon, 3 * max(fleet.slots))
    return Fleet(fleet.scenario.replace(run=run), fleet.plan, horizon)


def equal(fleet: Fleet, seed: int) -> Quadratic:
    """One loss and one noise for all."""
    learner = Quadratic.drawn(fleet.scenario.client_ids, seed)
    for array in (learner.curvatures, learner.centres, learner.noise):
        array[:] = array[:1].copy()
    return learner


def equally_curved(fleet: Fleet, seed: int) -> Quadratic:
    """One curvature for all; centres and noise differ."""
    learner = Quadratic.drawn(fleet.scenario.client_ids, seed)
    learner.curvatures[:] = learner.curvatures[:1].copy()
    return learner


def noiseless(learner: Quadratic) -> Quadratic:
    return replace(learner, noise=0 * learner.noise)


@pytest.mark.parametrize("clients", [equal, equally_curved])
def test_the_models_of_an_ideal_link_one_tour_later(clients: Draw) -> None:
    """At every slot, by the simulator on both sides."""
    landings = 0
    for seed in SEEDS:
        fleet = with_full_head_start(random_fleet(seed))
        learner, delta = clients(fleet, seed), max(fleet.slots)
        found = run(fleet, learner, "sync").models(fleet.horizon)
        ideal = run(fleet, learner, "direct").models(fleet.horizon)
        assert_equal_models(found[delta:], ideal[:-delta])
        assert_equal_models(found[:delta], np.broadcast_to(ideal[0], found[:delta].shape))
        landings += len(found[2 * delta :: delta])
    assert landings > 100


def test_the_exact_clock_where_tours_take_whole_slots() -> None:
    """Else the clients' tours do not have the same number of steps as the link's."""
    for seed in (seed for seed in SEEDS if seed % 3):  # their seconds are exact
        fleet = random_fleet(seed).with_clock("exact")
        longest = max(tour.round_trip for tour in fleet.plan.transporters)
        scenario = fleet.scenario.replace(slot=longest / 4)
        tours = [tuple(map(scenario.client_ids.index, k.clients)) for k in fleet.plan.transporters]
        plan = plan_of(scenario, [[i + 1 for i in tour] for tour in tours])
        fleet = with_full_head_start(Fleet(scenario, plan, 24))
        learner = equal(fleet, seed)
        found, ideal = (run(fleet, learner, a).models_by_seconds(24) for a in ("sync", "direct"))
        assert_equal_models(found[4:], ideal[:-4])


@pytest.mark.parametrize("preloaded", [False, True])
def test_the_closed_form(preloaded: bool) -> None:
    """x_{r+1} = c + P^{r Delta} (x_1 - c), P = 1 - eta A, c the mean of the centres.

    x_1 is x_0; with x^0 on board, the mean of c_i + P^{s_i} (x_0 - c_i).
    """
    spread = False
    for seed in SEEDS:
        fleet = with_full_head_start(random_fleet(seed), preloaded=preloaded)
        learner, delta = noiseless(equally_curved(fleet, seed)), max(fleet.slots)
        met = dict(visit for times in timetables(fleet) for visit in times.visits())
        steps = [int(met[i]) for i in fleet.scenario.client_ids]
        first = mean_after(learner, steps) if preloaded else learner.start
        centre = learner.centres.mean(axis=0)
        models = run(fleet, learner, "sync").models(fleet.horizon)
        for r, model in enumerate(models[delta::delta]):
            expected = centre + power(learner, r * delta) @ (first - centre)
            assert_equal_models(model, expected)
        spread |= len(set(steps)) > 2
    assert spread == preloaded


def power(learner: Quadratic, steps: int) -> FloatArray:
    """P^steps of the first client."""
    curvature = learner.curvatures[0]
    eigenvalues, vectors = np.linalg.eigh(curvature)
    shrunk: FloatArray = (vectors * (1 - learner.learning_rate * eigenvalues) ** steps) @ vectors.T
    return shrunk


def mean_after(learner: Quadratic, steps: list[int]) -> FloatArray:
    """The mean of where clients are after so many steps each, without a restart."""
    places = [
        centre + power(learner, number) @ (learner.start - centre)
        for centre, number in zip(learner.centres, steps, strict=True)
    ]
    mean: FloatArray = np.mean(places, axis=0)
    return mean


def near_the_server(distance: float) -> Fleet:
    """Two clients that are met after `distance` seconds; transfers take long, tours 5 slots."""
    scenario = Scenario.from_dict(
        {
            "slot": 10.0,
            "network": {"server": [0, 0], "clients": [[distance, 0], [-distance, 0]]},
            "fleet": {"speeds": [1.0, 1.0]},
            "link": {"transfer_time": 48.0 - 2 * distance},
        }
    )
    return Fleet(scenario, plan_of(scenario, [[1], [2]]), 40)


@pytest.mark.parametrize("gamma", [0.0, 0.4, 1.0])
def test_clients_that_are_met_at_the_very_start(gamma: float) -> None:
    """They have nothing to hand over yet: x^0 on board saves nothing. The models are the same."""
    fleet = near_the_server(4.0)
    learner = Quadratic.drawn(fleet.scenario.client_ids, 3)
    scenarios = (
        fleet.scenario.replace(run={"head_start": gamma, "preloaded": preloaded})
        for preloaded in (False, True)
    )
    plain, preloaded = (run(replace(fleet, scenario=s), learner, "sync") for s in scenarios)
    assert np.array_equal(plain.models(40), preloaded.models(40))
    assert len(preloaded.trace.updates) == len(plain.trace.updates) + 1


@pytest.mark.parametrize("slot", [1, 2])
def test_equal_clients_that_are_met_in_one_slot(slot: int) -> None:
    """The first landing brings `slot` steps: the models of one long descent, so many steps on."""
    fleet = with_full_head_start(near_the_server(10.0 * slot), preloaded=True)
    learner = equal(fleet, 5)
    models = run(fleet, learner, "sync").models(fleet.horizon)
    x, descent = learner.start, [learner.start]
    for step in range(MOST_STEPS // 2):
        x = x - learner.learning_rate * learner.gradient(learner.client_ids[0], x, step)
        descent.append(x)
    for r, model in enumerate(models[5::5]):
        assert_equal_models(model, descent[5 * r + slot])
