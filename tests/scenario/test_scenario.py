"""The scenario as other rooms see it: defaults, derived values, replace, equality."""

from __future__ import annotations

import math
import subprocess
import sys
import tomllib

import pytest
from pydantic import ValidationError

from flexpress.errors import InputError
from flexpress.scenario import DEFAULT_HEAD_START, Scenario

SMALL: dict[str, object] = {
    "network": {"server": [0.0, 0.0], "clients": [[3.0, 0.0], [3.0, 4.0]]},
    "fleet": {"speeds": [1.0, 2.0]},
    "link": {"transfer_time": 1.0},
}


@pytest.fixture
def small() -> Scenario:
    return Scenario.from_dict(SMALL)


def test_defaults(small: Scenario) -> None:
    assert (small.name, small.seed, small.slot) == ("scenario", 0, 60.0)
    assert (small.plan.objective, small.plan.solver) == ("sws", "search")
    assert small.client_ids == (1, 2)
    assert [small.flight_power(k) for k in range(2)] == [30.0, 30.0]
    assert (small.hover_power, small.transmit_power) == (20.0, 0.1)
    assert small.budget(1) == math.inf
    assert (small.run.algorithm, small.run.clock) == ("sync", "slots")
    assert (small.run.head_start, small.run.preloaded) == (DEFAULT_HEAD_START, False) == (0.5, 0)


def test_a_section_run_without_a_head_start_has_the_usual_one(small: Scenario) -> None:
    """Zero is as good as any other value, and is kept."""
    assert small.replace(run={"horizon": 7}).run.head_start == 0.5
    without = small.replace(run={"head_start": 0})
    assert without.replace(run={"horizon": 7}).run.head_start == 0
    assert Scenario.from_dict(tomllib.loads(without.to_toml())) == without
    assert without.replace(run={"head_start": None}) == small
    assert without != small


def test_what_the_planner_reads() -> None:
    scenario = Scenario.preset("valley")
    assert scenario.num_transporters == 3
    assert scenario.speeds == (14.0, 10.0, 8.0)
    assert [scenario.budget(k) for k in range(3)] == [15e3, 12e3, 8e3]
    assert scenario.client_ids[:2] == ("mouth", "bridge")


def test_the_three_links() -> None:
    assert Scenario.preset("four").transfer_time == 1.0
    assert Scenario.preset("paper-50mbit").transfer_time == 16.0  # 8e8 bit at 5e7 bit/s
    assert Scenario.preset("paper").transfer_time == pytest.approx(6.176, abs=5e-4)


def test_flight_power_follows_the_speed() -> None:
    scenario = Scenario.preset("coast")
    # 25 m/s: 9.26e-4 * 15625 + 2250 / 25 = 14.46875 + 90; 30 m/s: 25.002 + 75
    assert scenario.flight_power(0) == pytest.approx(104.46875)
    assert scenario.flight_power(1) == pytest.approx(100.002)


def test_transmit_power_comes_from_the_link_if_it_is_given_there() -> None:
    louder = Scenario.preset("paper").replace(link={"transmit_power": "30 dBm"})
    assert louder.transmit_power == pytest.approx(1.0)


def test_transmit_power_given_twice_alike_is_accepted() -> None:
    scenario = Scenario.preset("paper").replace(power={"transmit": "100 mW"})
    assert scenario.transmit_power == pytest.approx(0.1)


def test_replace_merges_into_a_section(small: Scenario) -> None:
    changed = small.replace(fleet={"budgets": ["1 kJ", 2000]}, seed=3)
    assert changed.fleet.budgets == (1000.0, 2000.0)
    assert changed.speeds == small.speeds
    assert changed.seed == 3
    assert small.fleet.budgets is None


def test_replace_takes_keys_and_sections_away() -> None:
    valley = Scenario.preset("valley")
    assert valley.replace(fleet={"budgets": None}).budget(0) == math.inf
    assert valley.replace(plan=None, power=None).plan.objective == "sws"
    rate = valley.replace(link={"transfer_time": None, "rate": 8, "model_size": 2})
    assert rate.transfer_time == 2.0


def test_replace_checks_again_and_names_the_scenario() -> None:
    with pytest.raises(InputError, match=r"^four: fleet.budgets = \[1.0\]: 1 budgets for 2 speeds"):
        Scenario.preset("four").replace(fleet={"budgets": [1.0]})


def test_equality_and_hash_are_by_content(small: Scenario) -> None:
    other = Scenario.from_dict(SMALL)
    assert small.positions is not other.positions  # both computed, yet left out of the comparison
    assert small == other
    assert hash(small) == hash(other)
    assert small != small.replace(seed=1)
    assert small != "scenario"


def test_a_scenario_is_frozen(small: Scenario) -> None:
    with pytest.raises(ValidationError):
        small.seed = 1


def test_the_room_loads_no_heavy_package() -> None:
    code = (
        "import sys, flexpress.scenario; "
        "print([m for m in ('numba', 'matplotlib', 'typer', 'rich', 'torch') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
