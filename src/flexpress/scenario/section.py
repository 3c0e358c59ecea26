"""What all sections of a scenario share: frozen, no unknown keys, and errors that name a key."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from pydantic import BaseModel, ConfigDict

Value = TypeVar("Value")


class Section(BaseModel):
    """A table of the scenario file as a frozen value."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", protected_namespaces=(), arbitrary_types_allowed=True
    )

    def given(self, *keys: str) -> list[str]:
        """Those of the keys that hold a value."""
        return [key for key in keys if getattr(self, key) is not None]


class KeyedError(ValueError):
    """A rule between several keys is broken; `key` (dotted, within the table) should change."""

    def __init__(self, key: str, message: str) -> None:
        super().__init__(message)
        self.key = key

    @classmethod
    @contextmanager
    def under(cls, key: str) -> Iterator[None]:
        """Errors of the block belong to this key of the value that is being read."""
        try:
            yield
        except KeyedError as error:
            raise cls(f"{key}.{error.key}", str(error)) from None
        except ValueError as error:
            raise cls(key, str(error)) from None


def present(value: Value | None) -> Value:
    """A value that `check_form` has seen to."""
    assert value is not None
    return value


def check_form(
    section: Section, forms: tuple[tuple[str, ...], ...], optional: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """The one of the forms (sets of keys) that the section is given in; else an error.

    A key may belong to several forms; an optional one may be added to all of them, too. What is
    missing or too much is told for the nearest form.
    """
    keys = list(dict.fromkeys(key for form in forms for key in form))
    given = section.given(*keys)
    telling = set(given) - set(optional)
    best = max(forms, key=lambda form: (len(telling.intersection(form)), -len(form)))
    missing = [key for key in best if key not in given]
    surplus = [key for key in given if key not in best and key not in optional]
    if not missing and not surplus:
        return best
    ways = "; or ".join(" + ".join(form) for form in forms)
    trouble = [f"{key} is missing" for key in missing]
    trouble += [f"{key} does not belong with {' + '.join(best)}" for key in surplus]
    raise ValueError(f"{', '.join(trouble)}: give exactly one of {ways}")
