"""Our planners beside their peers: what they find in the same time, and `search` at scale."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from instances import Case, comparison_cases, scale_cases
from measure import Measurement, compile_seconds, measure
from printer import Printer
from solvers import SOLVERS, Solver
from table import comparison_row, gap, number

LABEL, CELL, FIGURE = 30, 33, 15
"""Widths of the columns."""


def compare(
    printer: Printer, *, seconds: float, repeats: int, quick: bool, only: str | None
) -> None:
    """The table of all cases; `quick` leaves large ones out, `only` those without this text."""
    solvers = [solver for solver in SOLVERS if not solver.missing()]
    for solver in SOLVERS:
        if solver.missing():
            text = f"{solver.name} is left out: the package {solver.package} is not installed."
            printer.say(text, "")
    printer.say(compile_line(printer), "")
    cases = [case for case in comparison_cases(quick) if wanted(case, only)]
    printer.say(
        f"{seconds:g} s for each solver and case, one thread, seeds 0 to {repeats - 1} in turn.",
        "Cells: the median value, its distance to the best median of the row, the least and the",
        "greatest value where they differ, median wall / CPU seconds. `-`: cannot be expressed.",
        "",
    )
    rows = (compare_case(printer, case, solvers, seconds, repeats) for case in cases)
    names = [solver.name for solver in solvers]
    printer.table(["case", *names], rows, [LABEL, *(CELL for _ in names)])


def compare_case(
    printer: Printer, case: Case, solvers: Sequence[Solver], seconds: float, repeats: int
) -> list[str]:
    """All solvers with one seed, then with the next."""
    able = [case.objective in solver.objectives for solver in solvers]
    found: list[list[Measurement]] = [[] for _ in solvers]
    for seed in range(repeats):
        for solver, can, measurements in zip(solvers, able, found, strict=True):
            if can:
                printer.tell(f"{case.label}: {solver.name}, seed {seed}")
                measurements.append(measure(solver.name, case, seconds, seed))
    return comparison_row(case.label, found)


def wanted(case: Case, only: str | None) -> bool:
    return only is None or only.lower() in case.label.lower()


def scale(printer: Printer, *, large: bool, tenfold: bool) -> None:
    """`search` on large networks, with its memory; how far from what ten times as long gives."""
    head = ["search at scale", "value", "wall / CPU s", "peak MB"]
    if tenfold:
        head += ["tenfold", "wall / CPU s", "peak MB", "gap"]
    rows = scale_rows(printer, large, tenfold)
    printer.table(head, rows, [LABEL, *(FIGURE for _ in head[1:])])


def scale_rows(printer: Printer, large: bool, tenfold: bool) -> Iterator[list[str]]:
    for case, seconds in scale_cases(large):
        printer.tell(f"{case.label}: {seconds:g} s")
        found = measure("search", case, seconds, 0)
        row = [case.label, *figures(found)]
        if tenfold:
            printer.tell(f"{case.label}: {10 * seconds:g} s")
            longer = measure("search", case, 10 * seconds, 0)
            best = min(found.value or 0.0, longer.value or 0.0)
            row += [*figures(longer), gap(found.value or 0.0, best)]
        yield row


def figures(found: Measurement) -> list[str]:
    assert found.value is not None, "no budgets, so there is a plan"
    return [number(found.value), f"{found.wall:.1f} / {found.cpu:.1f}", f"{found.megabytes:.0f}"]


def compile_line(printer: Printer) -> str:
    printer.tell("compiling")
    cold, warm = compile_seconds()
    printer.tell()
    cold_text, warm_text = (f"{wall:.1f} / {cpu:.1f} s" for wall, cpu in (cold, warm))
    return (
        f"First call of `search`, wall / CPU: {cold_text} with compilation (once), "
        f"{warm_text} without."
    )
