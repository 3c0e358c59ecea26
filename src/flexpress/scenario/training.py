"""The sections `[learning]`, what the clients learn, and `[run]`, how long and by which rules."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from flexpress.scenario.quantities import LARGEST_SEED, Label, WholeNumber
from flexpress.scenario.section import KeyedError, Section
from flexpress.scenario.units import PLAIN

Partition = Literal["iid", "dirichlet", "location"]
Algorithm = Literal["sync", "async", "direct"]
Clock = Literal["slots", "exact"]

LONGEST_HORIZON = 10**9
MOST_SAMPLES = 10**9


def probability(value: object) -> float:
    number = PLAIN.parse(value)
    if not 0 <= number <= 1:
        raise ValueError(f"must lie within 0 and 1 {PLAIN.hint}")
    return number


Positive = Annotated[float, BeforeValidator(PLAIN.positive)]
Probability = Annotated[float, BeforeValidator(probability)]


class LearningSettings(Section):
    """Data, how they are dealt to the clients, the model, and the clients' local steps."""

    dataset: Label = Field(
        default="fmnist-mini",
        description='fmnist-mini, fmnist, svhn, or your own "module:function"',
    )
    data_dir: Label | None = Field(default=None, description="a folder with the data set's files")
    partition: Partition = "iid"
    alpha: Positive = Field(default=0.3, description="of the Dirichlet distribution")
    main_label_probability: Probability = Field(
        default=0.7, description="share of a block's main label, for the location partition"
    )
    samples_per_client: WholeNumber = Field(
        default=60, ge=1, le=MOST_SAMPLES, description="training samples"
    )
    model: Label = Field(
        default="lenet", description='lenet, mlp, logistic, or your own "module:function"'
    )
    learning_rate: Positive = Field(default=0.05, ge=1e-30, le=1e38, description="eta of the paper")
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
    horizon: WholeNumber = Field(default=1000, ge=1, le=LONGEST_HORIZON, description="slots")
    clock: Clock = Field(
        default="slots", description="round trips in whole slots, as in the paper, or exact"
    )
    eval_every: WholeNumber = Field(
        default=20, ge=1, le=LONGEST_HORIZON, description="slots from one evaluation to the next"
    )
