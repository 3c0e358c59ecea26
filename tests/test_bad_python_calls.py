"""Every public call answers a bad argument with one line: the argument's name, and what it was."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import flexpress as fx
from flexpress import InputError, Job, Quadratic, Scenario

FOUR = Scenario.preset("four")
PLAN = fx.make_plan(FOUR, solver="exact")
QUADRATIC: Any = Quadratic.random(FOUR.client_ids, params=3, seed=0, learning_rate=0.1)


class Broken:
    """A learner of somebody's own that returns the wrong thing from one of its methods."""

    def __init__(self, **answers: object) -> None:
        self._answers = answers

    def initial_model(self) -> Any:
        return self._answers.get("initial_model", QUADRATIC.initial_model())

    def train(self, jobs: list[Job]) -> Any:
        return self._answers.get("train", QUADRATIC.train(jobs))

    def evaluate(self, model: Any) -> Any:
        return self._answers.get("evaluate", QUADRATIC.evaluate(model))


def fly(learner: Any, **options: Any) -> Any:
    return fx.simulate(FOUR, PLAN, learner, **{"algorithm": "sync", "horizon": 60, **options})


def train(*jobs: Any) -> Any:
    return QUADRATIC.train(list(jobs))


MODEL = QUADRATIC.initial_model()

CALLS: dict[str, Callable[[], object]] = {
    "solver": lambda: fx.make_plan(FOUR, solver=as_any("foo")),
    "objective": lambda: fx.make_plan(FOUR, objective=as_any("foo")),
    "round_trips": lambda: fx.make_plan(FOUR, round_trips=as_any("hours")),
    "iterations": lambda: fx.make_plan(FOUR, iterations=as_any(1.5)),
    "seconds": lambda: fx.make_plan(FOUR, seconds=-1),
    "seconds and iterations": lambda: fx.make_plan(FOUR, seconds=1, iterations=1),
    "seed": lambda: fx.make_plan(FOUR, seed=-1),
    "starts": lambda: fx.make_plan(FOUR, starts=0),
    "jobs": lambda: fx.make_plan(FOUR, starts=2, jobs=0),
    "scenario": lambda: fx.make_plan(as_any("four")),
    "on_progress": lambda: fx.make_plan(FOUR, on_progress=as_any(3)),
    "plan": lambda: fx.simulate(FOUR, as_any("plan.json"), QUADRATIC),
    "learner": lambda: fly(as_any(7)),
    "algorithm": lambda: fly(QUADRATIC, algorithm="foo"),
    "horizon": lambda: fly(QUADRATIC, horizon=0),
    "on_update": lambda: fly(QUADRATIC, on_update=5),
    "initial_model": lambda: fly(Broken(initial_model=np.zeros((2, 2)))),
    "initial_model is not finite": lambda: fly(Broken(initial_model=np.full(3, np.nan))),
    "train": lambda: fly(Broken(train=np.zeros((1, 1)))),
    "train returns a list": lambda: fly(Broken(train=[1.0, 2.0])),
    "evaluate": lambda: fly(Broken(evaluate=3.0)),
    "evaluate's accuracy": lambda: fly(Broken(evaluate=(1.0, 7.0))),
    "client": lambda: train(Job("nobody", MODEL, 0, 1)),
    "model": lambda: train(Job(1, MODEL[:2], 0, 1)),
    "num_steps": lambda: train(Job(1, MODEL, 0, -1)),
    "first_step": lambda: train(Job(1, MODEL, as_any(0.5), 1)),
    "preset": lambda: Scenario.preset("nowhere"),
    "preset's seed": lambda: Scenario.preset("paper", -1),
    "replace": lambda: FOUR.replace(slot=-1),
    "replace, unknown key": lambda: FOUR.replace(colour="red"),
    "format": lambda: fx.export_plan(FOUR, PLAN, as_any("pdf")),
    "certify seconds": lambda: fx.certify_plan(FOUR, PLAN, seconds=0),
    "load_run": lambda: fx.load_run("nowhere"),
    "load_plan": lambda: fx.load_plan("nowhere.json", FOUR),
    "diagnose": lambda: fx.diagnose(FOUR, seed=-3),
    "params": lambda: Quadratic.random(FOUR.client_ids, params=0, seed=0, learning_rate=0.1),
    "learning_rate": lambda: Quadratic.random(FOUR.client_ids, params=2, seed=0, learning_rate=-1),
    "noise": lambda: replace(QUADRATIC, noise=-1.0),
    "engine": lambda: fx.make_learner(FOUR, engine=as_any("gpu")),
    "threads": lambda: fx.make_learner(FOUR, threads=0),
    "record": lambda: fx.record(FOUR, PLAN, QUADRATIC, algorithm=as_any("foo"), horizon=10),
}


def as_any(value: object) -> Any:
    return value


@pytest.mark.parametrize("name", CALLS)
def test_one_line_and_no_other_error(name: str) -> None:
    with pytest.raises(InputError) as caught:
        CALLS[name]()
    text = str(caught.value)
    assert text
    assert "\n" not in text
    assert len(text) < 400


def test_numbers_of_numpy_are_numbers() -> None:
    assert FOUR.replace(seed=np.int64(3)).seed == 3
    assert fx.make_plan(FOUR, solver="exact", seed=np.int64(2)).seed == 2  # type: ignore[arg-type]  # a NumPy number
