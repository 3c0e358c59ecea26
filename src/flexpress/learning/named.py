"""Functions of the user's own, named in a scenario as "module:function"."""

from __future__ import annotations

from collections.abc import Callable, Collection
from importlib import import_module
from typing import cast

from flexpress.errors import InputError
from flexpress.scenario.complaints import nearest

LONGEST_MESSAGE = 200


def import_named(key: str, text: str, known: Collection[str]) -> Callable[[], object]:
    """The function; `known` are the names that could have been meant instead."""
    where = f'{key} = "{text}"'
    module_name, _, name = text.partition(":")
    if not all(part.isidentifier() for part in (*module_name.split("."), name)):
        raise InputError(
            f'{where}: must be {", ".join(known)}, or your own "module:function"'
            f"{nearest(text, list(known))}"
        )
    try:
        module = import_module(module_name)
    except Exception as error:  # whatever the user's module does when it is loaded
        raise _import_failed(where, module_name, error) from error
    function = getattr(module, name, None)
    if not callable(function):
        what = "is not a function" if hasattr(module, name) else "does not exist"
        others = [each for each, value in vars(module).items() if callable(value)]
        guess = nearest(name, others)
        raise InputError(f"{where}: {name} {what} in {module.__file__}{guess}; define it there")
    return cast(Callable[[], object], function)


def call_named(key: str, text: str, function: Callable[[], object]) -> object:
    """What the function returns; whatever goes wrong inside is an InputError, its cause chained."""
    try:
        return function()
    except InputError:
        raise
    except Exception as error:  # the user's code may raise anything
        raise InputError(f'{key} = "{text}": {text}() raised {in_one_line(error)}') from error


def in_one_line(error: Exception) -> str:
    """Type and message."""
    message = " ".join(str(error).split())
    if len(message) > LONGEST_MESSAGE:
        message = message[: LONGEST_MESSAGE - 4] + " ..."
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def _import_failed(where: str, module_name: str, error: Exception) -> InputError:
    missing = error.name if isinstance(error, ModuleNotFoundError) else None
    if missing is not None and f"{module_name}.".startswith(f"{missing}."):
        return InputError(
            f"{where}: there is no module {missing}; run in the folder of {missing}.py, or put "
            "that folder into PYTHONPATH"
        )
    return InputError(f"{where}: {module_name} cannot be imported: {in_one_line(error)}; mend it")
