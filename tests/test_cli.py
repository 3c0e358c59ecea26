"""The command line, as its users and their scripts see it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import get_args

import pytest
from command_line import Outcome, Run, cli

from flexpress import InputError, Plan, Scenario, __version__, load_plan
from flexpress.cli import options
from flexpress.files.provenance import RECORD
from flexpress.learning import Engine
from flexpress.planning import plan_to_json
from flexpress.planning.export import EXPORT_FORMATS
from flexpress.scenario import Algorithm, Objective, SolverName, preset_names, preset_text

HEAVY = ["matplotlib", "numba", "numpy", "pydantic", "rich"]


def in_process(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "flexpress", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload, no-any-return]  # options of all kinds


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


# help and version


def test_version(run: Run) -> None:
    assert run("--version") == Outcome(0, f"flexpress {__version__}\n", "")


@pytest.mark.parametrize("arguments", [("--help",), ("-h",), ()])
def test_help_names_the_commands(run: Run, arguments: tuple[str, ...]) -> None:
    outcome = run(*arguments)
    assert (outcome.code, outcome.err) == (0, "")
    assert "  scenario  " in outcome.out
    assert "  plan  " in outcome.out


def test_help_of_a_command_names_its_options(run: Run) -> None:
    text = run("plan", "--help").out
    for option in (
        "objective",
        "round-trips",
        "solver",
        "seconds",
        "iterations",
        "seed",
        "out",
        "json",
    ):
        assert f"--{option}" in text
    assert "SCENARIO is a TOML file" in text


def test_help_and_version_load_nothing_heavy() -> None:
    code = (
        "import sys; from flexpress.cli import main\n"
        "main(['--help']); main(['--version']); main(['plan', '--help'])\n"
        f"sys.exit(str([name for name in {HEAVY} if name in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr == "[]\n"


def test_choices_are_those_of_the_scenario() -> None:
    assert get_args(Objective) == options.OBJECTIVES
    assert get_args(SolverName) == options.SOLVERS
    assert get_args(Algorithm) == options.ALGORITHMS
    assert get_args(Engine) == options.ENGINES
    assert EXPORT_FORMATS == options.FORMATS


# flexpress scenario


@pytest.mark.parametrize("name", preset_names())
def test_a_preset_is_printed_as_it_is(run: Run, name: str) -> None:
    assert run("scenario", name) == Outcome(0, preset_text(name), "")


def test_a_preset_with_another_seed(run: Run) -> None:
    outcome = run("scenario", "paper", "--seed", "5")
    assert tomllib.loads(outcome.out)["seed"] == 5


@pytest.mark.parametrize("arguments", [("scenario",), ("scenario", "--list")])
def test_the_presets_are_listed_with_a_description(run: Run, arguments: tuple[str, ...]) -> None:
    outcome = run(*arguments)
    assert (outcome.code, outcome.err) == (0, "")
    for name in preset_names():
        assert f"\n{name}  " in f"\n{outcome.out}"
    assert "Four clients and two drones: small enough to check by hand." in outcome.out


# flexpress plan


@pytest.mark.parametrize(
    ("objective", "cost"), [("minmax", 14.0), ("sws", 784.0), ("total", 27.2111)]
)
def test_json_of_the_four_clients(run: Run, tmp_path: Path, objective: str, cost: float) -> None:
    outcome = run("plan", "four", "--solver", "exact", "--objective", objective, "--json")
    assert (outcome.code, outcome.err) == (0, "")
    data = json.loads(outcome.out)
    seconds = data.pop("seconds")
    assert 0 <= seconds < 10
    assert data.pop("cost") == pytest.approx(cost, abs=5e-5)
    tours = data.pop("transporters")
    uncertified = {"lower_bound": None, "gap": None, "bound_method": None}
    assert data == {
        "objective": objective,
        "round_trips": "seconds",
        "feasible": True,
        "solver": "exact",
        "seed": 0,
        **uncertified,
    }
    assert sorted(client for tour in tours for client in tour["clients"]) == [1, 2, 3, 4]
    for key in ("length", "round_trip", "round_trip_slots", "energy", "budget"):
        assert all(key in tour for tour in tours)
    assert files(tmp_path) == []


def test_options_come_before_the_scenario_or_after(run: Run) -> None:
    first = json.loads(run("plan", "--json", "--solver", "exact", "--seed", "9", "valley").out)
    second = json.loads(run("plan", "valley", "--seed=9", "--solver=exact", "--json").out)
    assert first.pop("seconds") >= 0
    assert second.pop("seconds") >= 0
    assert first == second
    assert first["seed"] == 9


def test_the_table_and_the_files(run: Run, tmp_path: Path) -> None:
    outcome = run("plan", "four", "--solver", "exact")
    assert (outcome.code, outcome.err) == (0, "")
    folder = Path("flexpress-out") / "four-minmax"
    assert f"map: {folder / 'map.png'}\n" in outcome.out
    assert "minmax 14 s" in outcome.out
    assert "14.00" in outcome.out
    assert "solver exact, seed 0" in outcome.out
    assert files(tmp_path) == [
        str(folder / name) for name in (RECORD, "map.png", "plan.json", "scenario-used.toml")
    ]
    plan = load_plan(folder / "plan.json", Scenario.load(folder / "scenario-used.toml"))
    assert plan.cost == pytest.approx(14.0)


def test_the_default_folder_is_named_after_the_objective_used(run: Run, tmp_path: Path) -> None:
    assert run("plan", "four", "--solver", "exact", "--objective", "total").code == 0
    assert "flexpress-out/four-total/plan.json" in files(tmp_path)
    slots = ("--round-trips", "slots")
    assert "minmax 1 slot, feasible" in run("plan", "four", "--solver", "exact", *slots).out
    assert "flexpress-out/four-minmax-slots/plan.json" in files(tmp_path)


def test_round_trips_in_slots(run: Run, tmp_path: Path) -> None:
    """The option comes before the scenario's key; table, map and JSON have the unit."""
    Scenario.preset("four").replace(slot=5.0, plan={"round_trips": "slots"}).save("mine.toml")
    options = ("mine.toml", "--solver", "exact", "--objective", "sws", "--certify")
    outcome = run("plan", *options, "--out", "out")
    assert (outcome.code, outcome.err) == (0, "")
    assert "four: sws 36 slots², feasible" in outcome.out
    assert "proven: optimal, by dynamic programming" in outcome.out
    assert run("map", "out", "--out", "map.html").code == 0
    assert "36 slots\\u00b2" in Path("map.html").read_text()
    other = json.loads(run("plan", *options, "--round-trips", "seconds", "--json").out)
    assert (other["round_trips"], other["cost"]) == ("seconds", pytest.approx(784.0))


