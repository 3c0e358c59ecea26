"""A run is resumed only with what it was begun with, and only if its files are its own."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from quadratic import Quadratic
from small_run import contents

from flexpress import InputError, Plan, Scenario, load_run, make_plan
from flexpress.files.versions import versions
from flexpress.learning import Dataset
from flexpress.simulation import origin
from flexpress.simulation.run_folder import run_in_folder
from flexpress.simulation.simulate import Simulation

VALLEY = Scenario.preset("valley").replace(run={"horizon": 40, "eval_every": 8, "head_start": 0.0})
LONGER = VALLEY.replace(run={"horizon": 60})


@pytest.fixture(scope="module")
def plan() -> Plan:
    return make_plan(VALLEY, solver="exact")


def run(
    plan: Plan,
    folder: Path,
    scenario: Scenario = VALLEY,
    *,
    data: str = "",
    resume: bool = False,
    should_stop: Callable[[], bool] = lambda: False,
) -> None:
    learner = Quadratic.drawn(VALLEY.client_ids, 7)
    if data:
        object.__setattr__(learner, "data_digest", data)
    simulation = Simulation(scenario, plan, learner)
    run_in_folder(simulation, folder, resume=resume, should_stop=should_stop)


def after(calls: int) -> Callable[[], bool]:
    answers = iter([False] * calls)
    return lambda: next(answers, True)


def refused(plan: Plan, folder: Path, expected: str, *, data: str = "") -> None:
    """And nothing is changed, not even by a longer horizon."""
    before = contents(folder)
    with pytest.raises(InputError, match=expected) as caught:
        run(plan, folder, LONGER, data=data, resume=True)
    assert "\n" not in str(caught.value)
    assert contents(folder) == before


CHANGES = ["scenario-used.toml", "plan.json", "trace.jsonl", "metrics.csv"]


@pytest.mark.parametrize("name", CHANGES)
def test_files_of_an_unfinished_run_that_were_edited(name: str, plan: Plan, tmp_path: Path) -> None:
    """So that they can still be read: a digit more, or a comment."""
    run(plan, tmp_path, should_stop=after(90))
    path = tmp_path / name
    text = path.read_text()
    edited = f"# mine\n{text}" if name.endswith(".toml") else text.replace("0", "1", 1)
    edited = f"{text}\n" if name == "plan.json" else edited
    path.write_text(edited)
    refused(plan, tmp_path, f"{name}: was changed .* wrote it; put it back as it was, or simulate")


@pytest.mark.parametrize("name", [*CHANGES, "model.npy", "checkpoint"])
def test_files_of_a_complete_run_that_were_edited(name: str, plan: Plan, tmp_path: Path) -> None:
    """In their last byte: the end of the metrics is behind the last checkpoint."""
    run(plan, tmp_path)
    content = bytearray((tmp_path / name).read_bytes())
    content[-1] ^= 1
    (tmp_path / name).write_bytes(content)
    before = contents(tmp_path)
    with pytest.raises(InputError, match=name):
        run(plan, tmp_path, LONGER, resume=True)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("name", ["scenario-used.toml", "plan.json", "metrics.csv"])
def test_a_report_notices_too(name: str, plan: Plan, tmp_path: Path) -> None:
    run(plan, tmp_path)
    path = tmp_path / name
    text = path.read_text()
    edit = {"metrics.csv": text.replace(",0.", ",1.", 1), "plan.json": f"{text}\n"}
    path.write_text(edit.get(name, f"{text}# mine\n"))
    with pytest.raises(InputError, match=f"{name}: was changed after its run wrote it"):
        load_run(tmp_path)


def test_the_measurements_of_an_unfinished_run_that_were_edited(plan: Plan, tmp_path: Path) -> None:
    run(plan, tmp_path, should_stop=after(90))
    path = tmp_path / "metrics.csv"
    path.write_text(path.read_text().replace("0.", "1.", 1))
    with pytest.raises(InputError, match=r"metrics\.csv: was changed after its run wrote it"):
        load_run(tmp_path)


def test_files_of_another_run(plan: Plan, tmp_path: Path) -> None:
    """Those that can be seen: a plain copy leaves out the record, whose name begins with a dot."""
    other = make_plan(VALLEY, objective="total", solver="exact")
    run(plan, tmp_path / "run", should_stop=after(90))
    run(other, tmp_path / "other", should_stop=after(90))
    for path in (tmp_path / "other").glob("[!.]*"):
        shutil.copy(path, tmp_path / "run")
    refused(plan, tmp_path / "run", r"plan\.json: was changed since")
    refused(other, tmp_path / "run", r"plan\.json: was changed since")


def test_a_checkpoint_of_another_run(plan: Plan, tmp_path: Path) -> None:
    run(plan, tmp_path / "run", should_stop=after(90))
    run(plan, tmp_path / "other", VALLEY.replace(seed=1), should_stop=after(90))
    for name in ("checkpoint", "trace.jsonl", "metrics.csv"):
        shutil.copy(tmp_path / "other" / name, tmp_path / "run")
    refused(plan, tmp_path / "run", "its run was made with another scenario; resume it as it was")


def test_a_run_whose_record_is_gone(plan: Plan, tmp_path: Path) -> None:
    run(plan, tmp_path, should_stop=after(90))
    (tmp_path / ".flexpress.jsonl").unlink()
    refused(plan, tmp_path, r"scenario-used\.toml: was not written by flexpress; put it back")


def test_other_data(plan: Plan, tmp_path: Path) -> None:
    run(plan, tmp_path, data="a", should_stop=after(90))
    refused(plan, tmp_path, "its run was made with other data; resume it as it was begun", data="b")
    run(plan, tmp_path, LONGER, data="a", resume=True)


@pytest.mark.parametrize("package", ["flexpress", "python", "numpy", "numba"])
def test_other_versions(
    package: str, plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = versions()
    with monkeypatch.context() as patches:
        patches.setattr(origin, "versions", lambda *, by_torch: {**usual, package: "0.1"})
        run(plan, tmp_path, should_stop=after(90))
    refused(
        plan,
        tmp_path,
        f"its run was made with {package} 0.1, and here it is {usual[package]}; resume it as",
    )


def test_torch_matters_where_it_trains(plan: Plan) -> None:
    class TorchLearner(Quadratic):
        """By its name."""

    learners = [kind.drawn(VALLEY.client_ids, 7) for kind in (Quadratic, TorchLearner)]
    found = ["torch" in origin.origin_of(VALLEY, plan, learner) for learner in learners]
    assert found == [False, True]


def test_the_code_of_a_model_of_the_users_own(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    code = tmp_path / "own_net.py"
    code.write_text("def net(): ...\n")
    __import__("own_net")
    scenario = VALLEY.replace(learning={"model": "own_net:net"})
    before = origin.made_of(scenario, plan, "")
    code.write_text("def net(): return 1\n")
    assert origin.what_differs(before, origin.made_of(scenario, plan, "")) == (
        "other code of learning.model"
    )


def test_a_horizon_is_not_part_of_it(plan: Plan, tmp_path: Path) -> None:
    run(plan, tmp_path / "cut")
    run(plan, tmp_path / "cut", LONGER, resume=True)
    run(plan, tmp_path / "whole", LONGER)
    names = ("scenario-used.toml", "plan.json", "trace.jsonl", "metrics.csv", "model.npy")
    assert contents(tmp_path / "cut", names) == contents(tmp_path / "whole", names)
    assert load_run(tmp_path / "cut").state == "complete"


def dataset(pixel: int, label: int = 0) -> Dataset:
    images = np.full((2, 1, 3, 3), pixel, np.uint8)
    labels, one = np.array([label, 1], np.int32), np.ones(1, np.float32)
    return Dataset("made", images, labels, images[:1], labels[:1], 2, one, one)


def test_the_digest_of_data_is_of_every_sample() -> None:
    assert dataset(3).digest == dataset(3).digest
    assert len({dataset(3).digest, dataset(4).digest, dataset(3, label=1).digest}) == 3
    flat = dataset(3).train_images.reshape(2, 1, 1, 9)
    assert replace(dataset(3), train_images=flat).digest != dataset(3).digest
