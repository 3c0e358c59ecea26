"""The user's own functions, named in a scenario as "module:function", and the errors they raise."""

from __future__ import annotations

import os
import sysconfig
import traceback
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import cast

from flexpress.arguments import nearest
from flexpress.errors import FlexpressError, InputError

_LONGEST_MESSAGE = 200

_OURS = str(Path(__file__).parents[1])
_INSTALLED = {
    path for key, path in sysconfig.get_paths().items() if key.endswith(("stdlib", "lib"))
}


def import_function(key: str, text: str, known: Collection[str]) -> Callable[[], object]:
    """The function; `known` are the built-in names, for the error message."""
    where = f'{key} = "{text}"'
    module_name, _, name = text.partition(":")
    if not all(part.isidentifier() for part in (*module_name.split("."), name)):
        raise InputError(
            f'{where}: must be {", ".join(known)}, or your own "module:function"'
            f"{nearest(text, list(known))}"
        )
    try:
        with user_code(f"{where}: {module_name} cannot be imported:"):
            module = import_module(module_name)
    except InputError as error:
        raise _not_found(where, module_name, error.__cause__) or error from error.__cause__
    function = getattr(module, name, None)
    if not callable(function):
        what = "is not a function" if hasattr(module, name) else "does not exist"
        others = [each for each, value in vars(module).items() if callable(value)]
        guess = nearest(name, others)
        raise InputError(f"{where}: {name} {what} in {module.__file__}{guess}; define it there")
    return cast(Callable[[], object], function)


def call_function(key: str, text: str, function: Callable[[], object]) -> object:
    """The function's result; whatever it raises becomes an InputError with its cause."""
    code = getattr(function, "__code__", None)
    start = f"{code.co_filename}:{code.co_firstlineno}" if code else ""
    with user_code(f'{key} = "{text}": {text}() raised', start):
        return function()


@contextmanager
def user_code(what: str, start: str = "") -> Iterator[None]:
    """Turn whatever the user's code raises, sys.exit too, into an InputError that says where.

    `start` is where the code begins, for errors before its first line. The original error is the
    cause. KeyboardInterrupt and our own errors pass through.
    """
    try:
        yield
    except FlexpressError:
        raise
    except (Exception, SystemExit) as error:
        place = _place_of(error) or start
        if not place and _raised_by_us(error):
            raise
        where = f" ({_relative(place)})" if place else ""
        raise InputError(f"{what} {_one_line(error)}{where}") from error


def _one_line(error: BaseException) -> str:
    """Type and message."""
    message = " ".join(str(error.msg if isinstance(error, SyntaxError) else error).split())
    if len(message) > _LONGEST_MESSAGE:
        message = message[: _LONGEST_MESSAGE - 4] + " ..."
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def _place_of(error: BaseException) -> str:
    """File and line of the user's code that caused it; "" if there is none.

    That is the innermost line outside of Python, installed packages and flexpress.
    """
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    lines = [f"{frame.filename}:{frame.lineno}" for frame in frames if _is_own(frame.filename)]
    return lines[-1] if lines else ""


def _raised_by_us(error: BaseException) -> bool:
    *_, innermost = traceback.extract_tb(error.__traceback__)
    return Path(innermost.filename).is_relative_to(_OURS)


def _relative(place: str) -> str:
    """The place, relative to the working folder if it is inside."""
    return place.removeprefix(f"{os.getcwd()}{os.sep}")


def _is_own(file: str) -> bool:
    others = (_OURS, *_INSTALLED)
    return not file.startswith("<") and not any(Path(file).is_relative_to(x) for x in others)


def _not_found(where: str, module_name: str, error: BaseException | None) -> InputError | None:
    """An InputError if the module itself is missing, rather than one that it imports."""
    missing = error.name if isinstance(error, ModuleNotFoundError) else None
    if missing is None or not f"{module_name}.".startswith(f"{missing}."):
        return None
    return InputError(
        f"{where}: there is no module {missing}; run in the folder of {missing}.py, or put "
        "that folder into PYTHONPATH"
    )
