"""What users call from Python takes folders as words, and refuses in one line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flexpress import field
from flexpress.errors import InputError

CALLS: dict[str, Callable[[Any], object]] = {
    "run_server": field.run_server,
    "run_courier": field.run_courier,
    "run_client": field.run_client,
    "operate": lambda folder: field.operate(folder, "status"),
    "add_courier": lambda folder: field.add_courier(folder, "courier-9"),
    "add_client": lambda folder: field.add_client(
        folder, "client-9", courier="courier-1", at="localhost:1", samples="data.npz"
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_folder_may_be_a_text(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no kit"):
        CALLS[name](str(tmp_path))


@pytest.mark.parametrize("name", CALLS)
def test_what_is_no_folder_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="folder"):
        CALLS[name](7)
