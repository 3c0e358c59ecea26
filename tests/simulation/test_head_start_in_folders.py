"""Runs with a head start in folders: stopped anywhere, also within a tour, the result is one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from runs import drawn, watch
from test_run_folder import ALGORITHMS, CLOCKS, contents, learner
from thinned import by_default

from flexpress.errors import InputError
from flexpress.planning import Plan, make_plan
from flexpress.scenario import Algorithm, Clock, Scenario
from flexpress.simulation import head_start
from flexpress.simulation.head_start import LastUpdates
from flexpress.simulation.run_folder import run_in_folder
from flexpress.simulation.simulate import Simulation

VALLEY = Scenario.preset("valley").replace(
    run={"horizon": 18, "eval_every": 5, "head_start": 0.5, "preloaded": True}
)
FLYING: list[Algorithm] = ["sync", "async"]


@pytest.fixture(scope="module")
def plan() -> Plan:
    return make_plan(VALLEY, iterations=2000)


@pytest.fixture(autouse=True)
def _small_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two clients are trained at a time, so that a tour takes several portions."""
    monkeypatch.setattr(head_start, "MOST_BYTES", 2 * learner().initial_model().nbytes)


class Asked:
    """Whether to stop, from the `stop_at`-th question on; 0: never."""

    def __init__(self, stop_at: int = 0) -> None:
        self.stop_at, self.count = stop_at, 0

    def __call__(self) -> bool:
        self.count += 1
        return 0 < self.stop_at <= self.count


def run(
    plan: Plan,
    folder: Path,
    scenario: Scenario,
    *,
    resume: bool = False,
    should_stop: Callable[[], bool] = lambda: False,
) -> Simulation:
    simulation = Simulation(scenario, plan, learner())
    run_in_folder(simulation, folder, resume=resume, should_stop=should_stop)
    return simulation


CASES = by_default(
    2,
    [
        ("async", "exact", 0.5, True),
        ("sync", "slots", 1.0, False),
        ("sync", "exact", 0.7, True),
        ("async", "slots", 0.3, False),
        ("async", "slots", 0.0, True),
        ("sync", "exact", 0.0, True),
    ],
)


@pytest.mark.parametrize("case", CASES)
def test_stopped_at_every_moment(
    case: tuple[Algorithm, Clock, float, bool], plan: Plan, tmp_path: Path
) -> None:
    """After every event, and before every portion that is trained."""
    keys = ("algorithm", "clock", "head_start", "preloaded")
    scenario = VALLEY.replace(run=dict(zip(keys, case, strict=True)))
    asked, torn = Asked(), 0
    run(plan, tmp_path / "whole", scenario, should_stop=asked)
    whole = contents(tmp_path / "whole")
    for number in range(1, asked.count + 1):
        folder = tmp_path / str(number)
        stopped = run(plan, folder, scenario, should_stop=Asked(number))
        torn += is_within_a_tour(stopped)
        assert run(plan, folder, scenario, resume=True).complete
        assert contents(folder) == whole
    assert asked.count > 50
    assert bool(torn) == bool(case[2])


def is_within_a_tour(simulation: Simulation) -> bool:
    """Whether some clients of a transporter are trained for a tour, and others not yet."""
    last = simulation.deliveries.last_updates
    if last is None:
        return False
    sizes = [len(tour.clients) for tour in simulation.plan.transporters if tour.clients]
    parts = np.split(last.tours, np.cumsum(sizes)[:-1])
    return any(len(set(part.tolist())) > 1 for part in parts)


@pytest.mark.parametrize("algorithm", FLYING)
def test_stopped_at_every_portion(algorithm: Algorithm, plan: Plan, tmp_path: Path) -> None:
    """Again and again, so that a tour is put together from several processes."""
    scenario = VALLEY.replace(run={"algorithm": algorithm})
    run(plan, tmp_path / "whole", scenario)
    stops = 0
    while not (tmp_path / "cut" / "model.npy").exists():
        run(plan, tmp_path / "cut", scenario, resume=stops > 0, should_stop=Asked(2))
        stops += 1
    assert stops > 30
    assert contents(tmp_path / "cut") == contents(tmp_path / "whole")


@pytest.mark.parametrize("clock", CLOCKS)
@pytest.mark.parametrize("algorithm", FLYING)
def test_a_longer_horizon(algorithm: Algorithm, clock: Clock, plan: Plan, tmp_path: Path) -> None:
    """From a complete run, and from one that was stopped within a tour."""
    short = VALLEY.replace(run={"algorithm": algorithm, "clock": clock})
    longer = short.replace(run={"horizon": 41})
    run(plan, tmp_path / "long", longer)
    run(plan, tmp_path / "short", short)
    for number in (20, 45, 52, 60):
        run(plan, tmp_path / str(number), short, should_stop=Asked(number))
    for name in ("short", "20", "45", "52", "60"):
        run(plan, tmp_path / name, longer, resume=True)
        assert contents(tmp_path / name) == contents(tmp_path / "long")


