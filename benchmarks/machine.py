"""The machine: the one core that everything runs on, what is installed, how busy it was."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("flexpress", "numpy", "numba", "highspy", "ortools", "pyvrp", "torch", "ray")


CAN_PIN = hasattr(os, "sched_setaffinity")
CORES = os.sched_getaffinity(0) if CAN_PIN else set[int]()
"""All that we may use, before we are pinned to one."""


def pin() -> str:
    """To the last core of those that we may use; processes that are started later inherit it."""
    if not CAN_PIN:
        return "not pinned to a core, which only Linux can do"
    os.sched_setaffinity(0, {max(CORES)})
    return f"all pinned to core {max(CORES)}"


@contextmanager
def every_core() -> Iterator[None]:
    """For processes that are started in the block."""
    if not CAN_PIN:
        yield
        return
    pinned = os.sched_getaffinity(0)
    os.sched_setaffinity(0, CORES)
    try:
        yield
    finally:
        os.sched_setaffinity(0, pinned)


def describe(pinned: str) -> str:
    """Processor, load before the run, and versions of what is installed here."""
    load = f"load {os.getloadavg()[0]:.2f} before the run"
    python = f"Python {platform.python_version()}"
    machine = f"{processor()}, {os.cpu_count()} cores, {pinned}, {load}"
    return ", ".join([machine, python, *versions(PACKAGES)]) + "."


def processor() -> str:
    """As Linux calls it, and how wide its vectors are, which says more than some names."""
    path = Path("/proc/cpuinfo")
    if not path.exists():
        return platform.machine()
    facts: Mapping[str, str] = dict(
        (part.strip() for part in line.partition(":")[::2])  # type: ignore[misc]  # two parts
        for line in path.read_text().splitlines()
        if ":" in line
    )
    flags = facts.get("flags", "").split()
    widest = next((flag for flag in ("avx512f", "avx2") if flag in flags), "")
    name = facts.get("model name", platform.machine())
    return f"{name} {platform.machine()} {widest}".strip()


def versions(packages: tuple[str, ...]) -> list[str]:
    found = ((name, installed_version(name)) for name in packages)
    return [f"{name} {number}" for name, number in found if number]


def installed_version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