def test_json_and_a_folder(run: Run, tmp_path: Path) -> None:
    outcome = run("plan", "four", "--solver", "exact", "--json", "--out", "deep/er")
    expected = [
        f"deep/er/{name}" for name in (RECORD, "map.png", "plan.json", "scenario-used.toml")
    ]
    assert files(tmp_path) == expected
    assert (tmp_path / "deep/er/plan.json").read_text() == outcome.out
    plan = load_plan(tmp_path / "deep/er/plan.json", Scenario.preset("four"))
    assert outcome.out == plan_to_json(plan) + "\n"


def test_a_file_comes_before_a_preset_of_its_name(run: Run, tmp_path: Path) -> None:
    (tmp_path / "four").write_text(preset_text("valley"))
    data = json.loads(run("plan", "four", "--solver", "exact", "--json").out)
    assert len(data["transporters"]) == 3


def test_a_folder_does_not_hide_a_preset(run: Run, tmp_path: Path) -> None:
    (tmp_path / "four").mkdir()
    assert run("plan", "four", "--solver", "exact", "--json").code == 0


def test_a_scenario_file_with_its_own_settings(run: Run, tmp_path: Path) -> None:
    text = preset_text("valley", seed=4).replace('"search"', '"exact"').replace('"sws"', '"total"')
    (tmp_path / "mine.toml").write_text(text)
    data = json.loads(run("plan", "mine.toml", "--json").out)
    assert (data["solver"], data["objective"], data["seed"]) == ("exact", "total", 4)


# errors


ERRORS = {
    (
        "plann",
        "four",
    ): 'no command "plann" (did you mean "plan"?); there are: '
    "bound, client, control, courier, data, export, map, operate, plan, provision, rehearse, "
    "report, reproduce, scenario, server, simulate",
    ("--foo",): "no option",
    ("plan",): "Missing argument 'SCENARIO'; see flexpress plan --help",
    ("plan", "four", "five"): "Got unexpected extra argument (five)",
    ("plan", "fuor"): 'fuor: no such file, and no preset of that name (did you mean "four"?);',
    ("plan", "nowhere/x.toml"): "nowhere/x.toml: no such file, and no preset of that name; the",
    ("plan", "."): ".: is a folder; give the name of a file",
    ("plan", "four", "--objective", "fast"): "Invalid value for '--objective': 'fast' is not one",
    ("plan", "four", "--solver", "quick"): "Invalid value for '--solver': 'quick' is not one of",
    ("plan", "four", "--objective"): "Option '--objective' requires an argument",
    ("plan", "four", "--seconds", "-1"): "seconds = -1.0: must be a number greater than 0",
    ("plan", "four", "--seconds", "0"): "seconds = 0.0: must be a number greater than 0",
    ("plan", "four", "--seconds", "nan"): "seconds = nan: must be a number greater than 0",
    ("plan", "four", "--seconds", "soon"): "Invalid value for '--seconds': 'soon' is not a valid",
    ("plan", "four", "--iterations", "0"): "iterations = 0: must be a whole number from 1",
    ("plan", "four", "--iterations", "1.5"): "Invalid value for '--iterations': '1.5' is not a",
    ("plan", "four", "--seconds", "1", "--iterations", "1"): "seconds and iterations are both",
    ("plan", "four", "--seed", "x"): "Invalid value for '--seed': 'x' is not a valid integer",
    ("plan", "four", "--seed", "-1"): "seed = -1: must be a whole number from 0",
    ("plan", "four", "--sede", "1"): "no option",
    ("plan", "paper", "--solver", "exact"): "40 clients are too many for exact",
    ("plan", "four\nfive"): "four five: no such file",
    ("scenario", "fuor"): 'no preset "fuor" (did you mean "four"?)',
    ("scenario", "four", "--seed", "-1"): "seed = -1: must be",
    ("scenario", "four", "--seed", str(2**63)): f"seed = {2**63}: must be a whole number",
}


