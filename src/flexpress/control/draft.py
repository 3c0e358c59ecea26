"""The draft: the scenario's text as it is being edited, with its history, kept on disk.

Every change is written before it is shown, so that neither a reload of the page nor the end of the
program loses anything.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from flexpress.control.toml_edit import set_key
from flexpress.errors import InputError
from flexpress.files.disk import make_folder, parse_toml, read_bytes, write_file
from flexpress.scenario import Scenario
from flexpress.scenario.validation_errors import show_value

DRAFT = "draft.json"

EMPTY = """name = "mission"

[fleet]
speeds = ["10 m/s", "10 m/s"]

[link]
transfer_time = "10 s"
altitude = "120 m"
"""
"""The draft of an empty map."""

_MOST_STEPS = 100
"""Changes that can be undone."""

Changes = Mapping[Any, Mapping[str, object]]
"""Values by table and key; None removes a key, and "" is the table of the keys at the top."""


class _Stored(msgspec.Struct, forbid_unknown_fields=True):
    """What the file holds."""

    text: str
    file: str = ""  # where it was opened, or saved last, within the folder
    saved: str = ""  # the text there
    openings: int = 0
    undo: list[str] = []
    redo: list[str] = []


class Draft:
    """The text, what can be undone, and where it is saved."""

    def __init__(self, folder: Path, base: Path) -> None:
        """`folder` keeps the draft; files that the scenario names are relative to `base`."""
        self._path, self.base = folder / DRAFT, base
        self._stored = _Stored(EMPTY)
        if self._path.exists():
            try:
                self._stored = msgspec.json.decode(read_bytes(self._path), type=_Stored)
            except (msgspec.DecodeError, UnicodeDecodeError):
                raise InputError(f"{self._path}: not a draft; delete it to begin anew") from None
        make_folder(folder)

    @property
    def text(self) -> str:
        return self._stored.text

    @property
    def file(self) -> str:
        return self._stored.file

    @property
    def version(self) -> str:
        """The same for the same text."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:16]

    @property
    def openings(self) -> int:
        """How often something else was opened: then the map shows all of it."""
        return self._stored.openings

    @property
    def is_saved(self) -> bool:
        return self._stored.text == self._stored.saved

    @property
    def saved_text(self) -> str:
        """As it was opened or saved last."""
        return self._stored.saved

    @property
    def can_undo(self) -> bool:
        return bool(self._stored.undo)

    @property
    def can_redo(self) -> bool:
        return bool(self._stored.redo)

    @property
    def data(self) -> dict[str, Any]:
        """The text as tables of keys."""
        return tomllib.loads(self.text)

    def scenario(self) -> Scenario:
        """InputError if the draft is not complete."""
        return Scenario.from_dict(self.data, base_dir=self.base, source="draft")

    def faults(self) -> list[tuple[str, str]]:
        """The key of everything that is wrong, and what the command line says about it."""
        return Scenario.faults(self.data, self.base, "draft")

    def change(self, changes: Changes) -> None:
        """Set keys; one step of the history."""
        text = self.text
        for table, keys in changes.items():
            for key, value in keys.items():
                text = set_key(text, table, key, value)
        self.replace(text)

    def replace(self, text: str) -> None:
        """Another text; InputError if it is not TOML, or names files outside of the folder."""
        self._check_names(parse_toml(text, "draft"))
        if text != self.text:
            stored = self._stored
            stored.undo = [*stored.undo, stored.text][-_MOST_STEPS:]
            stored.redo = []
            self._keep(text)

    def _check_names(self, data: Mapping[str, object]) -> None:
        network = data.get("network")
        for key, name in network.items() if isinstance(network, Mapping) else ():
            if isinstance(name, str) and not self._is_inside(name):
                shown = show_value(name)
                raise InputError(f"network.{key} = {shown}: must lie in the folder {self.base}")

    def _is_inside(self, name: str) -> bool:
        try:
            return (self.base / name).resolve().is_relative_to(self.base.resolve())
        except (ValueError, OSError):
            return False

    def undo(self) -> None:
        self._step(self._stored.undo, self._stored.redo)

    def redo(self) -> None:
        self._step(self._stored.redo, self._stored.undo)

    def opened(self, file: str, text: str) -> None:
        """The text of a file, or with `file` empty of none; the former draft can be undone."""
        self.replace(text)
        self.note_opening()
        self.saved_as(file)

    def note_opening(self) -> None:
        self._stored.openings += 1
        self._keep(self.text)

    def saved_as(self, file: str) -> None:
        self._stored.file, self._stored.saved = file, self.text if file else ""
        self._keep(self.text)

    def _step(self, source: list[str], other: list[str]) -> None:
        if source:
            other.append(self._stored.text)
            self._keep(source.pop())

    def _keep(self, text: str) -> None:
        self._stored.text = text
        write_file(self._path, msgspec.json.encode(self._stored))
