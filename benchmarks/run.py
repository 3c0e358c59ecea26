"""`make bench`: flexpress beside its peers, section by section, in one run on one core."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import certificates
import planning
import recording
from cluster import cluster
from days import days
from machine import describe, installed_version, pin
from printer import Printer
from readme import with_section
from visits import visits

README = Path(__file__).parent / "README.md"

Section = Callable[[Printer, argparse.Namespace], None]


def main() -> None:
    options = read_options()
    chosen = [name for name in SECTIONS if getattr(options, name)]
    machine = describe(pin())
    for name in chosen or DEFAULT:
        printer = Printer()
        printer.say(machine, "")
        SECTIONS[name](printer, options)
        if options.write:
            text = README.read_text(encoding="utf-8")
            README.write_text(with_section(text, name, printer.lines), encoding="utf-8")


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    sections = parser.add_argument_group("sections; without any, all but --certify")
    for name, meaning in MEANINGS.items():
        sections.add_argument(f"--{name}", action="store_true", help=meaning)
    parser.add_argument("--quick", action="store_true", help="only small cases, and one repeat")
    parser.add_argument("--repeats", type=int, help="of everything, in turn (3, quick: 1)")
    parser.add_argument("--write", action="store_true", help="into benchmarks/README.md too")
    parser.add_argument("--seconds", type=float, help="planning, for each solver and case (10)")
    parser.add_argument("--only", metavar="NAME", help="planning: cases whose name holds this")
    parser.add_argument("--large", action="store_true", help="planning: N = 10,000 at 120 s too")
    parser.add_argument("--tenfold", action="store_true", help="planning: also ten times as long")
    parser.add_argument("--whole-days", action="store_true", help="days: no part of a day; hours")
    options = parser.parse_args()
    options.repeats = options.repeats or (1 if options.quick else 3)
    return options


def plan(printer: Printer, options: argparse.Namespace) -> None:
    seconds = options.seconds or (1.0 if options.quick else 10.0)
    quick, only = options.quick, options.only
    planning.compare(printer, seconds=seconds, repeats=options.repeats, quick=quick, only=only)
    if not quick and not only:
        planning.scale(printer, large=options.large, tenfold=options.tenfold)


def learn(printer: Printer, options: argparse.Namespace) -> None:
    if not installed_version("torch"):
        printer.say("torch is not installed: there is nothing to compare with.")
        return
    import learning

    learning.learn(printer, repeats=options.repeats, quick=options.quick)


def simulate_days(printer: Printer, options: argparse.Namespace) -> None:
    days(printer, repeats=options.repeats, quick=options.quick, whole_days=options.whole_days)


def spread_over_workers(printer: Printer, options: argparse.Namespace) -> None:
    cluster(printer, repeats=options.repeats, quick=options.quick)


def simulate_visits(printer: Printer, options: argparse.Namespace) -> None:
    visits(printer, repeats=options.repeats)


def record(printer: Printer, options: argparse.Namespace) -> None:
    recording.recordings(printer)


def load_the_field(printer: Printer, options: argparse.Namespace) -> None:
    if not installed_version("aiohttp"):
        printer.say("the extra `field` is not installed: there is no server to measure.")
        return
    import field

    field.field(printer, repeats=options.repeats, quick=options.quick)


def certify(printer: Printer, options: argparse.Namespace) -> None:
    certificates.certify(printer, options.seconds or 60.0)


SECTIONS: dict[str, Section] = {
    "planning": plan,
    "learning": learn,
    "days": simulate_days,
    "cluster": spread_over_workers,
    "visits": simulate_visits,
    "recording": record,
    "field": load_the_field,
    "certify": certify,
}
DEFAULT = [name for name in SECTIONS if name != "certify"]
MEANINGS = {
    "planning": "our planners, OR-Tools and PyVRP: value and time",
    "learning": "our learners, torch, Flower and pfl: client-steps per second",
    "days": "seconds and memory of a simulated day, 40 to 10,000 clients",
    "cluster": "two Ray workers on two cores beside one process on one",
    "visits": "the simulator alone: visits per second",
    "recording": "what recording costs",
    "field": "a server of the field under load: updates per second, and on what it spends them",
    "certify": "what is proven about plans, within 60 s each",
}

if __name__ == "__main__":
    main()
