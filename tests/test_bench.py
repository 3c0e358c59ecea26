"""The benchmark's own parts: what it reads, what it hands to the peers, how it counts and tells."""

from __future__ import annotations

import subprocess
import sys
import time
import uuid
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flexpress import Job, Scenario, make_plan, record, simulate
from flexpress.learning.architecture import lenet
from flexpress.learning.fast import FastLearner
from flexpress.planning import Problem

FOLDER = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def part(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Imports a file of the benchmarks, which are scripts and no package."""
    monkeypatch.syspath_prepend(str(FOLDER))
    return import_module


def test_tsplib_nodes(part: Any, tmp_path: Path) -> None:
    path = tmp_path / "two.tsp"
    path.write_text("NAME: two\nNODE_COORD_SECTION\n1 3 4\n2 6.5e1 -2\nEOF\n")
    assert part("instances").read_tsplib(path) == [[3.0, 4.0], [65.0, -2.0]]


def test_a_missing_tsplib_file_is_told(
    part: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    instances = part("instances")
    monkeypatch.setattr(instances, "find", lambda *names: None)
    case = instances.tsplib_case("eil51", 3)
    assert case.label == "uniform 51 (eil51.tsp not found), m=3, minmax"
    assert case.problem.num_clients == 50


def test_whole_numbers_keep_the_budget(part: Any) -> None:
    """What fits the rounded budget fits the real one, and times are rounded by a millionth."""
    problem = Problem.of(Scenario.preset("valley"))
    kinds = part("integers").transporters(problem)
    assert [numbers for _, numbers in kinds] == [[0], [1], [2]]
    rng = np.random.default_rng(0)
    for kind, (k,) in kinds:
        tour = rng.permutation(np.arange(1, 13))[:6].tolist()
        stops = [0, *tour, 0]
        energy = sum(int(kind.energies[i, j]) for i, j in pairwise(stops))
        time = sum(int(kind.times[i, j]) for i, j in pairwise(stops))
        assert energy / kind.budget >= problem.energy(k, tour) / problem.budgets[k]
        assert energy / kind.budget == pytest.approx(
            problem.energy(k, tour) / problem.budgets[k], rel=1e-5
        )
        scale = 1e6 / (problem.distances().max() * problem.time_per_metre.max())
        assert time == pytest.approx(problem.round_trip(k, tour) * scale, rel=1e-5)


def test_equal_transporters_are_one_kind(part: Any) -> None:
    kinds = part("integers").transporters(Problem.of(Scenario.preset("paper")))
    assert [numbers for _, numbers in kinds] == [[0, 1, 2, 3]]


def test_gaps_and_holes_of_a_row(part: Any) -> None:
    """Medians of the values; a run without a plan is worse than any with one."""
    table, measurement = part("table"), part("measure").Measurement
    row = table.comparison_row(
        "case, total",
        [
            [measurement(100.0, 10.0, 9.96, 200.0)],
            [measurement(value, 10.0, 10.0, 200.0) for value in (103.0, 101.5, 101.0)],
            [measurement(value, 10.0, 10.0, 200.0) for value in (None, 102.0, 101.0)],
            [measurement(None, 3.0, 3.0, 200.0), measurement(None, 4.0, 4.0, 200.0)],
            [],
        ],
    )
    assert row[1:] == [
        "100.00 best, 10.0 / 10.0 s",
        "101.50 +1.50 % (101.00-103.00), 10.0 / 10.0 s",
        "102.00 +2.00 % (101.00-none), 10.0 / 10.0 s",
        "none found, 3.5 / 3.5 s",
        "-",
    ]


def test_repeats_as_text(part: Any) -> None:
    spread = part("spread")
    assert spread.spread([3.0, 1.0, 2.0], spread.tenths) == "2.0 (1.0-3.0)"
    assert spread.spread([1500.2, 1499.9], spread.whole) == "1,500"
    assert [spread.three_digits(x) for x in (0.01234, 1.5, 99.96, 12345.6)] == [
        "0.0123",
        "1.50",
        "100.",
        "12,346",
    ]


def test_a_section_of_the_readme_is_replaced(part: Any) -> None:
    text = "a\n<!-- days: begin -->\nold\n<!-- days: end -->\nb <!-- visits: begin -->"
    replaced = part("readme").with_section(text, "days", ["| x |", ""])
    assert replaced == (
        "a\n<!-- days: begin -->\n\n| x |\n\n<!-- days: end -->\nb <!-- visits: begin -->"
    )
    with pytest.raises(ValueError, match="no marks <!-- visits: begin --> and"):
        part("readme").with_section(text, "visits", [])


def test_every_section_has_its_place_in_the_readme(part: Any) -> None:
    run = part("run")
    text = run.README.read_text(encoding="utf-8")
    for name in run.SECTIONS:
        assert part("readme").with_section(text, name, ["x"]) != text


def test_exponent_of_a_power(part: Any) -> None:
    seconds = {size: 0.02 * size**1.07 for size in (40, 400, 4000)}
    assert part("days").exponent(seconds) == pytest.approx(1.07)


def test_a_part_of_a_day_costs_as_much_as_its_steps(part: Any) -> None:
    """The network of 40 has ten clients a transporter; steps are those that a day has."""
    days = part("days")
    scenario = days.scenario_of(40)
    assert scenario.num_clients == 40
    assert scenario.num_transporters == 4
    plan = make_plan(scenario, objective="minmax", iterations=100)
    longest = max(tour.round_trip_slots for tour in plan.transporters)
    assert [days.part_of_day(plan, size) for size in (40, 400, 40_000)] == [1440, 144, 4 * longest]


@pytest.mark.parametrize("image", [(1, 28, 28), (3, 32, 32)])
def test_operations_of_a_step(part: Any, image: tuple[int, int, int]) -> None:
    """As torch itself counts them."""
    torch = pytest.importorskip("torch")
    from torch.utils.flop_counter import FlopCounterMode

    module = part("torch_work").make_lenet(image)
    with FlopCounterMode(display=False) as counter:
        module(torch.zeros(20, *image)).sum().backward()
    counted = part("peak").step_operations(lenet(image, 10), 20)
    assert counted == counter.get_total_flops()


@pytest.mark.parametrize("channels_last", [False, True])
def test_all_do_the_same_local_steps(part: Any, tmp_path: Path, channels_last: bool) -> None:
    """Our fast learner on a saved workload, and the loop in plain torch that its peers share."""
    pytest.importorskip("torch")
    workload = part("workload")
    workload.Workload("FMNIST", 20).save(tmp_path)
    task, model = workload.load_task(str(tmp_path))
    learner = FastLearner(task, lenet(task.dataset.image, 10), model)
    (update,) = learner.train([Job(task.client_ids[2], model, 0, workload.NUM_STEPS)])
    work = part("torch_work").load_work(str(tmp_path), channels_last)
    work.local_steps(2)
    assert np.abs(update).max() > 1e-3
    assert np.abs(model - update - work.vector().numpy()).max() < 1e-6


BURN = "import time\nwhile time.process_time() < {seconds}: pass"
ORPHAN = f"""
import subprocess, sys, time
subprocess.Popen([sys.executable, "-c", {BURN.format(seconds=0.2)!r} + "\\ntime.sleep(900)"],
                 start_new_session=True)
"""


def test_cpu_seconds_of_all_count_orphans(part: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """As Ray's: in a session of their own, their parent gone; found by the mark they inherit."""
    turns, end_marked = part("turns"), part("player").end_marked
    if not Path("/proc/self/environ").exists():
        pytest.skip("Linux only")
    mark = uuid.uuid4().hex
    subprocess.run([sys.executable, "-c", ORPHAN], env={turns.MARK: mark}, check=True)
    monkeypatch.setenv(turns.MARK, mark)
    try:
        for _ in range(6000):
            if turns.cpu_seconds_of_all() >= 0.15:  # in ticks of 10 ms, cut off
                break
            time.sleep(0.1)
        (orphan,) = turns.marked_processes(mark)
        assert 0.15 <= turns.cpu_seconds_of_all() < 2
    finally:
        end_marked(mark)
    assert not list(turns.marked_processes(mark))
    assert not orphan.exists()


PLAYER = """
import sys; sys.path.insert(0, {folder!r})
import numpy as np
from turns import take_turns

def perform(order):
    print("not an answer")
    return np.full(3, {value} * order.rounds, np.float32)

take_turns(perform)
"""


def scripted(name: str, value: float, orders: tuple[bool, ...] = (False,)) -> Any:
    code = PLAYER.format(folder=str(FOLDER), value=value)
    return import_module("player").Contestant(name, (sys.executable, "-c", code), orders)


class Small:
    """In the place of a workload."""

    def save(self, folder: Path) -> None:
        (folder / "nothing").touch()


def test_a_contest(part: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Turns of all in their orders; who cannot begin takes none, and why is told."""
    contest, player = part("contest"), part("player")
    monkeypatch.setattr(contest, "TURN", 1e-9)
    contestants = [
        scripted("a", 1),
        player.Contestant("broken", (sys.executable, "-c", "raise OSError('no such luck')")),
        scripted("b", 1, (False, True)),
        player.Contestant("absent", ("/no/python",)),
    ]
    with player.players(contestants) as players:
        turns = contest.contest(Small(), players, repeats=2)
    assert [player.lost for player in players] == [
        None,
        "OSError: no such luck",
        None,
        "there is no /no/python",
    ]
    assert {entry: len(found) for entry, found in turns.items()} == {
        ("a", False): 2,
        ("b", False): 2,
        ("b", True): 2,
    }
    assert all(turn.rounds == 1 and turn.wall > 0 for found in turns.values() for turn in found)


def test_a_contest_of_other_models(part: Any) -> None:
    contest, player = part("contest"), part("player")
    with (
        player.players([scripted("a", 1), scripted("b", 1.1)]) as players,
        pytest.raises(RuntimeError, match=r"b computes another model: they differ by 0\.1"),
    ):
        contest.contest(Small(), players, repeats=1)


def test_the_better_order_counts(part: Any) -> None:
    learning, turn = part("learning"), part("player").Turn
    slow, quick = [turn(1, 1.0, 2.0)], [turn(1, 3.0, 1.0)]
    found = learning.better_orders({("a", False): slow, ("a", True): quick, ("b", False): slow})
    assert found == {"a": quick, "b": slow}


def test_what_is_compared_with_others_has_no_head_start(part: Any) -> None:
    """Whatever the preset says: a day, and so the cluster and the visits of many clients."""
    assert part("days").scenario_of(40).run.head_start == 0
    for name in ("recording", "visits"):
        assert '"head_start": 0.0' in (FOLDER / f"{name}.py").read_text(encoding="utf-8")


def test_calls_of_a_recording_are_counted(part: Any) -> None:
    """None in a plain run; otherwise a step for each slot, and more."""
    recording, four = part("recording"), Scenario.preset("four")
    plan = make_plan(four, solver="exact")
    plain = recording.calls_of_recording(lambda: simulate(four, plan, recording.Idle(), horizon=20))
    recorded = recording.calls_of_recording(
        lambda: record(four, plan, recording.Idle(), horizon=20)
    )
    assert plain == 0
    assert recorded > 20


@pytest.mark.slow
def test_a_short_run_without_peers() -> None:
    options = ["--planning", "--quick", "--seconds", "0.2", "--only", "paper, 15 kJ, minmax"]
    command = [sys.executable, str(FOLDER / "run.py"), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "First call of `search`, wall / CPU: " in done.stdout
    assert "PyVRP is left out: " in done.stdout or "pyvrp " in done.stdout
    assert "| paper, 15 kJ, minmax " in done.stdout
