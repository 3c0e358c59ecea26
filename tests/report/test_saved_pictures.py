"""Figures that Python programs save: the same bytes as those of the commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from flexpress import (
    InputError,
    Plan,
    Quadratic,
    Scenario,
    Trace,
    make_plan,
    save_curves,
    save_label_mix,
    simulate,
)
from flexpress.learning import make_task
from flexpress.report.figures.curves import curves_png
from flexpress.report.figures.label_mix import label_mix_png

FOUR = Scenario.preset("four")


@pytest.fixture(scope="module")
def plan() -> Plan:
    return make_plan(FOUR, solver="exact")


@pytest.fixture(scope="module")
def traces(plan: Plan) -> dict[str, Trace]:
    learner = Quadratic.random(FOUR.client_ids, params=3, seed=0, learning_rate=0.01, noise=0.1)
    return {
        algorithm: simulate(FOUR, plan, learner, algorithm=algorithm, horizon=12)
        for algorithm in ("sync", "direct")
    }


def test_curves(traces: dict[str, Trace], tmp_path: Path) -> None:
    save_curves(list(traces.values()), tmp_path / "curves.png", title="four")
    assert (tmp_path / "curves.png").read_bytes() == curves_png(traces, "four")  # type: ignore[arg-type]  # keys are algorithms
    assert [path.name for path in tmp_path.iterdir()] == ["curves.png"]


def test_curves_of_something_else(traces: dict[str, Trace], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="traces"):
        save_curves(list(traces), tmp_path / "curves.png")  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(InputError, match="traces"):
        save_curves(traces["sync"], tmp_path / "curves.png")  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(InputError, match="title"):
        save_curves(list(traces.values()), tmp_path / "curves.png", title=1)  # type: ignore[arg-type]  # wrong on purpose


def test_a_folder_that_does_not_exist(traces: dict[str, Trace], tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"curves\.png: cannot be written: No such file"):
        save_curves(list(traces.values()), tmp_path / "nowhere" / "curves.png")


def test_label_mix(plan: Plan, tmp_path: Path) -> None:
    save_label_mix(FOUR, plan, tmp_path / "data.png")
    counts = make_task(FOUR).label_counts()
    assert (tmp_path / "data.png").read_bytes() == label_mix_png(FOUR, plan, counts)


def test_label_mix_of_another_plan(plan: Plan, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="in the scenario"):
        save_label_mix(Scenario.preset("valley"), plan, tmp_path / "data.png")
