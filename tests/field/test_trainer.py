"""A client trains in the field as in the simulator, and may be interrupted after any step."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fleets import Fleet, random_fleet
from msgspec.structs import replace

from flexpress.errors import InputError
from flexpress.field.trainer import LocalModel, Trainer
from flexpress.field.training import (
    SAMPLES,
    Training,
    load_samples,
    own_dataset,
    training_from_json,
    training_to_json,
    trainings,
    write_samples,
)
from flexpress.learning import Engine, Job, Learner, Quadratic, Task, make_learner, make_task
from flexpress.planning import Plan, make_plan
from flexpress.scenario import Scenario
from flexpress.simulation.head_start import LastUpdates
from flexpress.simulation.timetable import Timetable

FOUR = Scenario.preset("four").replace(
    learning={"samples_per_client": 30, "batch_size": 8, "model": "logistic"},
    run={"head_start": 0.5},
)


@cache
def four() -> tuple[Plan, Task, Learner]:
    return make_plan(FOUR), make_task(FOUR), make_learner(FOUR)


def settings_of(client: int | str = 2, **changes: Any) -> Training:
    plan, task, learner = four()
    return replace(trainings(FOUR, plan, task, learner)[client], **changes)


def trainer_of(client: int | str = 2) -> Trainer:
    _, task, _ = four()
    own = task.only(client).dataset
    settings = settings_of(client)
    return Trainer.of(
        settings, own_dataset(settings, own.train_images, own.train_labels, source="test")
    )


def timetables(fleet: Fleet) -> Iterator[tuple[Scenario, Timetable]]:
    for algorithm in ("sync", "async"):
        for clock in ("slots", "exact"):
            for preloaded in (False, True):
                run = {"algorithm": algorithm, "clock": clock, "preloaded": preloaded}
                scenario = fleet.scenario.replace(run=run)
                yield scenario, Timetable.of(scenario, fleet.plan, scenario.run.algorithm)


def quadratic_trainers(scenario: Scenario, plan: Plan) -> dict[int | str, Trainer]:
    """Clients that train without data."""
    learner = Quadratic.random(scenario.client_ids, params=3, seed=1)
    plain = settings_of()
    clock = {
        i: (convoy.period, offset)
        for convoy in Timetable.of(scenario, plan, scenario.run.algorithm).convoys
        for route in convoy.routes
        for i, offset in zip(route.clients, route.offsets, strict=True)
    }
    timetable = Timetable.of(scenario, plan, scenario.run.algorithm)
    return {
        i: Trainer(
            replace(
                plain,
                client=i,
                num_params=3,
                period=period,
                offset=offset,
                ticks_per_slot=timetable.ticks_per_slot,
                preloaded=timetable.preloaded,
            ),
            learner,
        )
        for i, (period, offset) in clock.items()
    }


@pytest.mark.parametrize("seed", range(12))
def test_steps_are_those_of_the_timetable(seed: int) -> None:
    fleet = random_fleet(seed)
    for scenario, timetable in timetables(fleet):
        trainers = quadratic_trainers(scenario, fleet.plan)
        for convoy in timetable.convoys:
            for route in convoy.routes:
                for client, offset in zip(route.clients, route.offsets, strict=True):
                    trainer = trainers[client]
                    for tour in range(timetable.first_tour, 6):
                        expected = timetable.steps(convoy, offset, tour)
                        assert trainer.steps_between(tour, tour + 1) == expected
                        first, missed = trainer.steps_between(tour, tour + 3)
                        later = [timetable.steps(convoy, offset, tour + j)[1] for j in range(3)]
                        assert (first, missed) == (expected[0], sum(later))


@pytest.mark.parametrize("client", [1, 2, 3, 4])
def test_an_update_is_that_of_the_simulator_however_it_is_interrupted(client: int) -> None:
    _, _, learner = four()
    trainer, base = trainer_of(client), learner.initial_model()
    (expected,) = learner.train([Job(client, base, 3, 21)])
    assert trainer.update(base, 3, 21).tobytes() == expected.tobytes()
    local = trainer.begin(base, 3)
    for portion in (1, 0, 2, 5, 13):
        kept = LocalModel(base, local.model.copy(), local.first_step, local.num_steps)
        local = trainer.advance(kept, portion)
    assert local.num_steps == 21
    assert local.update.tobytes() == expected.tobytes()


def test_it_stops_when_asked_and_says_how_far_it_came() -> None:
    trainer, asked = trainer_of(), 0

    def stop_at_the_third() -> bool:
        nonlocal asked
        asked += 1
        return asked == 3

    base = trainer.initial_model()
    stopped = trainer.advance(trainer.begin(base, 0), 100, stop_at_the_third)
    assert 0 < stopped.num_steps < 100
    done = trainer.advance(stopped, 100 - stopped.num_steps)
    assert done.update.tobytes() == trainer.update(base, 0, 100).tobytes()


def test_a_head_start_is_that_of_the_simulator() -> None:
    _, _, learner = four()
    trainer, model = trainer_of(), learner.initial_model()
    last = LastUpdates(0.5, [2], model)
    job = Job(2, model, 0, 4)
    last.train(learner, [(0, job)], lambda: False)
    update = trainer.update(trainer.start(model, None), 0, 4)
    assert update.tobytes() == last.updates[0].tobytes()
    newer = model - update / 4
    last.train(learner, [(1, Job(2, newer, 4, 4))], lambda: False)
    found = trainer.update(trainer.start(newer, update), 4, 4)
    assert found.tobytes() == last.updates[0].tobytes()


def test_by_the_wall_clock_a_step_is_due_each_slot() -> None:
    trainer = trainer_of()
    assert trainer.training.slot == 60
    assert [trainer.steps_due(1000, now) for now in (900, 1000, 1059, 1060, 1240)] == [
        0,
        0,
        0,
        1,
        4,
    ]
    assert trainer.due_at(1000, 4) == 1240
    faster = Trainer(replace(trainer.training, speedup=600.0), trainer._learner)
    assert faster.steps_due(1000, 1000.25) == 2
    assert faster.due_at(1000, 5) == 1000.5


def test_settings_survive_their_file() -> None:
    settings = settings_of(3)
    assert training_from_json(training_to_json(settings), "kit") == settings
    with pytest.raises(InputError, match=r"kit: not the settings of a client: .*unknown field"):
        training_from_json(training_to_json(settings).replace(b'"seed"', b'"sead"'), "kit")


@pytest.mark.parametrize("engine", ["fast", "torch"])
def test_a_client_trains_out_of_its_kit(tmp_path: Path, engine: Engine) -> None:
    if engine == "torch":
        pytest.importorskip("torch")
    _, task, _ = four()
    learner = make_learner(FOUR, engine=engine)
    write_samples(tmp_path / SAMPLES, task, 3)
    trainer = Trainer.in_folder(settings_of(3, engine=engine), tmp_path)
    base = trainer.initial_model()
    assert base.tobytes() == learner.initial_model().tobytes()
    (expected,) = learner.train([Job(3, base, 0, 5)])
    assert trainer.update(base, 0, 5).tobytes() == expected.tobytes()


def test_its_own_function_may_give_the_samples(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "import numpy as np\ndef load():\n    return np.zeros((9, 28, 28), np.uint8), range(9)\n"
    (tmp_path / "my_sensor.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    settings = settings_of(samples="my_sensor:load")
    assert load_samples(settings, tmp_path).train_images.shape == (9, 1, 28, 28)


IMAGES, LABELS = np.zeros((10, 28, 28), np.uint8), np.arange(10)

WRONG: dict[str, tuple[Any, Any, str]] = {
    "shape": (np.zeros((10, 28, 27), np.uint8), LABELS, r"\(1, 28, 27\).*must be \(1, 28, 28\)"),
    "kind": (IMAGES.astype(np.float32), LABELS, "float32: must be uint8"),
    "labels": (IMAGES, LABELS + 1, "label 10: must be 0 to 9"),
    "negative": (IMAGES, LABELS - 1, "label -1"),
    "floats": (IMAGES, LABELS / 2, "float64: must be whole numbers"),
    "number of labels": (IMAGES, LABELS[:9], "must be one number for each"),
    "too few": (IMAGES[:7], LABELS[:7], "7 samples: must be at least 8, the batch size"),
    "none": (IMAGES[:0], LABELS[:0], "at least one"),
}


@pytest.mark.parametrize("case", WRONG)
def test_samples_that_do_not_fit_are_refused(case: str, tmp_path: Path) -> None:
    images, labels, message = WRONG[case]
    np.savez(tmp_path / SAMPLES, images=images, labels=labels)
    with pytest.raises(InputError, match=rf"{SAMPLES}: .*{message}"):
        load_samples(settings_of(), tmp_path)


def test_a_file_that_holds_no_samples_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        load_samples(settings_of(), tmp_path)
    (tmp_path / SAMPLES).write_bytes(b"PK but not really")
    with pytest.raises(InputError, match="not a file of samples"):
        load_samples(settings_of(), tmp_path)
    np.savez(tmp_path / SAMPLES, pictures=IMAGES)
    with pytest.raises(InputError, match="not a file of samples"):
        load_samples(settings_of(), tmp_path)
    np.savez(tmp_path / SAMPLES, images=np.array([{}]), labels=LABELS)
    with pytest.raises(InputError, match="not a file of samples"):
        load_samples(settings_of(), tmp_path)


def test_another_net_than_the_servers_is_refused() -> None:
    with pytest.raises(InputError, match="has 7,850 parameters: must have 7,851"):
        Trainer(settings_of(num_params=7851), trainer_of()._learner)


def test_the_built_in_nets_do_not_need_torch(tmp_path: Path) -> None:
    _, task, _ = four()
    write_samples(tmp_path / SAMPLES, task, 2)
    (tmp_path / "training.json").write_bytes(training_to_json(settings_of()))
    code = """
import sys
from pathlib import Path
from flexpress.field.trainer import Trainer
from flexpress.field.training import training_from_json
folder = Path(sys.argv[1])
settings = training_from_json((folder / "training.json").read_bytes(), "kit")
trainer = Trainer.in_folder(settings, folder)
assert trainer.update(trainer.initial_model(), 0, 2).any()
assert "torch" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True, timeout=300)
