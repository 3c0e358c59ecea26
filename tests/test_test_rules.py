"""Rules for tests, read in their files: whom they may end, and how long they may wait."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import chromium
import conftest
import pytest

TESTS = Path(__file__).parent
ROOT = TESTS.parent

BY_NAME = ("pkill", "pgrep", "killall", "pidof", "psutil", "cmdline", "/comm")
"""Ways to find processes that a test did not start."""

SHORTEST = 60.0
"""Seconds: who waits for something with a limit must not lose patience on a busy machine."""


def files() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(TESTS.rglob("*.py")):
        if path != Path(__file__):
            yield str(path.relative_to(TESTS)), ast.parse(path.read_text(encoding="utf-8"))


def texts(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """All names and strings of a file but its docstrings."""
    docstrings = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if id(node) not in docstrings:
                yield node.lineno, node.value
        elif isinstance(node, ast.Name):
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute):
            yield node.lineno, node.attr
        elif isinstance(node, ast.alias):
            yield 0, node.name


def limits(tree: ast.Module) -> Iterator[tuple[int, float]]:
    """Numbers that are given as `timeout`."""
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        for keyword in call.keywords:
            if keyword.arg == "timeout" and isinstance(keyword.value, ast.Constant):
                yield call.lineno, float(str(keyword.value.value))


def test_nobody_looks_for_processes_by_name() -> None:
    """They may be somebody else's: a test ends what it started, by its number."""
    found = [
        (name, line, text)
        for name, tree in files()
        for line, text in texts(tree)
        if any(word in text for word in BY_NAME)
    ]
    assert found == []


def test_nobody_is_impatient() -> None:
    """A limit is there so that a test fails rather than hangs, not to see whether it is quick."""
    short = [
        (name, line, seconds)
        for name, tree in files()
        for line, seconds in limits(tree)
        if seconds < SHORTEST
    ]
    assert short == []


def test_at_the_end_there_is_a_line_for_every_reason_to_skip() -> None:
    reports = [
        SimpleNamespace(longrepr=("test_map.py", line, f"Skipped: {reason}"))
        for line, reason in enumerate(["no browser", "no data", "no browser"])
    ]
    lines: list[str] = []
    reporter: Any = SimpleNamespace(stats={"skipped": reports}, write_line=lines.append)
    conftest.pytest_terminal_summary(reporter)
    assert lines == ["skipped 2: no browser", "skipped 1: no data"]


def test_without_a_browser_the_reason_names_the_remedy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(pytest.skip.Exception, match="no browser: install chromium"):
        chromium.chromium(tmp_path).__enter__()
