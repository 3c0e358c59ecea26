"""Files that are there whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from flexpress.errors import InputError


def replace_file(path: Path, content: bytes) -> None:
    """Write beside the file, then put it in its place in one step."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        try:
            draft.write_bytes(content)
            os.replace(draft, path)
        finally:
            draft.unlink(missing_ok=True)
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be written: {reason(error)}") from None


def reason(error: OSError | ValueError) -> str:
    return str(getattr(error, "strerror", None) or error)
