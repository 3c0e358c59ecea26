"""The scenarios that come with the package."""

from __future__ import annotations

import re
import tomllib

import numpy as np
import pytest

from flexpress.errors import InputError
from flexpress.planning import make_plan
from flexpress.scenario import DEFAULT_HEAD_START, Scenario, preset_names, preset_text


def test_names() -> None:
    papers = ["paper", "paper-50mbit", "paper-svhn"]
    assert preset_names() == ["alps", "coast", "four", *papers, "remote", "valley"]


@pytest.mark.parametrize("name", preset_names())
def test_every_preset_loads_and_is_named_after_its_file(name: str) -> None:
    assert Scenario.preset(name).name == name


@pytest.mark.parametrize("name", preset_names())
def test_only_the_seed_is_substituted(name: str) -> None:
    before, after = tomllib.loads(preset_text(name)), tomllib.loads(preset_text(name, seed=42))
    assert after == {**before, "seed": 42}
    assert Scenario.preset(name, seed=42).seed == 42


def test_the_text_keeps_its_comments() -> None:
    assert preset_text("paper", seed=3).startswith("# The network of the FedEx paper")


def test_the_papers_numbers() -> None:
    paper = Scenario.preset("paper")
    assert paper.speeds == (10.0,) * 4
    assert paper.fleet.budgets == (15e3,) * 4
    assert (paper.flight_power(0), paper.hover_power, paper.transmit_power) == (30.0, 20.0, 0.1)
    assert paper.slot == 60.0


@pytest.mark.parametrize("name", preset_names())
def test_the_paper_has_no_head_start_and_all_others_have_the_usual_one(name: str) -> None:
    """Each of them says so, with a comment."""
    gamma = 0.0 if name.startswith("paper") else DEFAULT_HEAD_START
    assert Scenario.preset(name).run.head_start == gamma
    assert not Scenario.preset(name).run.preloaded
    (line,) = (line for line in preset_text(name).splitlines() if line.startswith("head_start"))
    assert re.fullmatch(rf"head_start = {gamma:g} +# .*paper.*", line)


def test_the_two_papers_differ_in_the_link_alone() -> None:
    paper, fixed_rate = Scenario.preset("paper"), Scenario.preset("paper-50mbit")
    assert paper.network == fixed_rate.network
    assert paper.fleet == fixed_rate.fleet
    assert paper.transmit_power == fixed_rate.transmit_power


def test_the_alps_are_flown_within_budgets_and_around_the_zones() -> None:
    alps = Scenario.preset("alps")
    plan = make_plan(alps, seed=0)
    energies = [tour.energy for tour in plan.transporters]
    assert alps.fleet.budgets is not None
    shares = [spent / budget for spent, budget in zip(energies, alps.fleet.budgets, strict=True)]
    assert plan.feasible
    assert min(shares) > 0.6
    assert any(tour.corners for tour in plan.transporters)
    free = make_plan(alps.replace(network={"no_fly": None, "no_fly_margin": None}), seed=0)
    assert plan.cost > 1.05 * free.cost


def test_a_remote_group_makes_one_tour_much_longer() -> None:
    remote = Scenario.preset("remote")
    plan = make_plan(remote, iterations=3000, seed=0)
    *others, longest = sorted(tour.round_trip for tour in plan.transporters)
    assert longest > 1.8 * max(others)
    distances = np.hypot(*(remote.positions[1:] - remote.positions[0]).T)
    assert sorted(distances > 2000.0) == [False] * 30 + [True] * 10


@pytest.mark.parametrize("name", preset_names())
def test_every_preset_says_how_high_to_fly(name: str) -> None:
    assert Scenario.preset(name).flight_altitude is not None


def test_the_alps_say_how_high_everything_is() -> None:
    alps = Scenario.preset("alps")
    assert alps.flight_altitude == 1500.0
    assert alps.server_altitude == 2061.0
    assert alps.client_altitudes[0] == 2225.0
    assert np.hypot(*alps.positions.T).max() < 8_000


def test_unknown_preset_lists_the_names_and_the_nearest() -> None:
    with pytest.raises(InputError) as caught:
        Scenario.preset("vally")
    expected = (
        'no preset "vally" (did you mean "valley"?); '
        "there are: alps, coast, four, paper, paper-50mbit, paper-svhn, remote, valley"
    )
    assert str(caught.value) == expected


def test_a_preset_name_is_no_path() -> None:
    with pytest.raises(InputError, match="no preset"):
        preset_text("../presets/four")


def test_negative_seed() -> None:
    with pytest.raises(InputError, match="seed = -1: must be a whole number from 0 to"):
        preset_text("paper", seed=-1)
