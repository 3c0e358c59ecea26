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


NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?(?:e-?\d+)?")


def check_estimated(shown: str, printed: str) -> None:
    """The same words; the numbers, all of which come from training, may differ by a tenth."""
    words = [NUMBER.sub("#", " ".join(text.split())) for text in (shown, printed)]
    assert words[0] == words[1]
    values = [[float(x.replace(",", "")) for x in NUMBER.findall(t)] for t in (shown, printed)]
    assert values[1] == pytest.approx(values[0], rel=TOLERANCE)
