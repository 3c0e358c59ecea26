"""What `flexpress` offers to Python programs, and that asking for nothing costs nothing."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

import flexpress
from flexpress import theory

HEAVY = ["matplotlib", "numba", "numpy", "pooch", "pydantic", "ray", "rich", "torch", "typer"]


def test_the_list() -> None:
    assert flexpress.__all__ == [
        "DivergedError",
        "FlexpressError",
        "InfeasibleError",
        "InputError",
        "Job",
        "Learner",
        "Measurement",
        "Metrics",
        "Plan",
        "Quadratic",
        "RayLearner",
        "Recording",
        "Scenario",
        "StoredRun",
        "Tour",
        "Trace",
        "TrainingLoss",
        "__version__",
        "bound",
        "certify_plan",
        "compare",
        "diagnose",
        "export_plan",
        "load_plan",
        "load_run",
        "make_learner",
        "make_plan",
        "record",
        "reproduce",
        "save_costs",
        "save_curves",
        "save_label_mix",
        "save_map",
        "save_plan",
        "save_report",
        "save_theory_picture",
        "simulate",
    ]


def test_the_list_of_theory() -> None:
    assert theory.__all__ == [
        "Advice",
        "Bound",
        "Constants",
        "Estimate",
        "Estimates",
        "Forecast",
        "Growth",
        "LossFunction",
        "Measured",
        "Outlook",
        "RoundTrips",
        "Skew",
        "Trial",
        "advise",
        "best_rate",
        "estimate",
        "exact_constants",
        "forecast",
        "growth",
        "lemma1",
        "lemma2_global",
        "lemma2_local",
        "measure",
        "outlook",
        "paper_order",
        "paper_rate",
        "slots_to",
        "soonest",
        "stable_rate",
        "theorem1",
        "theorem1_simplified",
        "theorem2",
        "theorem3",
    ]
    assert all(hasattr(theory, name) for name in theory.__all__)


@pytest.mark.parametrize("name", flexpress.__all__)
def test_every_name_is_there_and_shown(name: str) -> None:
    assert getattr(flexpress, name) is not None
    assert name in dir(flexpress)


def test_every_name_is_documented() -> None:
    page = (Path(__file__).parents[1] / "docs" / "api.md").read_text(encoding="utf-8")
    listed = page.split("\n\n")[2]
    assert sorted(re.findall(r"`(\w+)`", listed)) == sorted(flexpress.__all__)


def test_names_are_those_of_their_rooms() -> None:
    from flexpress.planning import make_plan
    from flexpress.scenario import Scenario

    assert flexpress.Scenario is Scenario
    assert flexpress.make_plan is make_plan


def test_other_names_are_not() -> None:
    with pytest.raises(AttributeError, match="module 'flexpress' has no attribute 'Scenary'"):
        getattr(flexpress, "Scenary")  # noqa: B009  # mypy rightly refuses the plain form


def test_the_version_is_that_of_the_package() -> None:
    assert flexpress.__version__ == metadata.version("flexpress")


def test_import_loads_nothing_heavy() -> None:
    code = "import flexpress, json, sys; print(json.dumps(list(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(HEAVY) & set(json.loads(done.stdout)) == set()
