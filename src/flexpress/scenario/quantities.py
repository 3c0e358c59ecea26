"""The types of the scenario's fields: annotated floats that pydantic reads with `units`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from pydantic import BeforeValidator, PlainValidator, StrictInt

from flexpress.scenario import units

Pair = tuple[float, float]

LARGEST_COORDINATE = 1e9
"""Metres, 20 times round the Earth: beyond it squares of distances lose all meaning."""


LOWEST, HIGHEST = -1_000.0, 20_000.0
"""Metres above sea level between which sensors may stand."""


def coordinate(value: object) -> float:
    metres = float(units.LENGTH.parse(value))
    if abs(metres) > LARGEST_COORDINATE:
        raise ValueError(f"must lie within +-{LARGEST_COORDINATE:g} m {units.LENGTH.hint}")
    return metres


def height(value: object) -> float:
    """Metres above sea level."""
    metres = float(units.LENGTH.parse(value))
    if not LOWEST <= metres <= HIGHEST:
        raise ValueError(f"must lie within {LOWEST:g} and {HIGHEST:g} m {units.LENGTH.hint}")
    return metres


def height_or_blank(value: object) -> float | str:
    return "" if value == "" else height(value)


def extent(value: object) -> float:
    return units.LENGTH.positive(coordinate(value))


def margin(value: object) -> float:
    return units.LENGTH.non_negative(coordinate(value))


def pair_of(x: str, y: str, parse: Callable[[object], float]) -> Callable[[object], Pair]:
    """A reader of two lengths, called x and y in its complaints."""

    def part(name: str, value: object) -> float:
        try:
            return parse(value)
        except ValueError as error:
            raise ValueError(f"{name} {error}") from None

    def read(value: object) -> Pair:
        if not isinstance(value, list | tuple) or len(value) != 2:
            raise ValueError(f"must be [{x}, {y}], two numbers {units.LENGTH.hint}")
        return part(x, value[0]), part(y, value[1])

    return read


def grid(value: object) -> tuple[int, int]:
    """[columns, rows] of blocks."""
    if isinstance(value, list | tuple) and len(value) == 2:
        columns, rows = value
        if type(columns) is int and type(rows) is int and min(columns, rows) >= 1:
            return columns, rows
    raise ValueError("must be [columns, rows], two whole numbers of at least 1")


def label(value: object) -> str:
    """Text that stays on one line wherever it is printed."""
    if not isinstance(value, str):
        raise ValueError('must be text in quotes, such as "valley"')
    if not value or value != value.strip() or not value.isprintable():
        raise ValueError("must be text of printable characters, without spaces at its ends")
    return value


def label_or_blank(value: object) -> str:
    return "" if value == "" else label(value)


def client_id(value: object) -> int | str:
    if type(value) is int:
        return value
    if not isinstance(value, str):
        raise ValueError('must be a whole number or text, such as 7 or "weir"')
    return label(value)


Label = Annotated[str, PlainValidator(label)]
ClientId = Annotated[int | str, PlainValidator(client_id)]
Name = Annotated[str, PlainValidator(label_or_blank)]
Height = Annotated[float | str, PlainValidator(height_or_blank)]
Area = Annotated[Pair, PlainValidator(pair_of("width", "height", extent))]
Grid = Annotated[tuple[int, int], PlainValidator(grid)]
WholeNumber = StrictInt

LARGEST_SEED = 2**63 - 1

# A PlainValidator keeps the unit that was given (`units.Quantity`): errors and remedies use it.
Margin = Annotated[float, BeforeValidator(margin)]
Altitude = Annotated[float, BeforeValidator(extent)]
Speed = Annotated[float, PlainValidator(units.SPEED.positive)]
Time = Annotated[float, PlainValidator(units.TIME.non_negative)]
PositiveTime = Annotated[float, BeforeValidator(units.TIME.positive)]
Energy = Annotated[float, PlainValidator(units.ENERGY.positive)]
Watts = Annotated[float, BeforeValidator(units.POWER.non_negative)]
PositiveWatts = Annotated[float, BeforeValidator(units.POWER.positive)]
DataSize = Annotated[float, PlainValidator(units.DATA_SIZE.positive)]
DataRate = Annotated[float, BeforeValidator(units.DATA_RATE.positive)]
Bandwidth = Annotated[float, BeforeValidator(units.FREQUENCY.positive)]
Gain = Annotated[float, BeforeValidator(units.GAIN.positive)]
NoiseDensity = Annotated[float, BeforeValidator(units.NOISE_DENSITY.positive)]
ParasiticCoefficient = Annotated[float, BeforeValidator(units.PARASITIC.non_negative)]
InducedCoefficient = Annotated[float, BeforeValidator(units.INDUCED.non_negative)]
