"""Each formula against numbers worked out by hand; the arithmetic stands beside them."""

from __future__ import annotations

import pytest

from flexpress.scenario import physics


def test_channel_gain_falls_with_the_square_of_the_altitude() -> None:
    # beta_0 = -50 dB = 1e-5; H = 1000 m: 1e-5 / 1e6 = 1e-11
    assert physics.channel_gain(1e-5, 1000.0) == pytest.approx(1e-11, rel=1e-12)


def test_shannon_rate_with_a_round_ratio() -> None:
    # h p / (B N_0) = 3 * 2 / (2 * 1) = 3, log2(1 + 3) = 2, times B = 2 Hz: 4 bit/s
    assert physics.shannon_rate(
        bandwidth=2.0, gain=3.0, transmit_power=2.0, noise_density=1.0
    ) == pytest.approx(4.0, rel=1e-15)


def test_a_faint_signal_still_has_a_rate() -> None:
    # h p / (B N_0) = 1e-20: log2(1 + x) = x / ln 2 = 1.442695e-20, though 1 + x rounds to 1
    assert physics.shannon_rate(1.0, 1e-20, 1.0, 1.0) == pytest.approx(1.442695041e-20, rel=1e-9)


def test_the_papers_link() -> None:
    # p = 20 dBm = 0.1 W; N_0 = -174 dBm/Hz = 10^-17.4 mW/Hz = 3.98107e-21 W/Hz; B = 5e7 Hz
    # h p = 1e-12 W; B N_0 = 1.990536e-13 W; ratio = 5.02377
    # log2(6.02377) = ln 6.02377 / ln 2 = 1.795713 / 0.693147 = 2.590667; r = 129.533 Mbit/s
    # S = 100 MB = 8e8 bit; T_trans = 8e8 / 1.29533e8 = 6.1760 s
    rate = physics.shannon_rate(50e6, physics.channel_gain(1e-5, 1000.0), 0.1, 3.98107171e-21)
    assert rate == pytest.approx(129.533e6, rel=1e-5)
    assert physics.transfer_time(100e6, rate) == pytest.approx(6.1760, abs=1e-4)


def test_transfer_time_counts_bits() -> None:
    # 100 MB = 800 Mbit, at 50 Mbit/s: 16 s
    assert physics.transfer_time(100e6, 50e6) == 16.0


def test_energies_of_one_tour() -> None:
    # 10 clients of 16 s: radio 0.1 W * 160 s = 16 J; hovering 20 W * 160 s = 3200 J
    # 3000 m at 10 m/s: 300 s, at 30 W 9000 J; in all 16 + 3200 + 9000 = 12216 J
    transmission = physics.transmission_energy(10, 16.0, 0.1)
    hover = physics.hover_energy(10, 16.0, 20.0)
    flight = physics.flight_energy(physics.flight_time(3000.0, 10.0), 30.0)
    assert transmission == pytest.approx(16.0)
    assert hover == pytest.approx(3200.0)
    assert flight == pytest.approx(9000.0)
    assert physics.total_energy(transmission, flight, hover) == pytest.approx(12216.0)


def test_flight_power_as_a_function_of_speed() -> None:
    # c1 V^3 + c2 / V = 9.26e-4 * 27000 + 2250 / 30 = 25.002 + 75 = 100.002 W
    assert physics.flight_power(30.0, c1=9.26e-4, c2=2250.0) == pytest.approx(100.002)


def test_round_trip_is_hovering_plus_flight() -> None:
    # 2 clients of 1 s and 12 m at 1 m/s: 2 + 12 = 14 s
    assert physics.round_trip(2, 1.0, physics.flight_time(12.0, 1.0)) == 14.0


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0.0, 0),  # idle
        (1e-12, 1),
        (59.0, 1),
        (60.0, 1),
        (60.0 + 1e-8, 1),  # rounding of a sum, not another slot
        (60.001, 2),
        (378.0, 7),  # 6.3 slots
        (421.0, 8),  # 7.02 slots
    ],
)
def test_slots_are_rounded_up(seconds: float, expected: int) -> None:
    assert physics.slots(seconds, 60.0) == expected


def test_slots_of_a_sum_that_rounding_pushed_over() -> None:
    # 0.1 + 0.2 = 0.30000000000000004 in floats, still three slots of 0.1
    assert physics.slots(0.1 + 0.2, 0.1) == 3
