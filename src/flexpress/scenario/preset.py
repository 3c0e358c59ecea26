"""Scenarios that come with the package: commented TOML files in `presets/`, ready to edit."""

from __future__ import annotations

import re
from importlib.resources import files
from importlib.resources.abc import Traversable

from flexpress.arguments import LARGEST_SEED, check_text, check_whole, nearest
from flexpress.errors import InputError

_SUFFIX = ".toml"


def preset_names() -> list[str]:
    names = (entry.name for entry in _folder().iterdir())
    return sorted(name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX))


def preset_text(name: str, seed: int | None = None) -> str:
    """The TOML text of a preset, with another seed if one is given."""
    names = preset_names()
    if check_text("name", name) not in names:
        hint = nearest(name, names)
        raise InputError(f'no preset "{name}"{hint}; there are: {", ".join(names)}')
    text = (_folder() / (name + _SUFFIX)).read_text(encoding="utf-8")
    if seed is None:
        return text
    seed = check_whole("seed", seed, 0, LARGEST_SEED)
    return re.sub(r"(?m)^seed = \d+", f"seed = {seed}", text, count=1)


def _folder() -> Traversable:
    return files("flexpress.scenario") / "presets"
