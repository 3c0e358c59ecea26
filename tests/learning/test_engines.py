"""Which engine a scenario gets, and what is said if there is none."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from flexpress.errors import InputError
from flexpress.learning import make_learner, make_task
from flexpress.learning.architecture import _logistic, draw_initial, lenet
from flexpress.learning.job import Job
from flexpress.scenario import Scenario

OWN = """
import torch
from torch import nn
def plain():
    return nn.Sequential(nn.Flatten(), nn.Linear(784, 10))
def other():
    return nn.Sequential(nn.Flatten(), nn.Linear(784, 30), nn.Tanh(), nn.Linear(30, 10))
def narrow():
    return nn.Sequential(nn.Flatten(), nn.Linear(784, 9))
def number():
    return 3
def broken():
    raise OSError("no weights")
"""


class Recorded:
    """Stands where the fast learner would."""

    def __init__(self, *args: Any, **options: Any) -> None:
        self.task, self.architecture, self.initial = args
        self.options = options


@pytest.fixture(autouse=True)
def _fast(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("flexpress.learning.fast")
    module.FastLearner = Recorded  # type: ignore[attr-defined]  # modules take any name
    monkeypatch.setitem(sys.modules, "flexpress.learning.fast", module)


@pytest.fixture(autouse=True)
def _own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "nets.py").write_text(OWN)
    monkeypatch.syspath_prepend(str(tmp_path))


def paper(model: str = "lenet") -> Scenario:
    return Scenario.preset("paper").replace(learning={"model": model})


def test_task() -> None:
    task = make_task(paper())
    assert task.client_ids == tuple(range(1, 41))
    assert task.shards.shape == (40, 60)
    assert (task.learning_rate, task.batch_size, task.seed) == (0.05, 20, 0)
    assert task.dataset.image == (1, 28, 28)


def test_auto_takes_the_fast_engine() -> None:
    learner: Any = make_learner(paper(), threads=2, tell=print)
    assert learner.architecture == lenet((1, 28, 28), 10)
    assert np.array_equal(learner.initial, draw_initial(learner.architecture, 0))
    assert learner.options == {"threads": 2, "tell": print}


def test_torch_has_the_same_start() -> None:
    pytest.importorskip("torch")
    learner = make_learner(paper(), engine="torch")
    assert type(learner).__name__ == "TorchLearner"
    assert np.array_equal(learner.initial_model(), draw_initial(lenet((1, 28, 28), 10), 0))


def test_torch_learns() -> None:
    pytest.importorskip("torch")
    learner = make_learner(paper("logistic"), engine="torch")
    model = learner.initial_model()
    before = learner.evaluate(model)
    updates = learner.train([Job(client, model, 0, 20) for client in range(1, 41)])
    after = learner.evaluate(model - updates.mean(axis=0))
    assert before[1] < 0.3
    assert after[1] > 0.65
    assert after[0] < before[0] / 2


def test_own_module_that_the_fast_engine_knows() -> None:
    pytest.importorskip("torch")
    fast: Any = make_learner(paper("nets:plain"))
    assert fast.architecture == _logistic((1, 28, 28), 10)
    assert fast.initial.dtype == np.float32
    assert np.array_equal(
        fast.initial, make_learner(paper("nets:plain"), engine="torch").initial_model()
    )
    other: Any = make_learner(paper("nets:plain").replace(seed=1))
    assert not np.array_equal(fast.initial, other.initial)


def test_own_module_that_it_does_not_know() -> None:
    torch = pytest.importorskip("torch")
    state = torch.random.get_rng_state()
    learner = make_learner(paper("nets:other"))
    assert type(learner).__name__ == "TorchLearner"
    assert np.array_equal(
        learner.initial_model(), make_learner(paper("nets:other")).initial_model()
    )
    assert torch.equal(torch.random.get_rng_state(), state)
    with pytest.raises(InputError, match=r"the fast engine supports blocks of .* use engine auto"):
        make_learner(paper("nets:other"), engine="fast")


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("lenet5", r'must be lenet, mlp, logistic, or .*\(did you mean "lenet"\?\)'),
        ("nets:missing", "missing does not exist in"),
        ("nets:number", r"nets:number\(\) returned int: must be a torch.nn.Module"),
        ("nets:broken", r"nets:broken\(\) raised OSError: no weights"),
        ("nets:narrow", r"returns \(20, 9\) for images"),
        ("no_nets:make", "there is no module no_nets"),
    ],
)
def test_mistakes(model: str, message: str) -> None:
    pytest.importorskip("torch")
    with pytest.raises(InputError, match=message) as caught:
        make_learner(paper(model))
    assert str(caught.value).startswith(f'learning.model = "{model}": ')


def test_unknown_engine() -> None:
    with pytest.raises(InputError, match='engine = "jax": must be one of auto, fast, torch'):
        make_learner(paper(), engine="jax")  # type: ignore[arg-type]  # the mistake


def test_without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    assert isinstance(make_learner(paper()), Recorded)
    with pytest.raises(InputError) as caught:
        make_learner(paper("nets:plain"))
    needed = 'needs torch: pip install "flexpress[torch]"'
    assert str(caught.value) == f'learning.model = "nets:plain": {needed}'
    with pytest.raises(InputError) as caught:
        make_learner(paper(), engine="torch")
    assert str(caught.value) == f'engine = "torch": {needed}'


def test_the_room_loads_no_heavy_package() -> None:
    code = (
        "import sys, flexpress.learning; "
        "print({'torch', 'numba', 'pooch', 'scipy', 'rich', 'matplotlib'} & set(sys.modules))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "set()"


def test_the_data_come_without_pooch() -> None:
    """The embedded part is there in a blink."""
    code = (
        "import sys\nfrom flexpress.learning import make_task\n"
        "from flexpress.scenario import Scenario\nmake_task(Scenario.preset('paper'))\n"
        "print({'torch', 'numba', 'pooch', 'scipy'} & set(sys.modules))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "set()"


def test_a_seed_of_its_own_leaves_the_network_alone() -> None:
    """It does what the scenario's would, but for the positions."""
    paper = Scenario.preset("paper").replace(learning={"model": "logistic"})
    own, other = paper.replace(learning={"seed": 7}), Scenario.preset("paper", seed=7)
    assert np.array_equal(own.positions, paper.positions)
    assert not np.array_equal(own.positions, other.positions)
    assert np.array_equal(make_task(own).shards, make_task(other).shards)
    assert not np.array_equal(make_task(own).shards, make_task(paper).shards)
    assert own.learning_seed == make_task(own).seed == 7
