"""The folder that the program was started on: no name leads out of it."""

from __future__ import annotations

import re
from pathlib import Path

from flexpress.errors import InputError
from flexpress.files.disk import PLAN, SCENARIO
from flexpress.report.folder import OUT, default_folder
from flexpress.scenario import Scenario
from flexpress.simulation.run_names import RUN_NAMES
from flexpress.simulation.stored_run import is_run

STATE = "flexpress-control"
"""Within the folder: the draft, and what else has to be remembered."""

_HERE = "this folder"
"""The name of a plan or run that lies in the folder itself; a dot would vanish from addresses."""

_NAME = re.compile(r"[\w+-][\w .+-]{0,150}\Z")
_TOML = ".toml"


class Folder:
    """Names of scenarios, plans and runs, and their places."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()

    @property
    def state(self) -> Path:
        return self.root / STATE

    def scenario_file(self, name: str) -> Path:
        """InputError unless it is the name of a TOML file directly in the folder."""
        if not name.endswith(_TOML):
            name += _TOML
        return self._inside(self.root, name)

    def scenarios(self) -> list[str]:
        return sorted(path.name for path in self.root.glob(f"*{_TOML}") if path.is_file())

    def plan(self, name: str) -> Path:
        """The folder of a plan that was made here."""
        return self._known(name, self.plans())

    def run(self, name: str) -> Path:
        """The folder of a run, or of several."""
        return self._known(name, self.runs())

    def plans(self) -> list[str]:
        """Folders with a plan and no run, the oldest first."""
        return [name for name in self._made() if not self._is_runs(self._place(name))]

    def runs(self) -> list[str]:
        return [name for name in self._made() if self._is_runs(self._place(name))]

    def free(self, scenario: Scenario, kind: str) -> Path:
        """A folder that does not exist yet: `flexpress-out/<scenario>-<kind>-<number>`."""
        number = 1
        while True:
            place = self.root / default_folder(scenario, f"{kind}-{number}")
            if not place.exists():
                return place
            number += 1

    def name_of(self, place: Path) -> str:
        """Of a folder that `plan` or `run` finds."""
        return _HERE if place == self.root else place.name

    def _made(self) -> list[str]:
        out = self.root / OUT
        folders = [self.root, *(out.iterdir() if out.is_dir() else ())]
        made = [p for p in folders if (p / PLAN).is_file() and (p / SCENARIO).is_file()]
        made.sort(key=lambda place: ((place / PLAN).stat().st_mtime_ns, place.name))
        return [self.name_of(place) for place in made]

    def _place(self, name: str) -> Path:
        return self.root if name == _HERE else self.root / OUT / name

    def _is_runs(self, place: Path) -> bool:
        return is_run(place) or any(is_run(place / name) for name in RUN_NAMES)

    def _known(self, name: str, names: list[str]) -> Path:
        if name not in names:
            raise InputError(f"{name[:80]}: no such folder here")
        return self._place(name)

    def _inside(self, parent: Path, name: str) -> Path:
        path = parent / name
        if not _NAME.match(name) or path.resolve().parent != parent:
            raise InputError(f"{name[:80]}: must be the name of a file in {self.root}")
        return path
