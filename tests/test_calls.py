"""Every command has a Python call with the same defaults, and docs/api.md says which."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
import typer
from command_line import cli
from small_run import FOUR, RESULTS, contents

import flexpress
from flexpress import (
    InputError,
    Job,
    Metrics,
    Plan,
    compare,
    load_run,
    make_plan,
    save_report,
)
from flexpress.learning import Vector, make_learner
from flexpress.scenario import Algorithm
from flexpress.simulation import RunProgress

PAGE = (Path(__file__).parents[1] / "docs" / "api.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `flexpress (\w+)` \|(.*)\|(.*)\|$", PAGE, re.MULTILINE)

SHELL = {"as_json", "browser", "names", "certify", "certify_seconds", "diagnose", "labels"}
"""Options about the terminal and the desktop, or that choose another call."""

OTHERS: Mapping[str, Mapping[str, str]] = {
    "simulate": {"algorithms": "algorithm"},
    "bound": {"plan": "plans"},
    "reproduce": {"figure": "figures"},
    "export": {"formats": "format"},
}
FILES = {"name", "scenario", "preset", "plan"}
"""Where the command names a file, the call gets the value."""

PROGRAM = typer.main.get_command(cli.app)
assert isinstance(PROGRAM, click.Group)
COMMANDS = PROGRAM.commands


def calls(cell: str) -> list[Callable[..., Any]]:
    found = []
    for name in re.findall(r"`([\w.]+)\(", cell):
        value: Any = flexpress
        for part in name.split("."):
            value = getattr(value, part)
        found.append(value)
    return found


def test_every_command_has_its_calls() -> None:
    assert [name for name, _, _ in ROWS] == list(COMMANDS)
    for _, cell, _ in ROWS:
        assert calls(cell)


@pytest.mark.parametrize(("command", "cell"), [row[:2] for row in ROWS])
def test_options_are_arguments_with_the_same_defaults(command: str, cell: str) -> None:
    """An empty list, like None, is the default for all, or for what the scenario has."""
    arguments = {
        name: parameter
        for call in reversed(calls(cell))
        for name, parameter in inspect.signature(call).parameters.items()
    }
    for option in COMMANDS[command].params:
        name = OTHERS.get(command, {}).get(option.name or "", option.name)
        if name in SHELL or option.name in FILES or option.name == "help":
            continue
        if name == "out" and name not in arguments:
            assert "path" in arguments or command in ("plan", "data", "export")
            continue
        assert name in arguments, f"{command}: no argument {name}"
        default = arguments[name].default
        if default is not inspect.Parameter.empty:
            assert (option.default or None) == (default or None), name


def test_the_table_has_the_defaults() -> None:
    """Those that are not None."""
    for command, cell, text in ROWS:
        for call in calls(cell):
            for name, parameter in inspect.signature(call).parameters.items():
                option = name in {each.name for each in COMMANDS[command].params}
                if option and isinstance(parameter.default, int | str) and parameter.default:
                    shown = repr(parameter.default).replace("'", '"')
                    assert f"`{name}={shown}`" in text


# runs in folders, without the command line


class Steps:
    """A learner of the user's own: every step moves the model by one."""

    def initial_model(self) -> Vector:
        return np.zeros(3)

    def train(self, jobs: Sequence[Job]) -> Vector:
        return np.array([np.full(3, -float(job.num_steps)) for job in jobs])

    def evaluate(self, model: Vector) -> Metrics:
        return Metrics(1 / (1 + float(model.mean())), 0.5)


@pytest.fixture(scope="module")
def plan() -> Plan:
    return make_plan(FOUR)


def test_a_learner_of_the_users_own_has_a_run_folder(plan: Plan, tmp_path: Path) -> None:
    whole = flexpress.simulate(FOUR, plan, Steps(), out=tmp_path / "whole")
    seen: list[RunProgress] = []
    part = flexpress.simulate(
        FOUR,
        plan,
        Steps(),
        out=tmp_path / "run",
        on_progress=seen.append,
        should_stop=lambda: len(seen) > 40,
    )
    assert not part.complete
    assert load_run(tmp_path / "run").state == "unfinished"
    again = flexpress.simulate(FOUR, plan, Steps(), out=tmp_path / "run", resume=True)
    assert again.metrics == whole.metrics == flexpress.simulate(FOUR, plan, Steps()).metrics
    assert contents(tmp_path / "run", RESULTS) == contents(tmp_path / "whole", RESULTS)
    save_report([load_run(tmp_path / "run")], tmp_path / "report.html")
    assert "accuracy" in (tmp_path / "report.html").read_text()


def test_plan_and_learner_are_made_if_none_is_given(tmp_path: Path) -> None:
    alone = flexpress.simulate(FOUR, horizon=10, eval_every=5, out=tmp_path)
    given = flexpress.simulate(FOUR, make_plan(FOUR), make_learner(FOUR), horizon=10, eval_every=5)
    assert alone.metrics == given.metrics
    assert [measured.slot for measured in alone.metrics] == [0, 5, 10]
    assert load_run(tmp_path).trace.metrics == alone.metrics


