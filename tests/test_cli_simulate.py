"""`flexpress simulate`: what it prints and writes, and what it says of wrong input."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import sys
from pathlib import Path

import numpy as np
import pytest
from command_line import Outcome, Run
from process_group import wait_until
from small_run import FOUR, RESULTS, contents, press_after, write_scenario

from flexpress.cli.progress import watched
from flexpress.files.provenance import RECORD
from flexpress.learning import Job, Vector, make_learner
from flexpress.learning.fast import FastLearner
from flexpress.planning import make_plan
from flexpress.planning.plan_file import save_plan
from flexpress.scenario import Scenario
from flexpress.simulation import RunProgress, simulate

pytestmark = pytest.mark.usefixtures("blank_pictures")

RUN_FILES = [RECORD, *RESULTS, "checkpoint", "curves.png", "plan.json", "scenario-used.toml"]
ALL = ["sync", "async", "sync-head-start", "async-head-start", "direct"]


@pytest.fixture
def scenario(run: Run) -> str:
    return write_scenario()


def assert_refused(outcome: Outcome, *pieces: str) -> None:
    """One line with all of these, exit code 2, and nothing is written but the scenario."""
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("flexpress: ")
    assert outcome.err.count("\n") == 1
    for piece in pieces:
        assert piece in outcome.err
    assert not Path("flexpress-out").exists()


def rows(folder: str) -> list[dict[str, str]]:
    return list(csv.DictReader(Path(folder, "metrics.csv").read_text().splitlines()))


# what it prints and writes


def test_table_and_files(run: Run, scenario: str) -> None:
    outcome = run("simulate", scenario)
    assert (outcome.code, outcome.err) == (0, "")
    for piece in ("sync", "accuracy", "fmnist-mini, iid; logistic", "30  slots"):
        assert piece in outcome.out
    folder = Path("flexpress-out/four-sync")
    assert outcome.out.endswith(f" curves: {folder}/curves.png\n")
    assert sorted(path.name for path in folder.iterdir()) == sorted(RUN_FILES)
    assert [row["slot"] for row in rows(str(folder))] == ["0", "10", "20", "30"]
    assert Scenario.load(folder / "scenario-used.toml") == FOUR
    shown = float(rows(str(folder))[-1]["accuracy"])
    assert f"{100 * shown:.1f}  %" in outcome.out


def test_the_model_is_that_of_the_library(run: Run, scenario: str) -> None:
    run("simulate", scenario, "--out", "r")
    trace = simulate(FOUR, make_plan(FOUR), make_learner(FOUR))
    np.testing.assert_array_equal(np.load("r/model.npy"), trace.model)


def test_json_is_one_object_and_writes_nothing(run: Run, scenario: str) -> None:
    before = contents(".")
    outcome = run("simulate", scenario, "--json", "--algorithm", "all")
    assert (outcome.code, outcome.err) == (0, "")
    data = json.loads(outcome.out)
    assert list(data["algorithms"]) == ALL
    assert [m["slot"] for m in data["algorithms"]["async"]["metrics"]] == [0, 10, 20, 30]
    assert data["algorithms"]["direct"]["energy"] == 0 < data["algorithms"]["sync"]["energy"]
    assert contents(".") == before


def test_json_with_a_folder(run: Run, scenario: str) -> None:
    data = json.loads(run("simulate", scenario, "--json", "--out", "r").out)
    told = [m["accuracy"] for m in data["algorithms"]["sync"]["metrics"]]
    assert told == [float(row["accuracy"]) for row in rows("r")]


@pytest.mark.parametrize(
    ("names", "expected"),
    [(["async", "sync", "async"], ["async", "sync"]), (["direct", "all"], ALL)],
)
def test_several_algorithms(run: Run, scenario: str, names: list[str], expected: list[str]) -> None:
    """Each once, with a folder of its own; the same as if it had been alone."""
    options = [piece for name in names for piece in ("--algorithm", name)]
    outcome = run("simulate", scenario, *options)
    assert outcome.code == 0
    algorithms = [name.removesuffix("-head-start") for name in expected]
    assert outcome.out.split("\n", 1)[0].split() == ["algorithm", *algorithms]
    folder = Path("flexpress-out", f"four-{'-'.join(dict.fromkeys(algorithms))}")
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        [RECORD, *expected, "curves.png", "plan.json", "scenario-used.toml"]
    )
    run("simulate", scenario, "--algorithm", expected[-1], "--out", "alone")
    assert contents(folder / expected[-1], RESULTS) == contents("alone", RESULTS)


def test_options_go_before_the_scenario(run: Run, scenario: str) -> None:
    outcome = run("simulate", scenario, "--horizon", "7", "--eval-every", "3", "--out", "r")
    assert outcome.code == 0
    assert [row["slot"] for row in rows("r")] == ["0", "3", "6", "7"]
    assert Scenario.load("r/scenario-used.toml").run.horizon == 7


def test_head_start_and_preloaded(run: Run, scenario: str) -> None:
    options = ("--head-start", "0.3", "--preloaded")
    outcome = run("simulate", scenario, *options, "--out", "r")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.splitlines()[1].split() == ["head", "start", "0.3"]
    settings = Scenario.load("r/scenario-used.toml").run
    assert (settings.head_start, settings.preloaded) == (0.3, True)
    trace = simulate(FOUR, make_plan(FOUR), make_learner(FOUR), head_start=0.3, preloaded=True)
    np.testing.assert_array_equal(np.load("r/model.npy"), trace.model)
    same = write_scenario("same.toml", run={"head_start": 0.3, "preloaded": True})
    assert run("simulate", same, "--out", "same").code == 0
    assert contents("same", RESULTS) == contents("r", RESULTS)
    back = ("--head-start", "0", "--no-preloaded")
    run("simulate", same, *back, "--out", "back")
    run("simulate", scenario, "--out", "plain")
    assert contents("back", RESULTS) == contents("plain", RESULTS) != contents("r", RESULTS)


def test_a_scenario_that_does_not_say_has_a_head_start(run: Run, scenario: str) -> None:
    """The same as if it said 0.5; 0 gives what it had before, and an ideal link has none."""
    silent = Path("silent.toml")
    silent.write_text(Path(scenario).read_text().replace("head_start = 0.0\n", ""))
    assert "head_start" not in silent.read_text()
    both = ("--algorithm", "sync", "--algorithm", "async", "--algorithm", "direct")
    outcome = run("simulate", str(silent), *both, "--out", "r")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.splitlines()[1].split() == ["head", "start", "0.5", "0.5", "-"]
    flown = {path.name for path in Path("r").iterdir() if path.is_dir()}
    assert flown == {"sync-head-start", "async-head-start", "direct"}
    for name in flown:
        used = Scenario.load(f"r/{name}/scenario-used.toml").run
        assert (used.head_start, used.preloaded) == (0.0 if name == "direct" else 0.5, False)
    named = ("--head-start", "0.5", "--out", "named")
    run("simulate", scenario, *both, *named)
    for name in flown:
        assert contents(f"r/{name}", RESULTS) == contents(f"named/{name}", RESULTS)
    run("simulate", str(silent), *both, "--head-start", "0", "--out", "off")
    run("simulate", scenario, *both, "--out", "before")
    for name in ("sync", "async", "direct"):
        assert contents(f"off/{name}", RESULTS) == contents(f"before/{name}", RESULTS)
    assert contents("r/direct", RESULTS) == contents("off/direct", RESULTS)
    assert contents("r/sync-head-start", RESULTS) != contents("off/sync", RESULTS)


def test_all_flies_the_head_start_of_the_scenario(run: Run) -> None:
    scenario = write_scenario(run={"head_start": 0.75, "preloaded": True})
    data = json.loads(run("simulate", scenario, "--algorithm", "all", "--json").out)
    assert data["preloaded"] is True
    flown = {name: (a["algorithm"], a["head_start"]) for name, a in data["algorithms"].items()}
    assert flown == {
        "sync": ("sync", 0.0),
        "async": ("async", 0.0),
        "sync-head-start": ("sync", 0.75),
        "async-head-start": ("async", 0.75),
        "direct": ("direct", 0.0),
    }


def test_by_the_exact_clock_tours_shorter_than_half_a_slot_gain_nothing(run: Run) -> None:
    """What a client trained is merged before it trains again."""
    scenario = write_scenario(run={"clock": "exact"})
    data = json.loads(run("simulate", scenario, "--algorithm", "all", "--json").out)["algorithms"]
    for name in ("sync", "async"):
        plain, ahead = (
            [m["loss"] for m in data[each]["metrics"]] for each in (name, f"{name}-head-start")
        )
        assert ahead == pytest.approx(plain, rel=1e-6)


@pytest.mark.parametrize("what", ["file", "folder"])
def test_a_plan_that_is_given(run: Run, scenario: str, what: str) -> None:
    """All clients on one tour: then FedEx-Async is FedEx-Sync, and the second drone stays."""
    Path("plans").mkdir()
    plan = make_plan(FOUR, objective="total")
    save_plan(plan, "plans/plan.json")
    given = "plans/plan.json" if what == "file" else "plans"
    assert run("simulate", scenario, "--plan", given, "--out", "r").code == 0
    text = Path("r/trace.jsonl").read_text()
    visits = [json.loads(line) for line in text.splitlines() if '"visit"' in line]
    assert [visit["client"] for visit in visits[:4]] == list(plan.transporters[0].clients)
    assert {visit["transporter"] for visit in visits} == {1}


def test_engines(run: Run, scenario: str) -> None:
    """The same curve, by different means."""
    pytest.importorskip("torch")
    for engine in ("fast", "torch"):
        outcome = run("simulate", scenario, "--engine", engine, "--out", engine)
        assert (outcome.code, outcome.err) == (0, "")
    losses = [[float(row["loss"]) for row in rows(engine)] for engine in ("fast", "torch")]
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-4)
    assert run("simulate", scenario, "--out", "auto").code == 0
    assert contents("auto", RESULTS) == contents("fast", RESULTS)
    assert contents("auto", RESULTS) != contents("torch", RESULTS)
    assert_refused(
        run("simulate", scenario, "--engine", "torch", "--out", "fast", "--resume"),
        "fast: its run was trained by FastLearner, not by TorchLearner; resume it with the same",
    )


# the terminal


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def terminal(monkeypatch: pytest.MonkeyPatch, columns: int) -> Terminal:
    """Takes the place of standard error."""
    for name, value in {"TERM": "xterm", "NO_COLOR": "1", "COLUMNS": str(columns)}.items():
        monkeypatch.setenv(name, value)
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    return screen


@pytest.mark.parametrize("columns", [100, 40])
def test_the_line_on_a_terminal(
    run: Run, scenario: str, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = terminal(monkeypatch, columns)
    assert run("simulate", scenario, "--json").code == 0
    shown = screen.getvalue()
    for piece in ("sync", "slot 0 of 30", "slot 30 of 30", "accuracy 6"):
        assert piece in shown
    assert "\x1b[3" not in shown  # NO_COLOR


def test_that_it_will_stop_is_shown_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """No event is needed for it, which may be far away."""
    screen = terminal(monkeypatch, 100)
    with watched("plan") as watching:
        watching.running(RunProgress("sync", 0, 30, None))
        wait_until(lambda: "slot 0" in screen.getvalue())
        assert "stopping" not in screen.getvalue()
        os.kill(os.getpid(), signal.SIGINT)
        wait_until(lambda: "stopping; Ctrl-C again aborts" in screen.getvalue())


# Ctrl-C


def test_json_of_an_interrupted_run(
    run: Run, scenario: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    press_after(monkeypatch, 150)
    outcome = run("simulate", scenario, "--json", "--out", "r")
    assert outcome.code == 130
    assert json.loads(outcome.out)["algorithms"]["sync"]["complete"] is False


def test_the_second_ctrl_c_aborts(run: Run, scenario: str, monkeypatch: pytest.MonkeyPatch) -> None:
    press_after(monkeypatch, 100, 100)
    outcome = run("simulate", scenario, "--algorithm", "all", "--out", "r")
    assert (outcome.code, outcome.out) == (130, "")
    expected = "flexpress: sync: aborted at slot 11; --resume continues from its last checkpoint\n"
    assert outcome.err == expected


# divergence


def test_a_run_that_diverges(run: Run) -> None:
    """LeNet with a learning rate of 10; the ideal link has its updates a round earlier."""
    scenario = write_scenario(learning={"model": "lenet", "learning_rate": 10.0})
    outcome = run("simulate", scenario, "--algorithm", "all", "--out", "r")
    assert outcome.code == 4
    lines = [line for line in outcome.err.splitlines() if "compiling" not in line]
    assert len(lines) == 5
    for line, algorithm in zip(lines, ALL, strict=True):
        assert line.startswith(f"flexpress: {algorithm}: the loss is no longer finite at slot ")
        remedy = "lower learning.learning_rate, which is 10; all before is in"
        assert line.endswith(f"; {remedy} r/{algorithm}")
        assert f"{algorithm} ended early" in outcome.out
        assert rows(f"r/{algorithm}")[0]["slot"] == "0"
        assert Path(f"r/{algorithm}/trace.jsonl").read_text().count("\n") > 10
    again = run("simulate", scenario, "--algorithm", "all", "--out", "r", "--resume")
    assert (again.code, again.err.splitlines()) == (4, lines)


def test_if_one_diverges_the_others_go_on(
    run: Run, scenario: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is trained first has no bounds, and that is for the first algorithm."""
    train, factors = FastLearner.train, iter([np.float32(3e38)])

    def train_badly(self: FastLearner, jobs: list[Job]) -> Vector:
        updates = train(self, jobs)
        updates[:] = next(factors, updates)
        return updates

    monkeypatch.setattr(FastLearner, "train", train_badly)
    outcome = run("simulate", scenario, "--algorithm", "direct", "--algorithm", "sync", "--json")
    assert outcome.code == 4
    told = json.loads(outcome.out)["algorithms"]
    assert {name: run["complete"] for name, run in told.items()} == {"direct": False, "sync": True}


