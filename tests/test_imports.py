"""The rooms import each other in one direction only, as the table in the design says."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "flexpress"

FLOOR = {"arguments", "arrays", "callbacks", "compiled", "errors", "files", "lazy", "workers"}
"""Every room stands on it."""

MAY_IMPORT: dict[str, set[str]] = {
    "arrays": set(),
    "errors": set(),
    "callbacks": set(),
    "compiled": {"callbacks"},
    "lazy": set(),
    "arguments": {"errors"},
    "files": {"arguments", "errors", "lazy"},
    "workers": {"arguments", "callbacks", "errors", "files"},
    "scenario": FLOOR,
    "planning": {*FLOOR, "scenario"},
    "learning": {*FLOOR, "scenario"},
    "simulation": {*FLOOR, "scenario", "planning", "learning"},
    "theory": {*FLOOR, "scenario", "planning", "learning", "simulation"},
    "field": {*FLOOR, "scenario", "planning", "learning", "simulation"},
    "report": {*FLOOR, "scenario", "planning", "learning", "simulation", "theory"},
    "experiments": {*FLOOR, "scenario", "planning", "learning", "simulation", "theory", "report"},
    "control": {*FLOOR, "scenario", "planning", "learning", "simulation", "field", "report"},
}
USES_ALL = {"__init__", "__main__", "cli"}  # the public names, and the command line


def violations(source: Path) -> list[str]:
    """Every import of another room that the table does not allow: file:line: what."""
    found = []
    for path in sorted(source.rglob("*.py")):
        place = path.relative_to(source)
        room = place.parts[0] if len(place.parts) > 1 else place.stem
        if room in USES_ALL:
            continue
        if room not in MAY_IMPORT:
            found.append(f"{place}: {room} is not a room of the design")
            continue
        for line, target in imported(path, source):
            if target not in MAY_IMPORT[room] | {room}:
                found.append(f"{place}:{line}: imports {target or 'the public names'}")
    return found


def imported(path: Path, source: Path) -> Iterator[tuple[int, str]]:
    """Line and room of every import of ours, wherever in the file; "" is the package itself."""
    package = ("flexpress", *path.relative_to(source).parts[:-1])
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        for module in modules(node, package):
            if module[0] == "flexpress":
                room = module[1] if len(module) > 1 else ""
                ours = (source / room).is_dir() or (source / f"{room}.py").is_file()
                yield node.lineno, room if ours else ""  # type: ignore[attr-defined]  # import node


def modules(node: ast.AST, package: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The modules that an import statement names, as parts of their full names."""
    if isinstance(node, ast.Import):
        return [tuple(alias.name.split(".")) for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        base = package[: len(package) - node.level + 1] if node.level else ()
        full = (*base, *(node.module.split(".") if node.module else ()))
        return [(*full, alias.name) for alias in node.names]
    return []


def test_the_rooms() -> None:
    assert violations(SOURCE) == []


PLANTED = {
    "import flexpress.planning": "planning",
    "from flexpress.planning.plan import Plan": "planning",
    "from flexpress import planning": "planning",
    "from .. import planning": "planning",
    "from ..planning import Plan": "planning",
    "from flexpress import Plan": "the public names",
    "import flexpress": "the public names",
    "def late():\n    from flexpress.planning import Plan": "planning",
    "if True:\n    import numpy, flexpress.cli": "cli",
}


@pytest.mark.parametrize("code", PLANTED)
def test_a_planted_import_is_found(code: str, tmp_path: Path) -> None:
    for name in ("scenario", "planning"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("from flexpress.errors import InputError\n")
    (tmp_path / "cli.py").write_text("import flexpress.planning\n")
    (tmp_path / "errors.py").write_text("import math\n")
    assert violations(tmp_path) == []
    (tmp_path / "scenario" / "model.py").write_text(f"import math\n{code}\n")
    (found,) = violations(tmp_path)
    assert found.startswith("scenario/model.py:")
    assert found.endswith(f"imports {PLANTED[code]}")


def test_an_unknown_room_is_found(tmp_path: Path) -> None:
    (tmp_path / "utils").mkdir()
    (tmp_path / "utils" / "strings.py").write_text("import math\n")
    assert violations(tmp_path) == ["utils/strings.py: utils is not a room of the design"]
