"""Text with units -> SI, against values from the units' definitions."""

from __future__ import annotations

import copy
import math
import pickle
import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flexpress import Scenario
from flexpress.scenario import units
from flexpress.scenario.units import _Dimension

DIMENSIONS = [value for value in vars(units).values() if isinstance(value, _Dimension)]
WITH_UNITS = [dimension for dimension in DIMENSIONS if dimension.units]


@pytest.mark.parametrize(
    ("dimension", "text", "expected"),
    [
        (units.LENGTH, "1 km", 1000.0),
        (units.LENGTH, "250 m", 250.0),
        (units.LENGTH, "5 cm", 0.05),
        (units.LENGTH, "100 ft", 30.48),
        (units.LENGTH, "1 mi", 1609.344),
        (units.LENGTH, "2 nmi", 3704.0),
        (units.SPEED, "36 km/h", 10.0),
        (units.SPEED, "12 m/s", 12.0),
        (units.SPEED, "100 mph", 44.704),
        (units.SPEED, "18 kn", 9.26),
        (units.TIME, "1 min", 60.0),
        (units.TIME, "500 ms", 0.5),
        (units.TIME, "2 h", 7200.0),
        (units.TIME, "7 s", 7.0),
        (units.ENERGY, "15 kJ", 15000.0),
        (units.ENERGY, "15 J", 15.0),
        (units.ENERGY, "4 Wh", 14400.0),
        (units.ENERGY, "0.5 MJ", 500000.0),
        (units.ENERGY, "1 kWh", 3.6e6),
        (units.POWER, "20 dBm", 0.1),
        (units.POWER, "0 dBm", 0.001),
        (units.POWER, "-10 dBW", 0.1),
        (units.POWER, "0.1 W", 0.1),
        (units.POWER, "100 mW", 0.1),
        (units.POWER, "2 kW", 2000.0),
        (units.DATA_SIZE, "100 MB", 100e6),
        (units.DATA_SIZE, "1 kB", 1000.0),
        (units.DATA_SIZE, "3 B", 3.0),
        (units.DATA_SIZE, "2 GB", 2e9),
        (units.DATA_SIZE, "1 KiB", 1024.0),
        (units.DATA_SIZE, "1 MiB", 1048576.0),
        (units.DATA_SIZE, "1 GiB", 1073741824.0),
        (units.DATA_SIZE, "8 bit", 1.0),
        (units.DATA_SIZE, "8 kbit", 1000.0),
        (units.DATA_SIZE, "8 Mbit", 1e6),
        (units.DATA_SIZE, "8 Gbit", 1e9),
        (units.DATA_RATE, "50 Mbit/s", 50e6),
        (units.DATA_RATE, "50 Mbps", 50e6),
        (units.DATA_RATE, "9600 bit/s", 9600.0),
        (units.DATA_RATE, "9600 bps", 9600.0),
        (units.DATA_RATE, "3 kbit/s", 3000.0),
        (units.DATA_RATE, "3 kbps", 3000.0),
        (units.DATA_RATE, "1 Gbit/s", 1e9),
        (units.DATA_RATE, "1 Gbps", 1e9),
        (units.DATA_RATE, "1 B/s", 8.0),
        (units.DATA_RATE, "1 kB/s", 8000.0),
        (units.DATA_RATE, "1 MB/s", 8e6),
        (units.DATA_RATE, "1 GB/s", 8e9),
        (units.FREQUENCY, "50 MHz", 50e6),
        (units.FREQUENCY, "5 Hz", 5.0),
        (units.FREQUENCY, "5 kHz", 5000.0),
        (units.FREQUENCY, "2.4 GHz", 2.4e9),
        (units.GAIN, "-50 dB", 1e-5),
        (units.NOISE_DENSITY, "-174 dBm/Hz", 3.981071705534969e-21),
        (units.NOISE_DENSITY, "-204 dBW/Hz", 3.981071705534969e-21),
        (units.NOISE_DENSITY, "4e-21 W/Hz", 4e-21),
    ],
)
def test_every_unit(dimension: _Dimension, text: str, expected: float) -> None:
    assert dimension.parse(text) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize(
    "text", ["36km/h", " 36  km/h ", "36.0 km/h", "3.6e1 km/h", "+36 km/h", "36. km/h"]
)
def test_ways_to_write_the_same(text: str) -> None:
    assert units.SPEED.parse(text) == 10.0


def test_round_values_stay_exact() -> None:
    assert units.SPEED.parse("36 km/h") == 10.0
    assert units.POWER.parse("20 dBm") == 0.1
    assert units.ENERGY.parse("15 kJ") == 15e3


@pytest.mark.parametrize("value", [3, 3.0])
def test_a_bare_number_is_si(value: float) -> None:
    result = units.SPEED.parse(value)
    assert result == 3.0
    assert type(result) is float


@pytest.mark.parametrize("dimension", WITH_UNITS, ids=lambda dimension: dimension.name)
def test_unknown_unit_names_the_value_and_lists_the_allowed(dimension: _Dimension) -> None:
    with pytest.raises(ValueError, match="3 parsec") as caught:
        dimension.parse("3 parsec")
    message = str(caught.value)
    assert dimension.name in message
    assert ", ".join(dimension.units) in message