# wrong input


@pytest.mark.parametrize(
    ("settings", "pieces"),
    [
        ({"dataset": "fmnist-min"}, ['dataset = "fmnist-min"', 'did you mean "fmnist-mini"?']),
        ({"model": "logistics"}, ['model = "logistics"', 'did you mean "logistic"?']),
        ({"dataset": "nowhere:load"}, ['dataset = "nowhere:load"', "no module nowhere"]),
        ({"dataset": ":load"}, ['dataset = ":load"', "module:function"]),
    ],
)
def test_names_that_do_not_exist(run: Run, settings: dict[str, object], pieces: list[str]) -> None:
    assert_refused(run("simulate", write_scenario(learning=settings)), *pieces)


@pytest.mark.parametrize(
    ("options", "pieces"),
    [
        (("--horizon", "0"), ["run.horizon = 0: must be at least 1"]),
        (("--horizon", "-1"), ["run.horizon = -1: must be at least 1"]),
        (("--horizon", "1000000000000"), ["run.horizon = 1000000000000: must be at most"]),
        (("--horizon", "1.5"), ["'--horizon'", "1.5"]),
        (("--head-start", "1.5"), ["run.head_start = 1.5: must lie within 0 and 1"]),
        (("--head-start", "-0.1"), ["run.head_start = -0.1: must lie within 0 and 1"]),
        (("--head-start", "nan"), ["run.head_start = nan: must"]),
        (("--head-start", "half"), ["'--head-start'", "half"]),
        (("--eval-every", "0"), ["run.eval_every = 0: must be at least 1"]),
        (("--algorithm", "fedavg"), ["'fedavg' is not one of 'sync', 'async', 'direct', 'all'"]),
        (("--engine", "jax"), ["'jax' is not one of 'auto', 'fast', 'torch'"]),
        (("--plan", "nowhere.json"), ["nowhere.json: no such plan; `flexpress plan SCENARIO`"]),
        (("--plan", "."), ["plan.json: no such plan"]),
        (("--out", "four.toml"), ["four.toml: is a file; name a folder"]),
        (("--out", "/proc/nowhere"), ["/proc/nowhere: no files can be written there", "another"]),
        (("--resume", "--json"), ["--resume with --json needs --out"]),
    ],
)
def test_wrong_options(
    run: Run, scenario: str, options: tuple[str, ...], pieces: list[str]
) -> None:
    assert_refused(run("simulate", scenario, *options), *pieces)


