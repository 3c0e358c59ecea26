"""Text files in, with errors of one line."""

from __future__ import annotations

import tomllib
from pathlib import Path

from flexpress.errors import InputError


def read_text(path: Path) -> str:
    """A UTF-8 text file, with or without a byte order mark."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; check the name and the folder") from None
    except IsADirectoryError:
        raise InputError(f"{path}: is a folder; give the name of a file") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path}: cannot be read: {reason}") from None
    return _decode(content, path)


def write_text(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path}: cannot be written: {reason}") from None


def parse_toml(text: str, source: str) -> dict[str, object]:
    try:
        return tomllib.loads(text)
    except ValueError as error:  # TOMLDecodeError, or a number of absurd length
        raise InputError(f"{source}: not valid TOML: {error}") from None
    except RecursionError:
        raise InputError(f"{source}: not a scenario: brackets are nested too deeply") from None


def _decode(content: bytes, path: Path) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}: line {line}: not UTF-8 text; save the file as UTF-8") from None
