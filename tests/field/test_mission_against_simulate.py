"""An undisturbed mission by the plan's clock is what `simulate` computes, byte for byte."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from memory_field import MemoryField, random_field
from thinned import by_default, few_and_many

from flexpress.errors import InputError
from flexpress.field.trainer import Trainer
from flexpress.field.training import own_dataset, trainings
from flexpress.learning import Learner, make_learner, make_task
from flexpress.planning import Plan, make_plan
from flexpress.scenario import Scenario
from flexpress.simulation import load_run, simulate

FILES = "trace.jsonl", "metrics.csv", "model.npy", "scenario-used.toml", "plan.json"


def simulated(field: MemoryField, folder: Path) -> Path:
    simulate(field.scenario, field.plan, field.learner, out=folder)
    return folder


def check_equal(field: MemoryField, folder: Path) -> None:
    for name in FILES:
        assert (field.folder / name).read_bytes() == (folder / name).read_bytes(), name


def settings() -> Iterator[dict[str, object]]:
    for algorithm, gamma, preloaded, clock in product(
        ("sync", "async"), (0.0, 0.5), (False, True), ("slots", "exact")
    ):
        yield {
            "algorithm": algorithm,
            "head_start": gamma,
            "preloaded": preloaded,
            "clock": clock,
        }


@few_and_many(range(1), range(1, 12))
@pytest.mark.parametrize("run", list(settings()), ids=lambda run: "-".join(map(str, run.values())))
def test_it_is_what_simulate_computes(run: dict[str, object], seeds: range, tmp_path: Path) -> None:
    for seed in seeds:
        field = random_field(seed, tmp_path / f"field-{seed}", run)
        field.run(rng=np.random.default_rng(seed))
        check_equal(field, simulated(field, tmp_path / f"simulated-{seed}"))


@pytest.mark.parametrize("seed", by_default(3, range(16)))
def test_also_if_the_server_is_killed_again_and_again(seed: int, tmp_path: Path) -> None:
    run = list(settings())[(5 * seed) % 16]
    field = random_field(seed + 10, tmp_path / "field", run)
    field.run(rng=np.random.default_rng(seed), deaths=0.2)
    check_equal(field, simulated(field, tmp_path / "simulated"))


@pytest.mark.parametrize("gamma", [0.0, 0.5])
def test_with_images_and_lenet(gamma: float, tmp_path: Path) -> None:
    few = {"samples_per_client": 20, "batch_size": 5}
    run = {"horizon": 30, "eval_every": 10, "algorithm": "async", "head_start": gamma}
    scenario = Scenario.preset("four").replace(learning=few, run=run)
    plan, task, learner = make_plan(scenario), make_task(scenario), make_learner(scenario)
    trainers = {}
    for client, settings in trainings(scenario, plan, task, learner).items():
        own = task.only(client).dataset
        data = own_dataset(settings, own.train_images, own.train_labels, source="test")
        trainers[client] = Trainer.of(settings, data)
    field = MemoryField(scenario, plan, learner, trainers, tmp_path / "field")
    field.run()
    check_equal(field, simulated(field, tmp_path / "simulated"))
    found = load_run(tmp_path / "field").trace
    assert found.updates
    assert list(found.events()) == list(load_run(tmp_path / "simulated").trace.events())


def test_nobody_takes_a_mission_for_a_simulation(tmp_path: Path) -> None:
    field = random_field(1, tmp_path / "field", {"algorithm": "sync"})
    field.run()
    again: tuple[Scenario, Plan, Learner] = field.scenario, field.plan, field.learner
    with pytest.raises(InputError, match="was written by `flexpress server`"):
        simulate(*again, out=tmp_path / "field", resume=True)
    with pytest.raises(InputError, match="was written by `flexpress server`"):
        simulate(*again, out=tmp_path / "field")


def test_nor_a_simulation_for_a_mission(tmp_path: Path) -> None:
    field = random_field(1, tmp_path / "field", {"algorithm": "sync"})
    simulated(field, tmp_path / "field")
    with pytest.raises(InputError, match="holds another run"):
        field.run()
