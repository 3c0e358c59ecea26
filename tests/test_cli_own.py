"""Data and models of the user's own, named in a scenario as "module:function"."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from command_line import Run
from small_run import write_scenario

pytestmark = pytest.mark.usefixtures("blank_pictures")

DATA = """
import numpy as np

def load():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 400)
    images = rng.normal(size=(400, 8, 8)).astype("float32") + labels[:, None, None]
    return (images[:300], labels[:300]), (images[300:], labels[300:])

def fail():
    raise RuntimeError("no luck,\\nnot today")

def three():
    return 3

def too_few():
    (images, labels), test = load()
    return (images, labels[:-1]), test

def flat():
    return (np.zeros(5), np.zeros(5)), (np.zeros(5), np.zeros(5))

number = 4
"""

NET = """
from torch import nn

def make_model():
    return nn.Sequential(nn.Flatten(), nn.Linear(784, 16), nn.Tanh(), nn.Linear(16, 10))

def too_narrow():
    return nn.Sequential(nn.Flatten(), nn.Linear(12, 10))

def nothing():
    pass
"""


@pytest.mark.parametrize("where", [".", "elsewhere"])
def test_data_beside_the_scenario_and_in_the_working_folder(run: Run, where: str) -> None:
    Path("elsewhere").mkdir()
    Path(where, "my_data.py").write_text(DATA)
    scenario = write_scenario("elsewhere/four.toml", learning={"dataset": "my_data:load"})
    assert run("data", scenario, "--out", "d").code == 0
    outcome = run("simulate", scenario, "--out", "r")
    assert outcome.code == 0
    assert "my_data:load, iid; logistic" in outcome.out
    *_, last = Path("r/metrics.csv").read_text().splitlines()
    assert float(last.split(",")[-1]) > 0.6  # of three labels


@pytest.mark.parametrize("where", [".", "elsewhere"])
def test_a_model_beside_the_scenario_and_in_the_working_folder(run: Run, where: str) -> None:
    pytest.importorskip("torch")
    Path("elsewhere").mkdir()
    Path(where, "my_net.py").write_text(NET)
    scenario = write_scenario("elsewhere/four.toml", learning={"model": "my_net:make_model"})
    assert run("simulate", scenario, "--out", "r", "--horizon", "5").code == 0
    refused = run("simulate", scenario, "--engine", "fast", "--out", "s")
    assert (refused.code, refused.out) == (2, "")
    assert "the fast engine supports" in refused.err


def test_a_model_that_was_changed_cannot_go_on(run: Run) -> None:
    pytest.importorskip("torch")
    Path("my_net.py").write_text(NET)
    scenario = write_scenario(learning={"model": "my_net:make_model"})
    run("simulate", scenario, "--out", "r", "--horizon", "5")
    Path("my_net.py").write_text(NET.replace("16", "8"))
    del sys.modules["my_net"]
    outcome = run("simulate", scenario, "--out", "r", "--resume")
    assert (outcome.code, outcome.out) == (2, "")
    assert "r: its models have 12,730 of float32 parameters, and now they have 6,370" in outcome.err


@pytest.mark.parametrize("command", ["simulate", "data"])
@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("lod", 'lod does not exist in * (did you mean "load"?); define it there'),
        ("number", "number is not a function in *"),
        ("fail", "my_data:fail() raised RuntimeError: no luck, not today"),
        ("three", "my_data:three() returned no pair of pairs: must return (train_images, *"),
        ("too_few", "training labels of shape (299,) for 300 images: must be one number for each"),
        ("flat", "training images of shape (5,): must be (n, height, width), *"),
    ],
)
def test_data_with_mistakes(run: Run, command: str, function: str, expected: str) -> None:
    Path("my_data.py").write_text(DATA)
    scenario = write_scenario(learning={"dataset": f"my_data:{function}"})
    outcome = run(command, scenario)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.count("\n") == 1
    assert outcome.err.startswith(f'flexpress: learning.dataset = "my_data:{function}": ')
    for piece in expected.split("*"):
        assert piece in outcome.err
    assert not Path("flexpress-out").exists()


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("make_modle", 'did you mean "make_model"?'),
        ("nothing", "my_net:nothing() returned NoneType: must be a torch.nn.Module"),
        ("too_narrow", "fails on images (20, 1, 28, 28): RuntimeError"),
    ],
)
def test_models_with_mistakes(run: Run, function: str, expected: str) -> None:
    pytest.importorskip("torch")
    Path("my_net.py").write_text(NET)
    outcome = run("simulate", write_scenario(learning={"model": f"my_net:{function}"}))
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.count("\n") == 1
    assert expected in outcome.err
    assert not Path("flexpress-out").exists()


def test_files_in_the_working_folder_are_not_taken_for_pythons_own(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("queue.py").write_text("raise SystemExit('not the queue of Python')")
    monkeypatch.setattr(sys, "path", [folder for folder in sys.path if folder])
    monkeypatch.delitem(sys.modules, "queue", raising=False)
    before = list(sys.path)
    assert run("data", write_scenario()).code == 0
    assert sys.path == before
