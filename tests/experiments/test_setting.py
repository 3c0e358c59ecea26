"""What is declared: thirteen figures, and settings that give the scenarios they say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from flexpress.experiments.figures import ASYNC, FIGURES, SYNC, Figure
from flexpress.experiments.protocol import Reading, Scale, as_flown, as_paper, protocol
from flexpress.experiments.remote import remote_clients
from flexpress.experiments.setting import Setting
from flexpress.scenario import Scenario

FULL, QUICK = protocol().full, protocol().quick

NAMES = [
    *("network", "iid-fmnist", "iid-svhn", "type1-fmnist", "type1-svhn"),
    *("type2-fmnist", "type2-svhn", "routes-async", "routes-sync"),
    *("transporters", "speed", "budget", "energy"),
]


def named(name: str) -> Figure:
    return next(figure for figure in FIGURES if figure.name == name)


def test_all_thirteen_figures() -> None:
    assert [figure.name for figure in FIGURES] == NAMES
    kinds = [figure.kind for figure in FIGURES]
    assert kinds == ["map", *["curves"] * 11, "energy"]
    assert len({figure.title for figure in FIGURES}) == len(NAMES)
    for figure in FIGURES:
        assert len({line.label for line in figure.lines}) == len(figure.lines) > 0


def test_their_numbers_in_the_paper() -> None:
    assert [figure.number for figure in FIGURES] == list(range(4, 17))
    assert named("type2-svhn").place.startswith("Fig. 10, Section VII-C, ")


@pytest.mark.parametrize("scale", [FULL, QUICK])
def test_positions_are_of_the_network_and_not_of_the_seed(scale: Scale) -> None:
    first, second, other = (
        ASYNC.scenario(scale, network, seed) for network, seed in ((0, 1), (0, 2), (1, 1))
    )
    assert np.array_equal(first.positions, second.positions)
    assert not np.array_equal(first.positions, other.positions)
    assert (first.learning.seed, second.learning.seed, other.learning.seed) == (1, 2, 1)


def test_both_algorithms_fly_over_the_same_network() -> None:
    sync, asynchronous = SYNC.scenario(FULL, 0, 1), ASYNC.scenario(FULL, 0, 1)
    assert np.array_equal(sync.positions, asynchronous.positions)
    assert (sync.run.algorithm, sync.plan.objective) == ("sync", "minmax")
    assert (asynchronous.run.algorithm, asynchronous.plan.objective) == ("async", "sws")
    assert sync.learning == asynchronous.learning


@pytest.mark.parametrize(
    ("setting", "speeds", "budgets"),
    [
        (ASYNC, (10.0,) * 4, (15e3,) * 4),
        (replace(ASYNC, budget=12e3), (10.0,) * 4, (12e3,) * 4),
        (replace(ASYNC, transporters=2, budget=None), (10.0,) * 2, None),
        (replace(ASYNC, speed=5.0, budget=None), (5.0,) * 4, None),
    ],
)
def test_the_fleet(
    setting: Setting, speeds: tuple[float, ...], budgets: tuple[float, ...] | None
) -> None:
    fleet = setting.scenario(FULL, 0, 1).fleet
    assert tuple(fleet.speeds) == speeds
    assert (None if fleet.budgets is None else tuple(fleet.budgets)) == budgets


@pytest.mark.parametrize(
    ("figure", "words", "field", "value"),
    [
        ("budget", "12 kJ", "budget", 12e3),
        ("energy", "12 kJ", "budget", 12e3),
        ("transporters", "K = 2", "transporters", 2),
        ("speed", "5 m/s", "speed", 5.0),
    ],
)
def test_labels_say_what_is_set(figure: str, words: str, field: str, value: float) -> None:
    for line in named(figure).lines:
        assert (getattr(line.setting, field) == value) == line.label.endswith(f", {words}")


@pytest.mark.parametrize("scale", [FULL, QUICK])
def test_no_head_start_as_in_the_paper(scale: Scale, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither by the presets, nor if they had one."""
    settings = {line.setting for figure in FIGURES for line in figure.lines}
    runs = [setting.scenario(scale, 0, 1).run for setting in settings]
    assert {(run.head_start, run.preloaded) for run in runs} == {(0.0, False)}
    preset = Scenario.preset

    def other(name: str, seed: int | None = None) -> Scenario:
        return preset(name, seed).replace(run={"head_start": 0.5})

    monkeypatch.setattr(Scenario, "preset", other)
    assert [setting.scenario(scale, 0, 1).run for setting in settings] == runs


@pytest.mark.parametrize("reading", [as_paper(), as_flown()], ids=lambda each: each.name)
def test_data_and_reading(reading: Reading) -> None:
    setting = Setting("sync", "minmax", dataset="svhn", partition="location", reading=reading)
    scenario = setting.scenario(FULL, 0, 3)
    assert (scenario.learning.dataset, scenario.learning.partition) == ("svhn", "location")
    assert scenario.learning.learning_rate == protocol().learning_rates["svhn"]
    run, plan = scenario.run, scenario.plan
    slots = FULL.horizon["svhn"], FULL.eval_every
    assert (run.clock, run.horizon, run.eval_every) == (reading.clock, *slots)
    assert (plan.solver, plan.round_trips) == (reading.solver, reading.round_trips)


def test_a_remote_group() -> None:
    """Network 0 at 3 km is the preset; distances move the group, networks everybody."""
    preset = Scenario.preset("remote")
    setting = replace(ASYNC, remote=3.0, budget=None)
    assert np.array_equal(setting.scenario(FULL, 0, 1).positions, preset.positions)
    near, far = (np.array(remote_clients(0, km)) for km in (3.0, 8.0))
    assert np.array_equal(near[:30], far[:30])
    assert np.allclose(far[30:] - near[30:], (5000.0, 0.0))
    assert np.hypot(*near[:30].T).max() <= 800.0
    assert not np.array_equal(near, remote_clients(1, 3.0))
    assert setting.scenario(FULL, 0, 1).fleet.budgets is None


def test_what_else_may_be_set() -> None:
    setting = replace(ASYNC, learning_rate=0.002, head_start=0.5)
    for scale in (FULL, QUICK):
        scenario = setting.scenario(scale, 0, 1)
        assert (scenario.learning.learning_rate, scenario.run.head_start) == (0.002, 0.5)


def test_a_stand_in_keeps_how_unlike_the_data_are() -> None:
    setting = Setting("sync", "minmax", dataset="svhn", partition="dirichlet")
    learning = setting.scenario(QUICK, 0, 1).learning
    usual = replace(setting, dataset="fmnist").scenario(QUICK, 0, 1).learning
    assert (learning.dataset, learning.partition) == ("fmnist-mini", "dirichlet")
    assert learning.learning_rate == usual.learning_rate
    assert learning.samples_per_client == usual.samples_per_client


def test_i_i_d_runs_of_a_stand_in_are_the_same_for_both_data_sets() -> None:
    fmnist, svhn = (
        {replace(setting, dataset=name).scenario(QUICK, 0, 1) for setting in (SYNC, ASYNC)}
        for name in ("fmnist", "svhn")
    )
    assert fmnist == svhn