def test_algorithms_are_compared_in_folders(plan: Plan, tmp_path: Path) -> None:
    traces = compare(FOUR, plan, Steps(), out=tmp_path)
    assert list(traces) == ["sync", "async", "sync-head-start", "async-head-start", "direct"]
    for name, trace in traces.items():
        kept = load_run(tmp_path / name)
        assert kept.trace.metrics == trace.metrics
        assert kept.trace.name == trace.name == name
        settings = {"algorithm": kept.scenario.run.algorithm, "head_start": trace.head_start}
        alone = flexpress.simulate(FOUR.replace(run=settings), plan, Steps())
        assert alone.metrics == trace.metrics
    assert [trace.head_start for trace in traces.values()] == [0, 0, 0.5, 0.5, 0]
    assert flexpress.simulation.find_runs([tmp_path]) == [tmp_path / name for name in traces]


def test_runs_are_named_after_what_they_fly(plan: Plan) -> None:
    """The scenario's head start, or that of the call; an ideal link has none."""
    fast = FOUR.replace(run={"head_start": 0.25, "horizon": 8})
    assert list(compare(fast, plan, Steps(), algorithms=["async", "direct", "async"])) == [
        "async-head-start",
        "direct",
    ]
    every = compare(fast, plan, Steps())
    assert [trace.label for trace in every.values()] == [
        "sync",
        "async",
        "sync, head start 0.25",
        "async, head start 0.25",
        "direct",
    ]
    assert list(compare(fast, plan, Steps(), algorithms=["sync"], head_start=0)) == ["sync"]
    assert flexpress.simulate(fast, plan, Steps()).name == "sync-head-start"
    assert flexpress.simulate(fast, plan, Steps(), head_start=0.0).name == "sync"
    assert flexpress.simulate(fast, plan, Steps(), algorithm="direct").head_start == 0


def test_preloaded_clients_bring_updates_on_the_first_tour(plan: Plan) -> None:
    without, aboard = (
        compare(FOUR, plan, Steps(), preloaded=preloaded) for preloaded in (False, True)
    )
    for name, trace in aboard.items():
        first = trace.updates[0].slot
        assert first == without[name].updates[0].slot - (0 if name == "direct" else 1)
    loaded = FOUR.replace(run={"preloaded": True})
    assert flexpress.simulate(loaded, plan, Steps(), preloaded=False).updates[0].slot == 2


def test_resume_takes_the_plan_of_the_runs(tmp_path: Path) -> None:
    other = make_plan(FOUR, objective="total")
    seen: list[RunProgress] = []
    algorithms: tuple[Algorithm, ...] = ("sync", "async")
    compare(
        FOUR,
        other,
        Steps(),
        algorithms=algorithms,
        out=tmp_path,
        on_progress=seen.append,
        should_stop=lambda: len(seen) > 40,
    )
    plans: list[Plan] = []
    traces = compare(
        FOUR,
        learner=Steps(),
        algorithms=algorithms,
        out=tmp_path,
        resume=True,
        on_plan=plans.append,
    )
    assert plans[0].transporters == other.transporters
    assert all(trace.complete for trace in traces.values())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"algorithms": ()}, "algorithms = (): must be at least one"),
        ({"algorithms": "sync"}, 'algorithms = "sync": must be a list'),
        ({"algorithms": ["fast"]}, 'algorithms = "fast": must be one of sync, async, direct'),
        ({"learner": Steps(), "engine": "fast"}, "learner and engine are both given"),
        ({"learner": Steps(), "ray": "local"}, "learner and ray are both given"),
        ({"horizon": 0}, "run.horizon"),
        ({"head_start": 1.5}, "run.head_start = 1.5: must lie within 0 and 1"),
        ({"head_start": "half"}, 'run.head_start = "half": must be a number'),
        ({"preloaded": 1}, "run.preloaded = 1: must be true or false"),
        ({"out": ""}, 'out = "": must be'),
        ({"resume": True}, "resume is given without out; name the folder"),
        ({"on_progress": None}, "on_progress = None: must be a function"),
        ({"plan": "plan.json"}, "plan"),
        ({"engine": "quick"}, 'engine = "quick": must be one of'),
    ],
)
def test_bad_arguments_of_compare(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        compare(FOUR, **arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"plans": []}, "plans = []: must be at least one"),
        ({"target": -1.0}, "target"),
        ({"horizon": 0}, "run.horizon"),
        ({"engine": "quick"}, "engine"),
        ({"tell": 3}, "tell = 3: must be a function"),
    ],
)
def test_bad_arguments_of_bound(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        flexpress.bound(FOUR, **arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"figures": "speed"}, 'figures = "speed": must be a list'),
        ({"figures": ["sped"]}, 'no figure "sped" (did you mean "speed"?)'),
        ({"seeds": 0}, "seeds = 0: must be a whole number"),
        ({"networks": 1.5}, "networks = 1.5: must be a whole number"),
        ({"out": b"x"}, "out"),
        ({"should_stop": True}, "should_stop = True: must be a function"),
    ],
)
def test_bad_arguments_of_reproduce(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        flexpress.reproduce(**arguments)
