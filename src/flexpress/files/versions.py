"""The versions that results depend on, besides their inputs; they must agree on all machines."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from functools import cache
from importlib import metadata

from flexpress.errors import InputError


def versions(*, by_torch: bool = False) -> dict[str, str]:
    """The versions of flexpress, of Python, and of the packages that compute."""
    names = ["flexpress", "python", "numpy", "numba", *(["torch"] if by_torch else [])]
    return {name: version_of(name) for name in names}


@cache
def version_of(name: str) -> str:
    return platform.python_version() if name == "python" else metadata.version(name)


def check_versions(theirs: Mapping[str, str]) -> None:
    """InputError if another machine would compute something else."""
    for name, version in theirs.items():
        if version != (ours := version_of(name)):
            raise InputError(
                f"machines disagree: {name} {ours} here, {version} elsewhere in the "
                "cluster; install the same on all of them"
            )
