"""Models in the object store: a version is put there once, however many clients start from it."""

from __future__ import annotations

import weakref
from typing import Any

from flexpress.learning.job import Vector


class SentModels:
    """References to models, for as long as somebody else holds the model."""

    def __init__(self, ray: Any) -> None:
        self._ray = ray
        self._references: dict[int, Any] = {}

    def reference(self, model: Vector) -> Any:
        """The same for the same array, unless that may be written to: it may have changed."""
        if model.flags.writeable:
            return self._ray.put(model)
        key = id(model)
        if key not in self._references:
            self._references[key] = self._ray.put(model)
            weakref.finalize(model, self._references.pop, key, None)
        return self._references[key]

    def forget(self) -> None:
        self._references.clear()

    def __len__(self) -> int:
        return len(self._references)
