"""What results depend on besides their inputs: machines that disagree in it must not mix."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from importlib import metadata

from flexpress.errors import InputError


def versions() -> dict[str, str]:
    """Of flexpress, of Python, and of the packages that compute."""
    return {
        "flexpress": metadata.version("flexpress"),
        "python": platform.python_version(),
        "numpy": metadata.version("numpy"),
        "numba": metadata.version("numba"),
    }


def check_versions(theirs: Mapping[str, str]) -> None:
    """InputError if another machine would compute something else."""
    for name, version in versions().items():
        if theirs[name] != version:
            raise InputError(
                f"machines disagree: {name} {version} here, {theirs[name]} elsewhere in the "
                "cluster; install the same on all of them"
            )
