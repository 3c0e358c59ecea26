"""Whole runs on real images: what the paper's setting comes to, and that both engines agree."""

from __future__ import annotations

import pytest
from official_data import official_folder

from flexpress import Scenario, make_learner, make_plan, simulate

PAPER = Scenario.preset("paper")


@pytest.mark.slow
def test_sync_on_fashion_mnist_is_right_in_81_of_100() -> None:
    """40 clients of 60 samples, i.i.d.; all 10,000 test images, when the curve has become flat."""
    folder = str(official_folder("fashion-mnist").parent)
    scenario = PAPER.replace(
        learning={"dataset": "fmnist", "data_dir": folder},
        run={"algorithm": "sync", "horizon": 2600, "eval_every": 100},
    )
    trace = simulate(scenario, make_plan(scenario, objective="minmax"), make_learner(scenario))
    assert min(measured.accuracy for measured in trace.metrics if measured.slot >= 2000) > 0.81


@pytest.mark.slow
def test_both_engines_draw_the_same_curve() -> None:
    """The same batches from the same start: they part by rounding, which grows with time."""
    pytest.importorskip("torch")
    scenario = PAPER.replace(run={"horizon": 160, "eval_every": 20})
    plan = make_plan(scenario)
    fast, torch = (
        simulate(scenario, plan, make_learner(scenario, engine=engine)).metrics
        for engine in ("fast", "torch")
    )
    for ours, theirs in zip(fast[:3], torch[:3], strict=True):  # the first 40 slots
        assert ours.loss == pytest.approx(theirs.loss, rel=1e-3)
        assert ours.accuracy == pytest.approx(theirs.accuracy, abs=0.005)
    for ours, theirs in zip(fast, torch, strict=True):
        assert ours.accuracy == pytest.approx(theirs.accuracy, abs=0.05)
    assert fast[-1].accuracy > 0.5
