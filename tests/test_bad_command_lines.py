"""Whatever is typed, and whatever lies in the folder: one line, exit code 2, and nothing changed.

One folder holds a user's own files beside a plan and runs of flexpress. Every case names what it
types and a piece of what must be said: the value that is wrong. After each the whole folder is what
it was, to the byte.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import Run, cli

from flexpress import Plan, Scenario, load_plan, save_plan

OWN = """# my own words, which no command may lose
name = "mine"
slot = "1 min"
[network]
server = [0.0, 0.0]
clients = "sensors.csv"
[fleet]
speeds = ["36 km/h", "36 km/h"]
budgets = ["2 Wh", "7.2 kJ"]
[link]
transfer_time = "10 s"
altitude = "80 m"
[plan]
solver = "exact"
[run]
horizon = 4
eval_every = 4
head_start = 0
"""
SENSORS = "id,x,y\n1,300,0\n2,300,400\n3,-300,0\n4,-300,-400\n"

FILES: dict[str, str | bytes] = {
    "mine.toml": OWN,
    "sensors.csv": SENSORS,
    "empty.toml": "",
    "half.toml": OWN[:150] + "[[",
    "binary.toml": bytes(range(256)),
    "list.json": "[]",
    "empty.json": "",
    "notes.txt": "a shopping list",
    "slow.toml": OWN.replace('"36 km/h", "36 km/h"', '"0 km/h", "36 km/h"'),
    "unit.toml": OWN.replace('"7.2 kJ"', '"7.2 kg"'),
    "short.toml": OWN.replace('budgets = ["2 Wh", "7.2 kJ"]', 'budgets = ["2 Wh"]'),
    "poor.toml": OWN.replace('["2 Wh", "7.2 kJ"]', '["1 J", "2 J"]'),
    "typo.toml": OWN.replace("speeds", "speed"),
    "nowhere.toml": OWN.replace("sensors.csv", "sensor.csv"),
    "later.toml": OWN + 'clock = "noon"\n',
    "deep.toml": "a = " + "[" * 4000,
    "twice.toml": OWN + "[run]\n",
    "ghost.toml": OWN + '[learning]\ndataset = "ghost:load"\n',
    "net.toml": OWN + '[learning]\nmodel = "lenot"\n',
    "greedy.toml": OWN + "[learning]\nsamples_per_client = 1000000\n",
    "zero.toml": OWN + "[learning]\nbatch_size = 0\n",
    "rate.toml": OWN + "[learning]\nlearning_rate = -0.1\n",
    "mix.toml": OWN + '[learning]\npartition = "random"\n',
    "folder.toml/readme": "a folder with the name of a file",
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where every case is typed."""
    folder = tmp_path_factory.mktemp("world")
    before = Path.cwd()
    os.chdir(folder)
    try:
        for name, content in FILES.items():
            Path(name).parent.mkdir(exist_ok=True)
            Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
        for command in (
            "plan mine.toml --out planned",
            "plan valley --solver exact --out valley",
            "simulate mine.toml --plan planned --out run",
            "simulate mine.toml --plan planned --algorithm sync --algorithm async --out runs",
        ):
            assert cli.main(command.split()) == 0
        exchange_tours("other.json")
        shutil.copytree("planned", "edited")
        text = Path("edited/plan.json").read_text()
        Path("edited/plan.json").write_text(text.replace('"cost": ', '"cost": 9'))
        shutil.copytree("run", "hurt")
        Path("hurt/checkpoint").write_bytes(b"half a check")
        Path("hurt/model.npy").unlink()
        shutil.copytree("run", "cut")
        Path("cut/metrics.csv").write_text("slot,seconds,loss,accuracy\n0,0.0,2.3,0.1\n")
        Path("alone.json").write_text(text)
        shutil.copytree(folder, folder.with_name("kept"))
        yield folder
    finally:
        os.chdir(before)


def exchange_tours(path: str) -> None:
    """A plan of the same scenario, with the same cost, in which the drones change places."""
    scenario = Scenario.load("mine.toml")
    plan = load_plan("planned/plan.json", scenario)
    nodes = {client: node for node, client in enumerate(scenario.client_ids, start=1)}
    tours = [[nodes[client] for client in tour.clients] for tour in reversed(plan.transporters)]
    other = Plan.of(scenario, plan.objective, tours, solver="exact", seed=0, seconds=0.0)
    save_plan(other, path)


