"""What all sections of a scenario share: they are frozen, and their errors name a key."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from pydantic import BaseModel, ConfigDict

_Value = TypeVar("_Value")


class Section(BaseModel):
    """A table of the scenario file as a frozen value."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", protected_namespaces=(), arbitrary_types_allowed=True
    )

    def given(self, *keys: str) -> list[str]:
        """The keys among these that hold a value."""
        return [key for key in keys if getattr(self, key) is not None]


class KeyedError(ValueError):
    """An error with the key that should change, dotted and relative to the table being read."""

    def __init__(self, key: str, message: str) -> None:
        super().__init__(message)
        self.key = key

    @classmethod
    @contextmanager
    def under(cls, key: str) -> Iterator[None]:
        """Attribute errors of the block to this key."""
        try:
            yield
        except KeyedError as error:
            raise cls(f"{key}.{error.key}", str(error)) from None
        except ValueError as error:
            raise cls(key, str(error)) from None


def present(value: _Value | None) -> _Value:
    """A value that `check_form` has found to be given."""
    assert value is not None
    return value


def check_form(
    section: Section, forms: tuple[tuple[str, ...], ...], optional: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """The form (set of keys) in which the section is given; ValueError if it is none of them.

    A key may belong to several forms; optional keys may be added to each. The error names what the
    nearest form lacks or does not have.
    """
    keys = list(dict.fromkeys(key for form in forms for key in form))
    given = section.given(*keys)
    decisive = set(given) - set(optional)
    best = max(forms, key=lambda form: (len(decisive.intersection(form)), -len(form)))
    missing = [key for key in best if key not in given]
    surplus = [key for key in given if key not in best and key not in optional]
    if not missing and not surplus:
        return best
    ways = "; or ".join(" + ".join(form) for form in forms)
    trouble = [f"{key} is missing" for key in missing]
    trouble += [f"{key} does not belong with {' + '.join(best)}" for key in surplus]
    raise ValueError(f"{', '.join(trouble)}: give exactly one of {ways}")
