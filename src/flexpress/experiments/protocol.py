"""The protocol of the reproduction: what is run and how it is judged, fixed before the runs."""

from __future__ import annotations

import hashlib
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from flexpress.scenario import Clock, RoundTripUnit, SolverName

DatasetName = Literal["fmnist", "svhn"]


@dataclass(frozen=True)
class Reading:
    """How the paper's time and plans are read. The server's rule is the paper's in both."""

    name: str
    clock: Clock
    solver: SolverName
    round_trips: RoundTripUnit  # what the planner's objective counts

    @property
    def title(self) -> str:
        """The name at the beginning of a sentence."""
        return self.name[0].upper() + self.name[1:]


@dataclass(frozen=True)
class Judging:
    """Confidence and margins of the verdicts; `protocol.toml` explains each."""

    confidence: float
    accuracy_margin: float
    longest_tour_margin: float  # slots
    cost_margin: float  # slots
    converged: float
    final_share: float


@dataclass(frozen=True)
class Scale:
    """The size of the experiments."""

    name: Literal["full", "single", "quick"]
    networks: int
    seeds: int  # per network
    horizon: dict[DatasetName, int]  # slots
    eval_every: int
    stand_in: bool  # use the data set in the package for both
    distances: tuple[float, ...]  # km
    rates: tuple[float, ...]
    server_rates: tuple[float, ...]

    @property
    def has_sweeps(self) -> bool:
        return bool(self.distances)


@dataclass(frozen=True)
class Protocol:
    text: str  # the file, as it is quoted
    readings: tuple[Reading, Reading]  # the first decides
    judging: Judging
    learning_rates: dict[DatasetName, float]
    full: Scale
    single: Scale
    quick: Scale

    @property
    def digest(self) -> str:
        """SHA-256 of the text."""
        return hashlib.sha256(self.text.encode()).hexdigest()


@cache
def protocol() -> Protocol:
    """The protocol in the package."""
    text = (files("flexpress.experiments") / "protocol.toml").read_text(encoding="utf-8")
    document = tomllib.loads(text)
    paper, flown = (Reading(name, **read) for name, read in document["readings"].items())
    return Protocol(
        text=text,
        readings=(paper, flown),
        judging=Judging(**document["judging"]),
        learning_rates=document["learning_rates"],
        full=_scale("full", document),
        single=_scale("single", document),
        quick=_scale("quick", document),
    )


def _scale(name: Literal["full", "single", "quick"], document: dict[str, Any]) -> Scale:
    values: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in document[name].items()
    }
    return Scale(name=name, **values)


def as_paper() -> Reading:
    return protocol().readings[0]


def as_flown() -> Reading:
    return protocol().readings[1]


def seeds_of(network: int, count: int) -> tuple[int, ...]:
    """The learning seeds of a network's experiments, which no other network has."""
    return tuple(1000 * network + s for s in range(1, count + 1))