def fingerprint(folder: Path) -> dict[str, str]:
    """Every file by its digest, every folder by its name."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        if path.is_file()
        else "folder"
        for path in sorted(folder.rglob("*"))
    }


CASES: dict[str, str] = {
    # the program itself
    "fly mine.toml": 'no command "fly"',
    "--quiet": "--quiet",
    "Plan mine.toml": 'no command "Plan"',
    "plan --quiet mine.toml": "--quiet",
    # scenarios that are none
    "plan empty.toml": "empty.toml: ",
    "plan half.toml": "half.toml: not valid TOML",
    "plan binary.toml": "binary.toml: line ",
    "plan folder.toml": "folder.toml: is a folder",
    "plan notes.txt": "notes.txt: not valid TOML",
    "plan list.json": "list.json: ",
    "plan deep.toml": "deep.toml: ",
    "plan twice.toml": "twice.toml: ",
    "plan missing.toml": "missing.toml: no such file",
    "plan pap": "pap: no such file",
    "plan PAPER": "PAPER: no such file",
    "plan slow.toml": "slow.toml: fleet.speeds[0]",
    "plan unit.toml": "7.2 kg",
    "plan short.toml": "fleet.budgets",
    "plan typo.toml": "fleet.speed",
    "plan nowhere.toml": "sensor.csv",
    "plan later.toml": "noon",
    "simulate zero.toml": "learning.batch_size = 0",
    "simulate rate.toml": "learning.learning_rate = -0.1",
    "simulate mix.toml": "random",
    "simulate ghost.toml": "ghost",
    "simulate net.toml": "lenot",
    "simulate greedy.toml": "1000000",
    "data ghost.toml": "ghost",
    "data greedy.toml": "1000000",
    "data net.toml --plan nothing": "nothing: no such plan",
    "bound ghost.toml": "ghost",
    "bound empty.toml": "empty.toml: ",
    "bound missing.toml": "missing.toml: no such file",
    "bound typo.toml": "fleet.speed",
    "data missing.toml": "missing.toml: no such file",
    "data half.toml": "half.toml: not valid TOML",
    "simulate missing.toml": "missing.toml: no such file",
    "simulate binary.toml": "binary.toml: line ",
    "scenario paper --seed many": "many",
    "scenario papers": '"papers"',
    "scenario paper --seed -3": "seed = -3",
    "scenario mine.toml": "mine.toml",
    # options of plan
    "plan mine.toml --seconds": "--seconds",
    "plan mine.toml --seconds=": "--seconds",
    "plan mine.toml --seconds inf": "seconds = inf",
    "plan mine.toml --seconds -0.5": "seconds = -0.5",
    "plan mine.toml --seconds 1e12": "1000000000000.0",
    "plan mine.toml --iterations -7": "iterations = -7",
    "plan mine.toml --iterations 9999999999999999999999": "9999999999999999999999",
    "plan mine.toml --iterations ten": "ten",
    "plan mine.toml --seed 1.5": "1.5",
    "plan mine.toml --seed -2": "seed = -2",
    "plan mine.toml --seed 99999999999999999999": "99999999999999999999",
    "plan mine.toml --starts 0": "starts = 0",
    "plan mine.toml --starts -1": "starts = -1",
    "plan mine.toml --starts 1000000": "starts = 1000000",
    "plan mine.toml --starts 3": "starts = 3",
    "plan mine.toml --solver search --starts 2 --jobs 0": "jobs = 0",
    "plan mine.toml --solver search --jobs -4": "jobs = -4",
    "plan mine.toml --solver genetic": "genetic",
    "plan mine.toml --objective Minmax": "Minmax",
    "plan mine.toml --objective sws,total": "sws,total",
    "plan mine.toml --round-trips hours": "hours",
    "plan paper --solver exact": "40 clients",
    "plan mine.toml --certify-seconds 0": "0",
    "plan mine.toml --certify-seconds nan": "nan",
    "plan mine.toml --certify-seconds long": "long",
    "plan mine.toml --out mine.toml": "mine.toml",
    "plan mine.toml --out sensors.csv/x": "sensors.csv",
    "plan mine.toml --out /dev/null": "/dev/null",
    "plan mine.toml --out /proc/nowhere": "/proc/nowhere",
    "plan mine.toml --out run": "run",
    "plan mine.toml --out runs": "runs",
    "plan mine.toml --out runs/sync": "runs/sync",
    "plan valley --out edited": "edited",
    "plan mine.toml valley": "valley",
    # options of simulate
    "simulate mine.toml --horizon zero": "zero",
    "simulate mine.toml --horizon -1": "run.horizon = -1",
    "simulate mine.toml --horizon 2.5": "2.5",
    "simulate mine.toml --horizon 999999999999": "999999999999",
    "simulate mine.toml --eval-every 0": "run.eval_every = 0",
    "simulate mine.toml --eval-every -5": "run.eval_every = -5",
    "simulate mine.toml --algorithm fedavg": "fedavg",
    "simulate mine.toml --algorithm SYNC": "SYNC",
    "simulate mine.toml --engine cuda": "cuda",
    "simulate mine.toml --plan missing": "missing: no such plan",
    "simulate mine.toml --plan empty.json": "empty.json: not a plan",
    "simulate mine.toml --plan list.json": "list.json: not a plan",
    "simulate mine.toml --plan notes.txt": "notes.txt: not a plan",
    "simulate mine.toml --plan valley": "valley",
    "simulate mine.toml --plan edited": "edited",
    "simulate mine.toml --plan folder.toml": "folder.toml/plan.json: no such plan",
    "simulate paper --plan planned": "planned",
    "simulate mine.toml --out planned": "planned",
    "simulate mine.toml --out mine.toml": "mine.toml",
    "simulate mine.toml --out sensors.csv": "sensors.csv",
    "simulate mine.toml --algorithm all --out run": "run",
    "simulate mine.toml --resume --json": "--resume",
    "simulate mine.toml --out run --resume --horizon 2": "run.horizon = 2",
    "simulate mine.toml --out run --resume --eval-every 2": "eval_every",
    "simulate mine.toml --out run --resume --algorithm async": "algorithm",
    "simulate mine.toml --out run --resume --plan other.json": "another plan",
    "simulate valley --out run --resume": "run",
    "simulate mine.toml --out hurt --resume": "hurt",
    "simulate mine.toml --ray nonsense:port": "nonsense:port",
    "simulate mine.toml --ray ": "Ray address",
    # options of data and bound
    "data mine.toml --plan valley": "valley",
    "data mine.toml --plan missing": "missing: no such plan",
    "data mine.toml --out mine.toml": "mine.toml",
    "data mine.toml --out /proc/nowhere": "/proc/nowhere",
    "bound mine.toml --target 0": "0",
    "bound mine.toml --target -1": "-1",
    "bound mine.toml --target nan": "nan",
    "bound mine.toml --target low": "low",
    "bound mine.toml --horizon 0": "run.horizon = 0",
    "bound mine.toml --horizon soon": "soon",
    "bound mine.toml --plan missing": "missing: no such plan",
    "bound mine.toml --plan valley": "valley",
    "bound mine.toml --engine cuda": "cuda",
    "bound mine.toml extra": "extra",
    # export and map
    "export planned": "--format",
    "export planned --format": "--format",
    "export planned --format pdf": "pdf",
    "export planned --format kml": "--origin",
    "export planned --format kml --origin 91,0": "91",
    "export planned --format kml --origin 0,181": "181",
    "export planned --format kml --origin 47": "47",
    "export planned --format kml --origin nan,nan": "nan",
    "export planned --format kml --origin 47;8": "47;8",
    "export planned --format kml --origin 1,2,3": "1,2,3",
    "export missing --format csv": "missing: no such plan",
    "export alone.json --format csv": "--scenario",
    "export alone.json --format csv --scenario valley": "alone.json",
    "export alone.json --format csv --scenario missing.toml": "missing.toml",
    "export edited --format csv": "edited/plan.json",
    "export run/trace.jsonl --format csv": "trace.jsonl",
    "export mine.toml --format csv": "--scenario",
    "export planned --format csv --origin 47,8 --out mine.toml": "mine.toml",
    "map missing": "missing: no such plan",
    "map mine.toml": "--scenario",
    "map empty.json --scenario mine.toml": "empty.json: not a plan",
    "map planned --scenario valley": "planned",
    "map planned --scenario typo.toml": "fleet.speed",
    "map planned --out mine.toml": "mine.toml",
    "map planned --out sensors.csv": "sensors.csv",
    "map planned --out planned/plan.json": "planned/plan.json",
    "map planned --out planned/map.png": "planned/map.png",
    "map planned --out run/metrics.csv": "run/metrics.csv",
    "map planned --out planned": "planned",
    "map planned --out notes.txt/map.html": "notes.txt",
    # report
    "report": "RUN",
    "report missing": "missing: no such folder",
    "report mine.toml": "mine.toml",
    "report planned": "planned: holds no run",
    "report folder.toml": "folder.toml: holds no run",
    "report run missing": "missing: no such folder",
    "report cut": "cut/metrics.csv",
    "report hurt": "hurt",
    "report run --out run/metrics.csv": "run/metrics.csv",
    "report run --out run/plan.json": "run/plan.json",
    "report run --out run": "run",
    "report run --out mine.toml": "mine.toml",
    "report run --out notes.txt/page.html": "notes.txt",
    "report runs --out runs/curves.png": "runs/curves.png",
    # reproduce
    "reproduce --figure 7": '"7"',
    "reproduce --figure iid": '"iid"',
    "reproduce --quick --seeds 0": "0",
    "reproduce --quick --seeds two": "two",
    "reproduce --quick --networks -1": "-1",
    "reproduce --quick --networks 1.5": "1.5",
    "reproduce --quick --jobs 0": "0",
    "reproduce --quick --out mine.toml": "mine.toml",
    "reproduce --quick --out /proc/nowhere": "/proc/nowhere",
    "reproduce quick": "quick",
}

INFEASIBLE = {
    "plan poor.toml": "J",
    "plan poor.toml --json": "J",
    "plan poor.toml --solver search --out new": "J",
    "simulate poor.toml": "J",
    "data poor.toml": "J",
    "bound poor.toml": "J",
}

EMPTY = [
    ("plan", "mine.toml", "--out", ""),
    ("simulate", "mine.toml", "--out", ""),
    ("data", "mine.toml", "--out", ""),
    ("export", "planned", "--format", "csv", "--origin", "47,8", "--out", ""),
    ("map", "planned", "--out", ""),
    ("report", "run", "--out", ""),
    ("reproduce", "--quick", "--out", ""),
    ("plan", ""),
    ("simulate", ""),
    ("map", ""),
    ("report", ""),
    ("plan", "mine.toml", "--out", "a\0b"),
    ("plan", "x" * 5000),
    ("map", "planned", "--out", "y" * 300 + ".html"),
]


def assert_one_line(
    arguments: tuple[str, ...], code: int, piece: str, world: Path, run: Run
) -> None:
    before = fingerprint(world)
    os.chdir(world)
    outcome = run(*arguments)
    after = fingerprint(world)
    if after != before:  # so that one failure is one
        shutil.rmtree(world)
        shutil.copytree(world.with_name("kept"), world)
    assert (outcome.code, outcome.out) == (code, "")
    *notes, line = outcome.err.splitlines()
    assert code == 3 or not notes  # before it is known that no plan fits, there is work to do
    assert line.startswith("flexpress: ")
    assert line.isprintable()
    assert "Traceback" not in line
    assert len(line) < 500 + sum(map(len, arguments))
    assert piece in line
    assert after == before


@pytest.mark.parametrize("case", CASES)
def test_bad_input_is_one_line_and_changes_nothing(case: str, world: Path, run: Run) -> None:
    arguments = tuple(case.split(" ")) if case.endswith(" ") else tuple(case.split())
    assert_one_line(arguments, 2, CASES[case], world, run)


@pytest.mark.parametrize("case", INFEASIBLE)
def test_budgets_that_no_plan_keeps(case: str, world: Path, run: Run) -> None:
    assert_one_line(tuple(case.split()), 3, INFEASIBLE[case], world, run)


@pytest.mark.parametrize("arguments", EMPTY, ids=lambda arguments: " ".join(arguments)[:40])
def test_names_that_cannot_be_names(arguments: tuple[str, ...], world: Path, run: Run) -> None:
    assert_one_line(arguments, 2, "", world, run)


def test_the_folder_is_worth_testing(world: Path) -> None:
    """What is right about it: the cases fail for the reason that they name."""
    assert Scenario.load(world / "mine.toml").num_clients == 4
