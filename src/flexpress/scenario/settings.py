"""The sections `[fleet]`, `[power]` and `[plan]`."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from flexpress.scenario import physics
from flexpress.scenario.quantities import (
    Energy,
    InducedCoefficient,
    ParasiticCoefficient,
    Speed,
    Watts,
)
from flexpress.scenario.section import Section, check_form

Objective = Literal["minmax", "sws", "total"]
SolverName = Literal["search", "carp", "exact"]

CONSTANT = ("flight",)
OF_SPEED = ("c1", "c2")

# The paper's Section "Energy Setup"; its 20 dBm are 0.1 W.
FLIGHT_POWER = 30.0
HOVER_POWER = 20.0
TRANSMIT_POWER = 0.1


AnySpeed = Annotated[Speed, Field(ge=1e-3, le=1e5)]
AnyEnergy = Annotated[Energy, Field(ge=1e-3, le=1e15)]
MOST_WATTS = 1e9


class Fleet(Section):
    """One entry per transporter."""

    speeds: tuple[AnySpeed, ...] = Field(description="m/s, one entry per transporter")
    budgets: tuple[AnyEnergy, ...] | None = Field(
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


class Power(Section):
    """What a transporter draws: in flight (a constant, or c1 V^3 + c2 / V), hovering, sending."""

    flight: Watts | None = Field(default=None, le=MOST_WATTS, description="watts")
    c1: ParasiticCoefficient | None = Field(
        default=None, le=MOST_WATTS, description="of c1 V^3 + c2 / V"
    )
    c2: InducedCoefficient | None = Field(
        default=None, le=MOST_WATTS, description="of c1 V^3 + c2 / V"
    )
    hover: Watts = Field(default=HOVER_POWER, le=MOST_WATTS, description="watts")
    transmit: Watts | None = Field(default=None, le=MOST_WATTS, description="watts")

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.given(*CONSTANT, *OF_SPEED):
            check_form(self, (CONSTANT, OF_SPEED))
        return self

    def flight_at(self, speed: float) -> float:
        """Watts in straight-and-level flight."""
        if self.c1 is not None and self.c2 is not None:
            return physics.flight_power(speed, self.c1, self.c2)
        return FLIGHT_POWER if self.flight is None else self.flight


class PlanSettings(Section):
    """What to optimise, and how."""

    objective: Objective = "sws"
    solver: SolverName = "search"
