"""The `[link]` section: how long one model takes to pass between a transporter and a client."""

from __future__ import annotations

import math
from typing import Self

from pydantic import Field, model_validator

from flexpress.arguments import LONGEST_TIME, plain
from flexpress.scenario import physics
from flexpress.scenario.quantities import (
    Altitude,
    Bandwidth,
    DataRate,
    DataSize,
    Gain,
    NoiseDensity,
    PositiveWatts,
    Time,
)
from flexpress.scenario.section import Section, check_form, present

CONSTANT = ("transfer_time",)
FIXED_RATE = ("rate", "model_size")
SHANNON = ("bandwidth", "altitude", "transmit_power", "channel_gain", "noise", "model_size")


class Link(Section):
    """Exactly one of three forms: a time, a rate and a size, or the paper's Shannon link.

    The altitude may stand with each of them: transporters fly at it.
    """

    transfer_time: Time | None = Field(
        default=None, le=LONGEST_TIME, description="seconds per client"
    )
    rate: DataRate | None = Field(default=None, ge=1e-3, le=1e15, description="bit/s")
    model_size: DataSize | None = Field(default=None, ge=0.125, le=1e15, description="bytes")
    bandwidth: Bandwidth | None = Field(default=None, ge=1e-3, le=1e15, description="Hz")
    altitude: Altitude | None = Field(default=None, ge=1e-3, description="metres")
    transmit_power: PositiveWatts | None = Field(
        default=None, ge=1e-15, le=1e9, description="watts"
    )
    channel_gain: Gain | None = Field(
        default=None, ge=1e-20, le=1e9, description="gain at 1 m, beta_0 of the paper"
    )
    noise: NoiseDensity | None = Field(
        default=None, ge=1e-30, le=1.0, description="W/Hz, N_0 of the paper"
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        check_form(self, (CONSTANT, FIXED_RATE, SHANNON), optional=("altitude",))
        if self.seconds_per_client > LONGEST_TIME:
            raise ValueError(
                f"these values give a transfer time of {plain(self.seconds_per_client)} s: must be "
                f"at most {plain(LONGEST_TIME)} s; check their units"
            )
        return self

    @property
    def seconds_per_client(self) -> float:
        """T_trans of the paper; inf if the link carries nothing."""
        if self.transfer_time is not None:
            return self.transfer_time
        try:
            return physics.transfer_time(present(self.model_size), self._rate())
        except ZeroDivisionError:
            return math.inf

    def _rate(self) -> float:
        if self.rate is not None:
            return self.rate
        return physics.shannon_rate(
            present(self.bandwidth),
            physics.channel_gain(present(self.channel_gain), present(self.altitude)),
            present(self.transmit_power),
            present(self.noise),
        )
