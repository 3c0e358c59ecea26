"""What is given: positions, fleet, link and energy physics; TOML in and out; presets."""

from flexpress.scenario.inputs import input_files
from flexpress.scenario.model import Scenario, check_scenario
from flexpress.scenario.preset import preset_names, preset_text
from flexpress.scenario.settings import (
    DEFAULT_HEAD_START,
    Algorithm,
    Clock,
    LearningSettings,
    Objective,
    Partition,
    RoundTripUnit,
    SolverName,
)
from flexpress.scenario.terrain import Point

__all__ = [
    "DEFAULT_HEAD_START",
    "Algorithm",
    "Clock",
    "LearningSettings",
    "Objective",
    "Partition",
    "Point",
    "RoundTripUnit",
    "Scenario",
    "SolverName",
    "check_scenario",
    "input_files",
    "preset_names",
    "preset_text",
]
