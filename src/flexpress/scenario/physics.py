"""The paper's formulas for energy and time, one function each; SI units in and out.

Equation numbers count the displayed equations of FedEx (Bian, Shen, Xu, "Joint Client Assignment
and UAV Route Planning for Indirect-Communication Federated Learning") from its beginning.
"""

from __future__ import annotations

import math

_BITS_PER_BYTE = 8
ROUNDING_GUARD = 1e-9
"""Relative: 120.00000001 s are two slots of 60 s, not three."""


def channel_gain(reference_gain: float, altitude: float) -> float:
    """Power gain h of the free-space link at altitude H metres.

    "Communication energy": h = beta_0 / H^2, with beta_0 the gain at the reference distance 1 m.
    """
    beta_0 = reference_gain
    return beta_0 / (altitude * altitude)


def shannon_rate(
    bandwidth: float, gain: float, transmit_power: float, noise_density: float
) -> float:
    """Transmission rate in bit/s. Eq. (2): r = B log2(1 + h p / (B N_0))."""
    b, h, p, n_0 = bandwidth, gain, transmit_power, noise_density
    return b * math.log1p(h * p / (b * n_0)) / math.log(2)


def transfer_time(model_size_bytes: float, rate: float) -> float:
    """Seconds to pass one model to one client. Eq. (3): T_trans = S / r, with S in bits."""
    s = _BITS_PER_BYTE * model_size_bytes
    return s / rate


def transmission_energy(num_clients: int, transfer_time: float, transmit_power: float) -> float:
    """Joules sent by radio in one round trip. Eq. (4): E_trans = p R_k T_trans."""
    p, r_k, t_trans = transmit_power, num_clients, transfer_time
    return p * r_k * t_trans


def flight_time(length: float, speed: float) -> float:
    """Seconds of straight-and-level flight. Eq. (5): T_SLF = L_k / V_k, L_k the tour's length."""
    return length / speed


def flight_power(speed: float, c1: float, c2: float) -> float:
    """Watts of straight-and-level flight, the bracket of Eq. (7): c_1 V^3 + c_2 / V."""
    v = speed
    return c1 * v * v * v + c2 / v


def flight_energy(flight_time: float, flight_power: float) -> float:
    """Joules of straight-and-level flight. Eq. (7): E_SLF = T_SLF (c_1 V^3 + c_2 / V).

    The power is either that bracket (`flight_power`) or a constant, as in "Energy Setup".
    """
    return flight_time * flight_power


def hover_energy(num_clients: int, transfer_time: float, hover_power: float) -> float:
    """Joules spent hovering above the clients. Eq. (8): E_hover = R_k T_trans p_hover."""
    r_k, t_trans, p_hover = num_clients, transfer_time, hover_power
    return r_k * t_trans * p_hover


def total_energy(transmission_energy: float, flight_energy: float, hover_energy: float) -> float:
    """Joules of one round trip: E_trans + E_prop, with E_prop = E_hover + E_SLF."""
    return transmission_energy + (hover_energy + flight_energy)


def round_trip(num_clients: int, transfer_time: float, flight_time: float) -> float:
    """Seconds of one round trip. Eq. (9): Delta_k = R_k T_trans + T_SLF."""
    r_k, t_trans, t_slf = num_clients, transfer_time, flight_time
    return r_k * t_trans + t_slf


def slots(seconds: float, slot: float) -> int:
    """Whole slots that a round trip takes: rounded up, at least 1; 0 for an idle transporter."""
    if seconds <= 0:
        return 0
    return max(1, math.ceil(seconds / slot * (1 - ROUNDING_GUARD)))
