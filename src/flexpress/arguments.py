"""Checks of the arguments of public calls: each returns plain Python, or raises an InputError.

Every message is one line: the argument, the value found, and what is allowed. NumPy's numbers are
accepted like Python's own; truth values are not numbers.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from numbers import Real
from operator import index
from pathlib import Path
from reprlib import Repr
from typing import TYPE_CHECKING, TypeVar

from flexpress.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_Value = TypeVar("_Value")
_Words = TypeVar("_Words", bound=str)

LARGEST_SEED = 2**63 - 1
LONGEST_TIME = 1e9  # seconds, 31 years

_SHORT = Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 60


def check_whole(name: str, value: object, least: int, most: int | None = None) -> int:
    """A whole number within these limits, both included."""
    limits = f"of at least {least:,}" if most is None else f"from {least:,} to {_power(most)}"
    try:
        number = index(value)  # type: ignore[arg-type]  # what cannot be an index is refused
    except TypeError:
        number = None
    if number is None or isinstance(value, bool) or number < least or number > (most or number):
        raise refusal(name, value, f"a whole number {limits}")
    return number


def check_number(
    name: str,
    value: object,
    *,
    least: float | None = None,
    above: float | None = None,
    most: float = math.inf,
) -> float:
    """A finite number, at least `least` or greater than `above`, at most `most`."""
    limits = [] if above is None else [f"greater than {plain(above)}"]
    limits += [] if least is None else [f"of at least {plain(least)}"]
    limits += [] if math.isinf(most) else [f"at most {plain(most)}"]
    kind = "a finite number" if math.isinf(most) else "a number"
    wanted = f"{kind} {' and '.join(limits)}".strip()
    if isinstance(value, bool) or not isinstance(value, Real):
        raise refusal(name, value, wanted)
    number = _float(value)
    too_small = (least is not None and number < least) or (above is not None and number <= above)
    if not math.isfinite(number) or too_small or number > most:
        raise refusal(name, value, wanted)
    return number


def check_choice(name: str, value: _Words, allowed: Sequence[str]) -> _Words:
    """One of a few words."""
    if not isinstance(value, str) or value not in allowed:
        raise refusal(name, value, f"one of {', '.join(allowed)}")
    return value


def check_kind(name: str, value: object, kind: type[_Value], remedy: str) -> _Value:
    """A value of this class; the remedy says how to get one."""
    if not isinstance(value, kind):
        article = "an" if kind.__name__[0] in "aeiounAEIOU" else "a"
        raise refusal(name, value, f"{article} {kind.__name__}; {remedy}")
    return value


def check_all(
    name: str, values: Iterable[_Value], kind: type[_Value], remedy: str
) -> tuple[_Value, ...]:
    """At least one value, all of this class."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise refusal(name, values, f"a list of {kind.__name__}s; {remedy}")
    found = tuple(values)
    if not found:
        raise refusal(name, values, f"at least one {kind.__name__}; {remedy}")
    for i, value in enumerate(found):
        check_kind(f"{name}[{i}]", value, kind, remedy)
    return found


def check_path(name: str, value: object) -> Path:
    """The name of a file or folder."""
    if not isinstance(value, str | os.PathLike) or not os.fspath(value):
        raise refusal(name, value, "the name of a file or folder, as text or as a Path")
    path = os.fspath(value)
    if not isinstance(path, str):
        raise refusal(name, value, "text or a Path, not bytes")
    return Path(path)


def check_text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise refusal(name, value, "text")
    return value


def check_callable(**functions: Callable[..., object] | None) -> None:
    """Functions that are called later, given by the names of their arguments."""
    for name, function in functions.items():
        if not callable(function):
            raise refusal(name, function, "a function; omit it if you need none")


def check_array(name: str, value: object) -> NDArray[np.float64]:
    """A new array of float64; the caller checks that all is finite."""
    import numpy as np

    try:
        array = np.array(value)
        if array.dtype.kind not in "iufO":
            raise TypeError
        return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise refusal(name, value, "an array of numbers, all rows of one length") from None


def refusal(name: str, value: object, wanted: str) -> InputError:
    """The error for a value that is not allowed."""
    return InputError(f"{name} = {shown(value)}: must be {wanted}")


def shown(value: object) -> str:
    """A value on one line of moderate length: text in double quotes, NumPy's numbers plain."""
    item = getattr(value, "item", None)
    if callable(item) and getattr(value, "shape", None) == ():
        value = item()
    if isinstance(value, str):
        value = str(value)  # NumPy's text is text
        short = value if len(value) <= 60 else f"{value[:56]} ..."
        return json.dumps(short, ensure_ascii=False)
    text = " ".join(_SHORT.repr(value).split())
    return text if len(text) <= 80 else f"{text[:76]} ..."


def nearest(word: str, allowed: Sequence[str]) -> str:
    """The allowed word that was perhaps meant, as a question in brackets; or nothing."""
    close = get_close_matches(word, allowed, n=1)
    return f' (did you mean "{close[0]}"?)' if close else ""


def plain(number: float) -> str:
    """A limit as people write it: 1e9, not 1e+09."""
    return f"{number:g}".replace("e+0", "e").replace("e-0", "e-").replace("e+", "e")


def _power(most: int) -> str:
    """The limits of machine words as powers of two."""
    for exponent in (62, 63, 64):
        if most in (2**exponent, 2**exponent - 1):
            return f"2^{exponent}" + (" - 1" if most % 2 else "")
    return f"{most:,}"


def _float(value: Real) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf
