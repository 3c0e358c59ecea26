"""The sections `[fleet]`, `[link]`, `[power]`, `[plan]`, `[learning]` and `[run]`."""

from __future__ import annotations

import math
from typing import Annotated, Literal, Self

from pydantic import (
    BeforeValidator,
    Field,
    StrictBool,
    ValidationInfo,
    field_validator,
    model_validator,
)

from flexpress.arguments import LARGEST_SEED, LONGEST_TIME, plain
from flexpress.scenario import physics
from flexpress.scenario.fields import (
    Altitude,
    Bandwidth,
    DataRate,
    DataSize,
    Energy,
    Gain,
    InducedCoefficient,
    Label,
    NoiseDensity,
    ParasiticCoefficient,
    PositiveWatts,
    Speed,
    Time,
    Watts,
    WholeNumber,
)
from flexpress.scenario.section import KeyedError, Section, check_form, present
from flexpress.scenario.units import PLAIN

Objective = Literal["minmax", "sws", "total"]
RoundTripUnit = Literal["seconds", "slots"]
SolverName = Literal["search", "carp", "exact"]
Partition = Literal["iid", "dirichlet", "location"]
Algorithm = Literal["sync", "async", "direct"]
Clock = Literal["slots", "exact"]

# The paper's Section "Energy Setup"; its 20 dBm are 0.1 W.
_FLIGHT_POWER = 30.0
_HOVER_POWER = 20.0
TRANSMIT_POWER = 0.1

DEFAULT_HEAD_START = 0.5
"""Of scenarios that do not say: about the best on most networks. The paper's presets say 0."""

MOST_WATTS = 1e9
_LONGEST_HORIZON = 10**9
_MOST_SAMPLES = 10**9

_Speed = Annotated[Speed, Field(ge=1e-3, le=1e5)]
_Energy = Annotated[Energy, Field(ge=1e-3, le=1e15)]


def _probability(value: object) -> float:
    number = PLAIN.parse(value)
    if not 0 <= number <= 1:
        raise ValueError(f"must lie within 0 and 1 {PLAIN.hint}")
    return number


_Positive = Annotated[float, BeforeValidator(PLAIN.positive)]
_Probability = Annotated[float, BeforeValidator(_probability)]


class Fleet(Section):
    """One entry per transporter."""

    speeds: tuple[_Speed, ...] = Field(description="m/s, one entry per transporter")
    budgets: tuple[_Energy, ...] | None = Field(
        default=None, description="joules, one entry per transporter; absent = unlimited"
    )

    @field_validator("speeds")
    @classmethod
    def _check_not_empty(cls, speeds: tuple[float, ...]) -> tuple[float, ...]:
        if not speeds:
            raise ValueError("must have at least one entry: one speed per transporter, m/s")
        return speeds

    @field_validator("budgets")
    @classmethod
    def _check_length(
        cls, budgets: tuple[float, ...] | None, info: ValidationInfo
    ) -> tuple[float, ...] | None:
        speeds = info.data.get("speeds")
        if budgets is not None and speeds is not None and len(budgets) != len(speeds):
            raise ValueError(
                f"{len(budgets)} budgets for {len(speeds)} speeds: "
                "must have one entry per transporter"
            )
        return budgets


class Link(Section):
    """How long one model takes to pass between a transporter and a client.

    Given in exactly one of three forms: a time, a rate and a size, or the paper's Shannon link.
    The altitude at which transporters fly may be added to each of them.
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
        constant, fixed_rate = ("transfer_time",), ("rate", "model_size")
        shannon = ("bandwidth", "altitude", "transmit_power", "channel_gain", "noise", "model_size")
        check_form(self, (constant, fixed_rate, shannon), optional=("altitude",))
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


class Power(Section):
    """What a transporter draws: in flight (a constant, or c1 V^3 + c2 / V), hovering, sending."""

    flight: Watts | None = Field(default=None, le=MOST_WATTS, description="watts")
    c1: ParasiticCoefficient | None = Field(
        default=None, le=MOST_WATTS, description="of c1 V^3 + c2 / V"
    )
    c2: InducedCoefficient | None = Field(
        default=None, le=MOST_WATTS, description="of c1 V^3 + c2 / V"
    )
    hover: Watts = Field(default=_HOVER_POWER, le=MOST_WATTS, description="watts")
    transmit: Watts | None = Field(default=None, le=MOST_WATTS, description="watts")

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.given("flight", "c1", "c2"):
            check_form(self, (("flight",), ("c1", "c2")))
        return self

    def flight_at(self, speed: float) -> float:
        """Watts in straight-and-level flight."""
        if self.c1 is not None and self.c2 is not None:
            return physics.flight_power(speed, self.c1, self.c2)
        return _FLIGHT_POWER if self.flight is None else self.flight


class PlanSettings(Section):
    """What to optimise, and how."""

    objective: Objective = "sws"
    round_trips: RoundTripUnit = Field(
        default="seconds", description="what the objective counts: seconds, or whole slots"
    )
    solver: SolverName = "search"


class LearningSettings(Section):
    """The data, their partition among the clients, the model, and the clients' local steps."""

    dataset: Label = Field(
        default="fmnist-mini",
        description='fmnist-mini, fmnist, svhn, or your own "module:function"',
    )
    data_dir: Label | None = Field(default=None, description="a folder with the data set's files")
    partition: Partition = "iid"
    alpha: _Positive = Field(default=0.3, description="of the Dirichlet distribution")
    main_label_probability: _Probability = Field(
        default=0.7, description="share of a block's main label, for the location partition"
    )
    samples_per_client: WholeNumber = Field(
        default=60, ge=1, le=_MOST_SAMPLES, description="training samples"
    )
    model: Label = Field(
        default="lenet", description='lenet, mlp, logistic, or your own "module:function"'
    )
    learning_rate: _Positive = Field(
        default=0.05, ge=1e-30, le=1e38, description="eta of the paper"
    )
    batch_size: WholeNumber = Field(default=20, ge=1, description="samples of one local step")
    seed: WholeNumber | None = Field(
        default=None,
        ge=0,
        le=LARGEST_SEED,
        description="of data, first model and mini-batches; the scenario's if not given",
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.batch_size > self.samples_per_client:
            text = f"must be at most learning.samples_per_client, {self.samples_per_client}"
            raise KeyedError("batch_size", text)
        return self


class RunSettings(Section):
    """What is simulated."""

    algorithm: Algorithm = "sync"
    horizon: WholeNumber = Field(default=1000, ge=1, le=_LONGEST_HORIZON, description="slots")
    clock: Clock = Field(
        default="slots", description="round trips in whole slots, as in the paper, or exact"
    )
    eval_every: WholeNumber = Field(
        default=20, ge=1, le=_LONGEST_HORIZON, description="slots from one evaluation to the next"
    )
    head_start: _Probability = Field(
        default=DEFAULT_HEAD_START,
        description="gamma: clients start from the model minus gamma x their update",
    )
    preloaded: StrictBool = Field(
        default=False, description="whether clients have the first model on board from slot 0"
    )
