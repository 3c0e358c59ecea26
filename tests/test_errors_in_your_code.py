"""An error in the user's own code says where in her file, in one line, and never blames us."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Run
from small_run import write_scenario

pytestmark = pytest.mark.usefixtures("blank_pictures")

DATA = """import sys
import numpy as np

def load():
    return prepare()

def prepare():
    raise RuntimeError("boom")  # line 8

def leave():
    sys.exit()  # line 11

def load_well():
    images, labels = np.zeros((200, 28, 28), "float32"), np.arange(200) % 10
    return (images, labels), (images, labels)
"""

NET = """from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(784, 10)

    def forward(self, images):
        return self.linear(images.flatten(1)) + self.missing  # line 9

def make_model():
    return Net()
"""


@pytest.fixture(autouse=True)
def _no_debugging(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FLEXPRESS_DEBUG", raising=False)


@pytest.mark.parametrize(
    ("function", "raised", "line"),
    [("load", "RuntimeError: boom", 8), ("leave", "SystemExit", 11)],
)
@pytest.mark.parametrize("command", ["simulate", "data"])
def test_data(run: Run, command: str, function: str, raised: str, line: int) -> None:
    Path("mydata.py").write_text(DATA)
    scenario = write_scenario("four.toml", learning={"dataset": f"mydata:{function}"})
    outcome = run(command, scenario, "--out", "out")
    assert (outcome.code, outcome.out) == (2, "")
    (said,) = outcome.err.splitlines()
    assert raised in said
    assert f"mydata.py:{line}" in said
    assert "bug in flexpress" not in said
    assert not Path("out").exists()


def test_a_model(run: Run) -> None:
    pytest.importorskip("torch")
    Path("mynet.py").write_text(NET)
    scenario = write_scenario("four.toml", learning={"model": "mynet:make_model"})
    outcome = run("simulate", scenario, "--out", "out")
    assert (outcome.code, outcome.out) == (2, "")
    said = outcome.err.splitlines()[-1]
    assert "AttributeError" in said
    assert "mynet.py:9" in said
    assert "bug in flexpress" not in said


def test_the_whole_traceback_on_request(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("mydata.py").write_text(DATA)
    scenario = write_scenario("four.toml", learning={"dataset": "mydata:load"})
    assert "FLEXPRESS_DEBUG=1" in run("simulate", scenario, "--out", "out").err
    monkeypatch.setenv("FLEXPRESS_DEBUG", "1")
    said = run("simulate", scenario, "--out", "out").err
    assert "Traceback (most recent call last)" in said
    assert "in prepare" in said
    assert said.splitlines()[-1].startswith("flexpress: ")
