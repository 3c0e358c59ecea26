"""The command line in this process, for the tests of its commands."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

with warnings.catch_warnings():
    # typer below 0.21, where we stay for Flower's sake, imports names that click 8.5 deprecates.
    warnings.filterwarnings("ignore", message="'click.utils.get_", category=DeprecationWarning)
    from flexpress import cli

__all__ = ["Outcome", "Run", "cli"]


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


Run = Callable[..., Outcome]