@pytest.mark.parametrize("dimension", WITH_UNITS, ids=lambda dimension: dimension.name)
def test_the_example_of_each_hint_is_allowed(dimension: _Dimension) -> None:
    assert dimension.example in dimension.hint
    assert math.isfinite(dimension.parse(dimension.example))


@pytest.mark.parametrize(
    "value", ["nan m", "inf m", "", "m", "km 3", "1,5 km", "1_000 m", None, [1.0], {}, 1j]
)
def test_what_is_no_length(value: object) -> None:
    with pytest.raises(ValueError, match="must be a number"):
        units.LENGTH.parse(value)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, "1e400 m", "1e308 km", 10**400])
def test_what_is_not_finite(value: object) -> None:
    with pytest.raises(ValueError, match="must be a finite number"):
        units.LENGTH.parse(value)


def test_decibels_beyond_all_floats_are_not_finite() -> None:
    with pytest.raises(ValueError, match="must be a finite number"):
        units.GAIN.parse("5000 dB")


@pytest.mark.parametrize("value", [True, False])
def test_a_bool_is_no_number(value: bool) -> None:
    with pytest.raises(ValueError, match="must be a number"):
        units.TIME.parse(value)


def test_text_without_a_unit_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'36' lacks a unit.*m/s.*36 km/h"):
        units.SPEED.parse("36")


def test_limits() -> None:
    assert units.TIME.non_negative(0) == 0.0
    with pytest.raises(ValueError, match="greater than 0"):
        units.TIME.positive(0)
    with pytest.raises(ValueError, match="at least 0"):
        units.TIME.non_negative("-1 s")
    with pytest.raises(ValueError, match="greater than 0"):
        units.GAIN.positive("-5000 dB")  # too small for a float


numbers = st.floats(min_value=-1e6, max_value=1e6, allow_nan=False)


@settings(deadline=None)  # a busy machine is no failure
@given(numbers, st.sampled_from(WITH_UNITS), st.data())
def test_space_before_the_unit_changes_nothing(
    number: float, dimension: _Dimension, data: st.DataObject
) -> None:
    unit = data.draw(st.sampled_from(dimension.units))
    number = min(number, 1000.0)  # in decibels a million has no float
    assert dimension.parse(f"{number!r}{unit}") == dimension.parse(f"{number!r}  {unit}")


@settings(deadline=None)  # a busy machine is no failure
@given(numbers)
def test_si_text_equals_the_bare_number_bit_for_bit(number: float) -> None:
    assert units.SPEED.parse(f"{number!r} m/s") == units.SPEED.parse(number)


@settings(deadline=None)  # a busy machine is no failure
@given(numbers)
def test_kilometres_per_hour_round_trip(number: float) -> None:
    metres_per_second = units.SPEED.parse(f"{number!r} km/h")
    assert metres_per_second * 3600 / 1000 == pytest.approx(number, rel=1e-14)


@settings(deadline=None)  # a busy machine is no failure
@given(st.floats(min_value=-200.0, max_value=200.0))
def test_decibel_milliwatts_round_trip(decibels: float) -> None:
    watts = units.POWER.parse(f"{decibels!r} dBm")
    assert 10 * math.log10(watts / 1e-3) == pytest.approx(decibels, abs=1e-11)


def test_the_unit_is_kept_through_copies() -> None:
    given = units.ENERGY.parse("131 Wh")
    for same in (given, copy.deepcopy(given), pickle.loads(pickle.dumps(given))):
        assert (same, units.ENERGY.text(same, same)) == (131 * 3600.0, "131 Wh")
    assert units.ENERGY.text(471_600.0, 471_600.0) == "471,600 J"


@settings(max_examples=200)
@given(st.floats(1e-3, 1e9), st.sampled_from(["J", "kJ", "MJ", "Wh", "kWh"]))
def test_rounding_is_never_too_little_and_never_by_much(joules: float, unit: str) -> None:
    given_in = units.ENERGY.parse(f"1 {unit}")
    up = units.ENERGY.parse(units.ENERGY.rounded_up(joules, given_in).replace(",", ""))
    down = units.ENERGY.parse(units.ENERGY.rounded_down(joules, given_in).replace(",", ""))
    assert joules * (1 - 1e-9) <= up <= joules * 1.0011
    assert joules * 0.9989 <= down <= joules * (1 + 1e-9)


@settings(max_examples=200)
@given(st.floats(1e-3, 1e8), st.sampled_from(["J", "kJ", "MJ", "Wh", "kWh"]))
def test_a_saved_scenario_keeps_units_and_bits(number: float, unit: str) -> None:
    four = Scenario.preset("four").replace(fleet={"budgets": [f"{number!r} {unit}"] * 2})
    again = Scenario.from_dict(tomllib.loads(four.to_toml()))
    assert again == four


def test_a_saved_scenario_reads_as_it_was_given() -> None:
    coast = Scenario.preset("coast").to_toml()
    assert 'budgets = ["45 Wh", "45 Wh", "40 Wh"]' in coast
    assert 'speeds = ["25 m/s", "30 m/s", "35 m/s"]' in coast
    assert 'model_size = "100 MB"' in coast
    assert (
        "budgets = [6000.5]"
        in Scenario.preset("four").replace(fleet={"speeds": [1.0], "budgets": [6000.5]}).to_toml()
    )
