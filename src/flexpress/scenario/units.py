"""Quantities as people write them ("36 km/h", "20 dBm"), as SI values; bare numbers are SI."""

from __future__ import annotations

import math
import re
import reprlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import Self

NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_QUANTITY = re.compile(rf"\s*({NUMBER})\s*(|[A-Za-z].*?)\s*", re.ASCII | re.DOTALL)


_SHOWN = 4
"""Significant digits of computed numbers in messages."""

SPARED = 5e-10
"""Relative excess that rounding up ignores. Budgets may be exceeded by twice as much."""


class Quantity(float):
    """An SI value that keeps the unit in which it was given, so that messages can use it."""

    __slots__ = ("factor", "unit")
    unit: str
    factor: float  # SI value of the unit

    def __new__(cls, value: float, unit: str, factor: float) -> Self:
        quantity = super().__new__(cls, value)
        quantity.unit, quantity.factor = unit, factor
        return quantity

    @property
    def text(self) -> str | None:
        """As it was given, such as "15 kJ"; None if that would not read as the same bits."""
        number = f"{self / self.factor:.15g}"
        return f"{number} {self.unit}" if float(number) * self.factor == self else None

    def __getnewargs__(self) -> tuple[float, str, float]:  # type: ignore[override]  # for copies: float has fewer
        return float(self), self.unit, self.factor


@dataclass(frozen=True)
class _Dimension:
    """A kind of quantity: its name, its SI unit, and the units in which it may be given."""

    name: str
    unit: str
    example: str = ""
    factors: Mapping[str, float] = field(default_factory=dict)  # unit -> its value in SI
    decibels: Mapping[str, float] = field(default_factory=dict)  # unit -> SI value of 0 dB

    @property
    def units(self) -> list[str]:
        return [*self.factors, *self.decibels]

    @property
    def hint(self) -> str:
        """What is allowed, for the end of an error message."""
        if not self.units:
            return f"({self.unit}, without quotes)"
        return f'({self.unit}, or text with a unit such as "{self.example}")'

    def parse(self, value: object) -> float:
        """The finite SI value of a number or of text with a unit; ValueError otherwise."""
        number = self._parse_text(value) if isinstance(value, str) else self._plain(value)
        if not math.isfinite(number):
            raise ValueError(f"must be a finite number {self.hint}")
        return number

    def text(self, value: float, given: float) -> str:
        """The value in the unit of a given one, with all its digits: 131 Wh, 12,442.1 J."""
        unit, factor = self._unit_of(given)
        return f"{value / factor:,.12g} {unit}"

    def rounded_up(self, value: float, given: float) -> str:
        """The same with few digits, rounded up: such a budget is sufficient."""
        return self._rounded(value, given, math.ceil, 1 - SPARED)

    def rounded_down(self, value: float, given: float) -> str:
        """The same with few digits, rounded down."""
        return self._rounded(value, given, math.floor, 1 + SPARED)

    def _rounded(
        self, value: float, given: float, to_whole: Callable[[float], int], spared: float
    ) -> str:
        unit, factor = self._unit_of(given)
        number = value / factor
        places = _SHOWN - 1 - math.floor(math.log10(number)) if number > 0 else 0
        rounded = to_whole(number * 10.0**places * spared) / 10.0**places
        return f"{rounded:,.12g} {unit}"

    def _unit_of(self, given: float) -> tuple[str, float]:
        return (given.unit, given.factor) if isinstance(given, Quantity) else (self.unit, 1.0)

    def positive(self, value: object) -> float:
        number = self.parse(value)
        if number <= 0:
            raise ValueError(f"must be greater than 0 {self.hint}")
        return number

    def non_negative(self, value: object) -> float:
        number = self.parse(value)
        if number < 0:
            raise ValueError(f"must be at least 0 {self.hint}")
        return number

    def _plain(self, value: object) -> float:
        if isinstance(value, Quantity):
            return value
        if isinstance(value, bool) or not isinstance(value, Real):
            raise ValueError(f"must be a number {self.hint}")
        try:
            return float(value)
        except OverflowError:
            return math.inf

    def _parse_text(self, text: str) -> float:
        match = _QUANTITY.fullmatch(text)
        if not match or not self.units:
            raise ValueError(f"must be a number {self.hint}")
        number, unit = float(match[1]), match[2]
        if not unit:
            raise ValueError(f"{reprlib.repr(text)} lacks a unit: must be a number {self.hint}")
        return self._convert(number, unit, text)

    def _convert(self, number: float, unit: str, text: str) -> float:
        if unit in self.factors:
            return Quantity(number * self.factors[unit], unit, self.factors[unit])
        if unit in self.decibels:
            return self.decibels[unit] * _ratio(number)
        allowed = ", ".join(self.units)
        raise ValueError(
            f"unknown unit in {reprlib.repr(text)}: a {self.name} may be given in {allowed}"
        )


def _ratio(decibels: float) -> float:
    try:
        return float(10.0 ** (decibels / 10.0))
    except OverflowError:
        return math.inf


LENGTH = _Dimension(
    "length",
    "m",
    "1 km",
    {"m": 1.0, "km": 1e3, "cm": 1e-2, "ft": 0.3048, "mi": 1609.344, "nmi": 1852.0},
)
SPEED = _Dimension(
    "speed",
    "m/s",
    "36 km/h",
    {"m/s": 1.0, "km/h": 1 / 3.6, "mph": 0.44704, "kn": 1852 / 3600},
)
TIME = _Dimension("time", "s", "1 min", {"s": 1.0, "ms": 1e-3, "min": 60.0, "h": 3600.0})
ENERGY = _Dimension(
    "energy",
    "J",
    "15 kJ",
    {"J": 1.0, "kJ": 1e3, "MJ": 1e6, "Wh": 3600.0, "kWh": 3.6e6},
)
POWER = _Dimension(
    "power",
    "W",
    "20 dBm",
    {"W": 1.0, "mW": 1e-3, "kW": 1e3},
    {"dBm": 1e-3, "dBW": 1.0},
)
DATA_SIZE = _Dimension(
    "data size",
    "bytes",
    "100 MB",
    {"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9}
    | {"KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30}
    | {"bit": 0.125, "kbit": 125.0, "Mbit": 125e3, "Gbit": 125e6},
)
DATA_RATE = _Dimension(
    "data rate",
    "bit/s",
    "50 Mbit/s",
    {"bit/s": 1.0, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9}
    | {"bps": 1.0, "kbps": 1e3, "Mbps": 1e6, "Gbps": 1e9}
    | {"B/s": 8.0, "kB/s": 8e3, "MB/s": 8e6, "GB/s": 8e9},
)
FREQUENCY = _Dimension("frequency", "Hz", "50 MHz", {"Hz": 1.0, "kHz": 1e3, "MHz": 1e6, "GHz": 1e9})
GAIN = _Dimension("gain", "plain ratio", "-50 dB", decibels={"dB": 1.0})
NOISE_DENSITY = _Dimension(
    "noise density", "W/Hz", "-174 dBm/Hz", {"W/Hz": 1.0}, {"dBm/Hz": 1e-3, "dBW/Hz": 1.0}
)
ANGLE = _Dimension("angle", "degrees")
PLAIN = _Dimension("number", "a plain number")
PARASITIC = _Dimension("parasitic power coefficient", "W s^3/m^3")
INDUCED = _Dimension("induced power coefficient", "W m/s")
