"""`make bench`: our planners beside their peers, value and seconds, in one run on one machine."""

from __future__ import annotations

import argparse
import os
import platform
import sys

import recording
from certificates import HEAD, certificates
from instances import Case, comparison_cases, scale_cases
from measure import Measurement, compile_seconds, measure
from solvers import SOLVERS, Solver, installed_version
from table import comparison_row, gap, number, table_head, table_row

from flexpress.planning.bounds.compiled import load

LABEL, CELL, FIGURE = 30, 33, 15
"""Widths of the columns."""


def main() -> None:
    options = read_options()
    if options.certify:
        certify(options.seconds or 60.0)
        return
    if options.learning:
        learn()
        return
    if options.recording:
        say(describe_machine(), "")
        show_recordings()
        return
    cases = [case for case in comparison_cases(options.quick) if wanted(case, options.only)]
    solvers = [solver for solver in SOLVERS if not solver.missing()]
    seconds = options.seconds or (1.0 if options.quick else 10.0)
    say(describe_machine(), "")
    for solver in SOLVERS:
        if solver.missing():
            say(f"{solver.name} is left out: the package {solver.package} is not installed.", "")
    say(compile_line(), "")
    if cases:
        say(f"{seconds:g} s for each solver and case, one thread. Cells: value, per cent above")
        say("the best of the row, wall / CPU seconds. `-`: the solver cannot express the case.", "")
        widths = [LABEL, *(CELL for _ in solvers)]
        say(table_head(["case", *(solver.name for solver in solvers)], widths))
        for case in cases:
            say(table_row(compare(case, solvers, seconds), widths))
        say("")
    if not options.quick and not options.only:
        scale(options.large, options.tenfold)
        say("")
        show_recordings()


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, help="for each solver and case (10; quick: 1)")
    parser.add_argument("--quick", action="store_true", help="1 s each, the small cases only")
    parser.add_argument("--only", metavar="NAME", help="cases whose name holds this text")
    parser.add_argument("--large", action="store_true", help="add N = 10,000, K = 100 at 120 s")
    parser.add_argument("--tenfold", action="store_true", help="scale: also with ten times as long")
    parser.add_argument("--certify", action="store_true", help="only what is proven, within 60 s")
    parser.add_argument("--learning", action="store_true", help="only the fast learner and torch")
    parser.add_argument("--recording", action="store_true", help="only what recording costs")
    return parser.parse_args()


def wanted(case: Case, only: str | None) -> bool:
    return only is None or only.lower() in case.label.lower()


def compare(case: Case, solvers: list[Solver], seconds: float) -> list[str]:
    measurements: list[Measurement | None] = []
    for solver in solvers:
        able = case.objective in solver.objectives
        tell(f"{case.label}: {solver.name}" if able else "")
        measurements.append(measure(solver.name, case, seconds) if able else None)
    tell("")
    return comparison_row(case.label, measurements)


def scale(large: bool, tenfold: bool) -> None:
    """`search` on large networks, with its memory; how far from what ten times as long gives."""
    head = ["search at scale", "value", "wall / CPU s", "peak MB"]
    if tenfold:
        head += ["tenfold", "wall / CPU s", "peak MB", "gap"]
    widths = [LABEL, *(FIGURE for _ in head[1:])]
    say(table_head(head, widths))
    for case, seconds in scale_cases(large):
        tell(f"{case.label}: {seconds:g} s")
        found = measure("search", case, seconds)
        row = [case.label, *figures(found)]
        if tenfold:
            tell(f"{case.label}: {10 * seconds:g} s")
            longer = measure("search", case, 10 * seconds)
            best = min(found.value or 0.0, longer.value or 0.0)
            row += [*figures(longer), gap(found.value or 0.0, best)]
        tell("")
        say(table_row(row, widths))


def certify(seconds: float) -> None:
    """Lower bounds on the paper's networks."""
    say(describe_machine(), "", f"At most {seconds:g} s for each proof, one thread.", "")
    load()
    widths = [LABEL, *(FIGURE for _ in HEAD[1:])]
    say(table_head(HEAD, widths))
    for row in certificates(seconds):
        say(table_row(row, widths))


def learn() -> None:
    """Local steps of LeNet, ours and torch's."""
    if not installed_version("torch"):
        say("torch is not installed: there is nothing to compare with.")
        return
    from learning import HEAD, learning

    say(describe_machine(), "")
    widths = [LABEL, *(FIGURE for _ in HEAD[1:])]
    say(table_head(HEAD, widths))
    for row in learning():
        say(table_row(row, widths))


def show_recordings() -> None:
    """The simulator alone, plain and recorded."""
    widths = [LABEL, *(FIGURE for _ in recording.HEAD[1:])]
    say(table_head(recording.HEAD, widths))
    for row in recording.recordings():
        say(table_row(row, widths))


def figures(found: Measurement) -> list[str]:
    assert found.value is not None, "no budgets, so there is a plan"
    return [number(found.value), f"{found.wall:.1f} / {found.cpu:.1f}", f"{found.megabytes:.0f}"]


def describe_machine() -> str:
    packages = ["flexpress", "numba", "highspy", "ortools", "pyvrp", "torch"]
    versions = [f"{name} {installed_version(name)}" for name in packages if installed_version(name)]
    python = f"Python {platform.python_version()}"
    cores = f"{platform.machine()}, {os.cpu_count()} cores, one used"
    return ", ".join([cores, python, *versions]) + "."


def compile_line() -> str:
    tell("compiling")
    cold, warm = compile_seconds()
    tell("")
    cold_text, warm_text = (f"{wall:.1f} / {cpu:.1f} s" for wall, cpu in (cold, warm))
    return (
        f"First call of `search`, wall / CPU: {cold_text} with compilation (once), "
        f"{warm_text} without."
    )


def say(*lines: str) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()


def tell(what: str) -> None:
    """What is going on, on one line of a terminal that is wiped again."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{what}")
        sys.stderr.flush()


if __name__ == "__main__":
    main()
