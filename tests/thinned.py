"""Cases of which a few are enough by default; all of them are among the slow tests."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def by_default(few: int, cases: Iterable[Any]) -> list[Any]:
    """For `parametrize`: all but the first few are slow."""
    return [
        case if number < few else pytest.param(case, marks=pytest.mark.slow)
        for number, case in enumerate(cases)
    ]


def few_and_many(few: range, many: range) -> pytest.MarkDecorator:
    """A test of `seeds`, twice: the second time all of them, which is slow."""
    slow = pytest.param(many, marks=pytest.mark.slow)
    return pytest.mark.parametrize("seeds", [few, slow], ids=["few", "many"])