@pytest.mark.parametrize("arguments", ERRORS, ids=" ".join)
def test_a_mistake_is_one_line_and_exit_code_2(
    run: Run, arguments: tuple[str, ...], tmp_path: Path
) -> None:
    outcome = run(*arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(f"flexpress: {ERRORS[arguments]}")
    assert outcome.err.count("\n") == 1
    assert files(tmp_path) == []


def test_a_bad_scenario_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text(preset_text("four").replace("[1.0, 1.0]", "[1.0, -1.0]"))
    outcome = run("plan", "bad.toml")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("flexpress: bad.toml: fleet.speeds[1] = -1.0: must be greater")


def test_infeasible_is_exit_code_3_and_writes_nothing(run: Run, tmp_path: Path) -> None:
    scenario = Scenario.preset("four").replace(fleet={"budgets": [1.0, 1.0]})
    scenario.save(tmp_path / "weak.toml")
    outcome = run("plan", "weak.toml", "--solver", "exact", "--out", "out")
    assert (outcome.code, outcome.out) == (3, "")
    assert outcome.err.startswith("flexpress: ")
    assert outcome.err.count("\n") == 1
    assert files(tmp_path) == ["weak.toml"]
    assert not (tmp_path / "out").exists()


def test_a_folder_that_is_a_file_is_told_before_the_solver_works(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object, **__: object) -> Plan:
        raise AssertionError("the solver was started")

    monkeypatch.setattr("flexpress.planning.make_plan", never)
    (tmp_path / "taken").write_text("")
    outcome = run("plan", "four", "--out", "taken")
    assert outcome == Outcome(2, "", "flexpress: taken: is a file; name a folder\n")
    (tmp_path / "flexpress-out").write_text("")
    outcome = run("plan", "four")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("flexpress: flexpress-out/four-minmax: no files can be written")


def test_our_own_mistake_asks_for_a_report(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> Plan:
        raise KeyError("oops")

    monkeypatch.setattr("flexpress.planning.make_plan", broken)
    monkeypatch.delenv("FLEXPRESS_DEBUG", raising=False)
    outcome = run("plan", "four", "--json")
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith(
        "flexpress: KeyError: 'oops'. This is a bug in flexpress; please report"
    )
    assert outcome.err.count("\n") == 1
    monkeypatch.setenv("FLEXPRESS_DEBUG", "1")
    outcome = run("plan", "four", "--json")
    assert (outcome.code, outcome.out) == (1, "")
    assert "Traceback (most recent call last):" in outcome.err
    assert "in broken" in outcome.err


def test_an_error_of_any_room_is_told(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> Plan:
        raise InputError("no\nthank \x1b you")

    monkeypatch.setattr("flexpress.planning.make_plan", refuse)
    assert run("plan", "four", "--json") == Outcome(2, "", "flexpress: no thank   you\n")


# processes


def test_as_a_process(tmp_path: Path) -> None:
    done = in_process("plan", "four", "--solver", "exact", "--json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["cost"] == pytest.approx(14.0)
    assert in_process("plan", "fuor", cwd=tmp_path).returncode == 2


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "flexpress", "scenario", "paper"]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs the device that is full")
def test_a_full_disk_is_one_line() -> None:
    command = [sys.executable, "-m", "flexpress", "--version"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
    expected = b"flexpress: the output cannot be written: no space left on the device\n"
    assert (done.returncode, done.stderr) == (2, expected)


def test_closed_streams_are_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    assert cli.main(["plan", "four", "--solver", "exact", "--json"]) == 0
    assert cli.main(["plan", "fuor"]) == 2
    sys.stdout.close()
    sys.stderr.close()


def test_a_terminal_that_knows_ascii_only(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = in_process("plan", "four", "--solver", "exact", cwd=tmp_path, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert "4 -> 3" in done.stdout
