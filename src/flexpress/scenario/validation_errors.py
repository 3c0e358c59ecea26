"""Pydantic's errors as one line for the user: key, value found, what is allowed."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from flexpress.arguments import nearest, plain
from flexpress.scenario.section import KeyedError
from flexpress.scenario.toml import write_key, write_value

_LONGEST_VALUE = 60
_MISSING = object()

_KeyPath = tuple[int | str, ...]

_MESSAGES = {
    "bool_type": "must be true or false",
    "int_type": "must be a whole number",
    "tuple_type": "must be a list in brackets",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "literal_error": "must be {expected}",
    "model_type": "must be a table of keys",
    "missing": "is missing",
}


def explain(error: ValidationError, data: Mapping[str, object], model: type[BaseModel]) -> str:
    """The first error; unknown keys come first, since they cause others to be missing."""
    found = _ordered(error)
    line = _explain_one(found[0], data, model)[1]
    return line if len(found) == 1 else f"{line} (and {len(found) - 1} more)"


def explain_each(
    error: ValidationError, data: Mapping[str, object], model: type[BaseModel]
) -> list[tuple[str, str]]:
    """All errors: the key of each, dotted, and its line."""
    return [_explain_one(detail, data, model) for detail in _ordered(error)]


def _ordered(error: ValidationError) -> list[ErrorDetails]:
    found = error.errors(include_url=False)
    return sorted(found, key=lambda detail: detail["type"] != "extra_forbidden")


def show_value(value: object) -> str:
    """A value as it would stand in the file, cut to a readable length."""
    if value is None:
        return "null"  # as in JSON; TOML has no such value
    if isinstance(value, list | tuple):
        value = value[:_LONGEST_VALUE]  # a million positions need not be written to be cut
    try:
        text = write_value(value)
    except ValueError:  # Python refuses to write integers of thousands of digits
        text = "a number of thousands of digits"
    text = "".join(
        c if c.isprintable() else " " for c in text
    )  # from objects that are not from a file
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 4] + " ..."


def _explain_one(
    detail: ErrorDetails, data: Mapping[str, object], model: type[BaseModel]
) -> tuple[str, str]:
    """The key that the error is about, and the line."""
    path: _KeyPath = detail["loc"]
    cause = detail.get("ctx", {}).get("error")
    if isinstance(cause, KeyedError):
        path = (*path, *(int(key) if key.isdecimal() else key for key in cause.key.split(".")))
    message = str(cause) if cause else _message(detail, model)
    value = _look_up(data, path)
    shown = "" if value is _MISSING or isinstance(value, Mapping) else f" = {show_value(value)}"
    return _dotted(path), f"{_dotted(path)}{shown}: {message}"


def _message(detail: ErrorDetails, model: type[BaseModel]) -> str:
    path = detail["loc"]
    if detail["type"] == "extra_forbidden":
        allowed = list(_fields(model, path[:-1]))
        return f"unknown key{nearest(str(path[-1]), allowed)}; allowed: {', '.join(allowed)}"
    template = _MESSAGES.get(detail["type"])
    limits = {
        name: plain(limit) if isinstance(limit, float) else limit
        for name, limit in detail.get("ctx", {}).items()
    }
    text = template.format(**limits) if template else detail["msg"].lower()
    *table, key = path[:2]
    field = _fields(model, tuple(table)).get(str(key))
    return f"{text} ({field.description})" if field and field.description else text


def _fields(model: type[BaseModel], path: _KeyPath) -> dict[str, FieldInfo]:
    """The fields of the table at the path."""
    for key in path:
        section = model.model_fields[str(key)].annotation
        assert isinstance(section, type)
        assert issubclass(section, BaseModel)
        model = section
    return model.model_fields


def _look_up(data: object, path: _KeyPath) -> object:
    for key in path:
        if isinstance(data, str):
            return _MISSING
        try:
            data = data[key]  # type: ignore[index]  # whatever cannot be indexed has no such entry
        except (KeyError, IndexError, TypeError):
            return _MISSING
    return data


def _dotted(path: _KeyPath) -> str:
    """("fleet", "speeds", 1) -> fleet.speeds[1]"""
    text = "".join(f"[{key}]" if isinstance(key, int) else f".{write_key(key)}" for key in path)
    return text.removeprefix(".")
