"""Do two versions of flexpress make the same files? For changes that must not change results.

    python tools/same_bits.py BEFORE AFTER [--reproduction]

BEFORE and AFTER are two `flexpress` programs, say `.venv/bin/flexpress` of two checkouts. Both run
the same commands: plans of all presets and objectives by all solvers, exports, maps, runs of the
three algorithms on both clocks, and a report; with --reproduction also `reproduce --quick`. Every
file is compared. How long a plan took, which version wrote a file, and white space in a page do
not count; nor do the settings of [run] in the scenario beside a plan, which do not change the plan,
nor the key `round_trips`, which is new in 0.10.0.
Runs are without a head start: that is preset `paper`, in every version.
"""

from __future__ import annotations

import argparse
import html
import io
import json
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

PRESETS = ("four", "valley", "coast", "alps", "paper", "paper-50mbit", "paper-svhn")
OBJECTIVES = ("minmax", "sws", "total")
ALGORITHMS = ("sync", "async", "direct")
FORMATS = ("qgc", "wpl", "geojson", "kml", "gpx", "csv")
ORIGIN = "46.5,7.9"  # for presets in metres
GEOGRAPHIC = ("alps",)
RECORD = ".flexpress.jsonl"
NEW = "round_trips"

Command = list[str]


def commands(scenarios: Path) -> Iterator[tuple[str, Command]]:
    """Name of the folder or file that is written, and the words that come before it."""
    for preset in PRESETS:
        for objective in OBJECTIVES:
            plan = f"{preset}-{objective}"
            limits = ["--objective", objective, "--iterations", "3000"]
            yield plan, ["plan", preset, *limits, "--out"]
            origin = [] if preset in GEOGRAPHIC else ["--origin", ORIGIN]
            formats = [word for each in FORMATS for word in ("--format", each)]
            yield f"{plan}-files", ["export", plan, *formats, *origin, "--out"]
            yield f"{plan}.html", ["map", plan, "--out"]
    for objective in OBJECTIVES:
        limits = ["--objective", objective, "--iterations", "20"]
        yield f"carp-{objective}", ["plan", "paper", "--solver", "carp", *limits, "--out"]
        limits = ["--objective", objective, "--solver", "exact", "--certify"]
        yield f"exact-{objective}", ["plan", "four", *limits, "--out"]
    yield "certified", ["plan", "valley", "--iterations", "3000", "--certify", "--out"]
    for clock in ("slots", "exact"):
        given = str(scenarios / f"{clock}.toml")
        # Not all: from 0.9.0 on, that includes runs with a head start. Nor --head-start 0, which
        # earlier versions do not know.
        named = [word for each in ALGORITHMS for word in ("--algorithm", each)]
        flown = ["--plan", "paper-sws", *named, "--horizon", "60"]
        yield f"run-{clock}", ["simulate", given, *flown, "--out"]
    yield "report/report.html", ["report", "run-slots", "run-exact", "--labels", "--out"]
    yield "data", ["data", "paper", "--out"]


def run_all(program: str, folder: Path, *, reproduction: bool) -> None:
    """Every command, in a new folder."""
    scenarios = folder / "scenarios"
    scenarios.mkdir(parents=True)
    for clock in ("slots", "exact"):
        text = run(program, ["scenario", "paper"], folder)  # its last table is [run]
        (scenarios / f"{clock}.toml").write_text(f'{text}\nclock = "{clock}"\n')
    for name, words in commands(scenarios.relative_to(folder)):
        run(program, [*words, name], folder)
    if reproduction:
        run(program, ["reproduce", "--quick", "--out", "quick"], folder)


def run(program: str, words: Command, folder: Path) -> str:
    done = subprocess.run(
        [program, *words], cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{program} {' '.join(words)}: exit {done.returncode}: {done.stderr}")
    return done.stdout


def contents(folder: Path) -> dict[str, object]:
    """What counts of every file. Runs of a reproduction lie in folders named by the version.

    The scenarios that were given to the commands are not results.
    """
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        left_out = name.startswith(("quick/runs", "scenarios"))
        if path.is_file() and path.name != RECORD and not left_out:
            found[name] = content(path)
    return found


def content(path: Path) -> object:
    if path.name == "plan.json":
        plan = json.loads(path.read_text())
        return {key: value for key, value in plan.items() if key not in ("seconds", NEW)}
    if path.suffix == ".toml":
        lines = path.read_text().splitlines()
        return [line for line in lines if line != f'{NEW} = "seconds"']
    if path.name == "checkpoint":
        return checkpoint(path)
    if path.name == "scenario-used.toml" and not (path.parent / "metrics.csv").exists():
        scenario = tomllib.loads(path.read_text())
        return {key: value for key, value in scenario.items() if key != "run"}
    if path.suffix == ".html":
        return page(path.read_text())
    return path.read_bytes()


def checkpoint(path: Path) -> dict[str, object]:
    with np.load(io.BytesIO(path.read_bytes())) as file:
        arrays: dict[str, Any] = {name: file[name] for name in file.files}
    header = json.loads(arrays.pop("header").tobytes())
    for name in ("flexpress", "scenario"):  # the digest of a scenario changes with a new key
        del header["origin"][name]
    return {"header": header, **{name: array.tobytes() for name, array in arrays.items()}}


def page(text: str) -> str:
    """Without the version and the solver's time, with one way to write signs and white space."""
    text = re.sub(r"(, seed \d+), [\d.,]+ s\b", r"\1", html.unescape(text))
    first, *others = text.split("Made by flexpress ")
    rest = "".join(other.partition(":")[2] for other in others)
    return " ".join((first + rest).replace(">", "> ").replace("<", " <").split())


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare the files of two versions of flexpress.")
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--reproduction", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        sides = [Path(temporary, name) for name in ("before", "after")]
        for side, program in zip(sides, (given.before, given.after), strict=True):
            run_all(str(Path(program).absolute()), side, reproduction=given.reproduction)
        before, after = (contents(side) for side in sides)
    names = sorted(before.keys() | after.keys())
    other = [name for name in names if before.get(name) != after.get(name)]
    print(f"{len(names) - len(other)} of {len(names)} files are the same")  # noqa: T201  # a program
    for name in other:
        where = "only before" if name not in after else "only after"
        print(f"  {name}: {'differs' if name in before and name in after else where}")  # noqa: T201  # a program
    sys.exit(bool(other))


if __name__ == "__main__":
    main()