@pytest.mark.parametrize(
    ("old", "new", "piece"),
    [
        ("batch_size = 20", "batch_size = 61", "must be at most learning.samples_per_client, 60"),
        ('partition = "iid"', 'partition = "location"', "needs network.blocks"),
        ("eval_every = 10", "eval_evry = 10", "eval_every"),
        ("learning_rate = 0.05", "learning_rate = 0", "learning.learning_rate = 0"),
        ("learning_rate = 0.05", "learning_rate = nan", "learning.learning_rate = nan"),
    ],
)
def test_wrong_scenarios(run: Run, scenario: str, old: str, new: str, piece: str) -> None:
    text = Path(scenario).read_text()
    assert old in text
    Path(scenario).write_text(text.replace(old, new))
    assert_refused(run("simulate", scenario), "four.toml: ", piece)


def test_the_plan_of_another_scenario(run: Run, scenario: str) -> None:
    save_plan(make_plan(Scenario.preset("valley"), solver="carp", iterations=2), "valley.json")
    outcome = run("simulate", scenario, "--plan", "valley.json")
    assert_refused(outcome, "valley.json: 3 transporters in the plan, 2 in the scenario")


def test_data_that_are_nowhere(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty cache, and a network without a way out."""
    for name in ("HOME", "XDG_CACHE_HOME", "FLEXPRESS_DATA"):
        monkeypatch.setenv(name, str(Path("empty").resolve()))
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setattr("flexpress.learning.official._DEBIAN", Path("nowhere"))
    outcome = run("simulate", write_scenario(learning={"dataset": "fmnist"}))
    first, *rest = outcome.err.splitlines(keepends=True)
    assert first.startswith("flexpress: downloading http")
    refused = Outcome(outcome.code, outcome.out, "".join(rest))
    assert_refused(refused, 'learning.dataset = "fmnist"', "empty", "FLEXPRESS_DATA")


@pytest.mark.parametrize(
    ("settings", "options"),
    [({}, ("--engine", "torch")), ({"model": "my_net:make_model"}, ())],
)
def test_without_torch(
    run: Run,
    settings: dict[str, object],
    options: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)  # as if it were not there
    outcome = run("simulate", write_scenario(learning=settings), *options)
    assert_refused(outcome, 'needs torch: pip install "flexpress[torch]"')