def test_portions_change_no_bit(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    models = set()
    for size in (1, 7, 10**9):
        monkeypatch.setattr(head_start, "MOST_BYTES", size * learner().initial_model().nbytes)
        simulation = Simulation(VALLEY, plan, learner())
        assert list(simulation.play())
        models.add(simulation.model.tobytes())
    assert len(models) == 1


@pytest.mark.parametrize(
    ("key", "value"), [("head_start", 0.4), ("head_start", 0.0), ("preloaded", False)]
)
def test_another_run_cannot_be_resumed(
    key: str, value: float | bool, plan: Plan, tmp_path: Path
) -> None:
    run(plan, tmp_path, VALLEY, should_stop=Asked(30))
    before = contents_of_all(tmp_path)
    with pytest.raises(
        InputError, match=f"its run has another run.{key}; resume it as it was begun$"
    ):
        run(plan, tmp_path, VALLEY.replace(run={key: value}), resume=True)
    assert contents_of_all(tmp_path) == before


def contents_of_all(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("name", ["last-updates", "last-tours"])
def test_a_checkpoint_that_lacks_something(name: str, plan: Plan, tmp_path: Path) -> None:
    run(plan, tmp_path, VALLEY, should_stop=Asked(60))
    with np.load(tmp_path / "checkpoint") as content:
        arrays = {key: content[key] for key in content.files if key != name}
    with (tmp_path / "checkpoint").open("wb") as file:
        np.savez(file, **arrays)
    with pytest.raises(InputError, match="checkpoint: damaged, or not a checkpoint"):
        run(plan, tmp_path, VALLEY, resume=True)


def test_last_updates_are_read_once(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They can be gigabytes: not for the header, which is read more often."""
    run(plan, tmp_path, VALLEY, should_stop=Asked(60))
    read, reader = list[str](), np.lib.npyio.NpzFile.__getitem__

    def noted(self: np.lib.npyio.NpzFile, name: str) -> object:
        read.append(name)
        return reader(self, name)

    monkeypatch.setattr(np.lib.npyio.NpzFile, "__getitem__", noted)
    run(plan, tmp_path, VALLEY, resume=True)
    assert read.count("header") > 1
    assert read.count("last-updates") == 1


def refuse(*_: object) -> None:
    raise AssertionError("nothing may be kept for each client")


@pytest.mark.parametrize("clock", CLOCKS)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_without_a_head_start_nothing_is_kept_for_each_client(
    algorithm: Algorithm, clock: Clock, plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither in memory nor in the checkpoint; nor for an ideal link, which has no head start."""
    monkeypatch.setattr(LastUpdates, "__init__", refuse)
    gamma = 0.5 if algorithm == "direct" else 0.0
    scenario = VALLEY.replace(
        run={"algorithm": algorithm, "clock": clock, "head_start": gamma, "preloaded": False}
    )
    simulation = run(plan, tmp_path, scenario)
    assert simulation.deliveries.last_updates is None
    carried = len(simulation.deliveries.under_way)
    with np.load(tmp_path / "checkpoint") as content:
        assert not any(name.startswith("last") for name in content.files)
        assert len(content.files) <= 2 + carried
        sizes = {content[name].size for name in content.files if name != "header"}
    assert sizes == {learner().initial_model().size}


@pytest.mark.parametrize("clock", CLOCKS)
@pytest.mark.parametrize("algorithm", FLYING)
def test_the_limit_of_no_head_start(algorithm: Algorithm, clock: Clock) -> None:
    """The smallest number above 0 changes no model, so both ways to train give the same bits."""
    for seed in range(20):
        fleet, quadratic = drawn(seed, clock)
        for preloaded in (False, True):
            none, least = (
                watch(
                    changed(fleet.scenario, gamma, preloaded), fleet.plan, quadratic, algorithm, 30
                )
                for gamma in (0.0, 5e-324)
            )
            assert list(none.trace.events()) == list(least.trace.events())
            assert none.trace.metrics == least.trace.metrics
            for (_, one), (_, other) in zip(none.updates, least.updates, strict=True):
                assert np.array_equal(one, other)


def changed(scenario: Scenario, gamma: float, preloaded: bool) -> Scenario:
    return scenario.replace(run={"head_start": gamma, "preloaded": preloaded})
