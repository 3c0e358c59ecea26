"""What documents show as output, held to what is printed."""

from __future__ import annotations

import re

import pytest

LEARNED = re.compile(r'^ +"?(?:accuracy|best.accuracy|until \d+ %|loss)"?:? .*\n', re.MULTILINE)
"""Figures of a simulation, in a table or in JSON, that rounding may change between machines."""

TOLERANCE = 0.1


def normal(text: str) -> str:
    """Without spaces at the ends of lines, and with the time, which varies, set to 0."""
    text = re.sub(r'(seed \d+, |"seconds": )[\d.e-]+', r"\g<1>0", text)
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())


def check_shown(shown: str, printed: str) -> None:
    """They are the same, but that figures which were learned may differ by a tenth."""
    assert LEARNED.sub("", normal(printed)) == LEARNED.sub("", normal(shown))
    assert numbers(printed) == pytest.approx(numbers(shown), rel=TOLERANCE)


def numbers(text: str) -> list[float]:
    """Accuracies and losses, in the order of the text."""
    lines = "".join(line for line in LEARNED.findall(text) if "until" not in line)
    return [float(number) for number in re.findall(r"\d+\.\d+", lines)]
