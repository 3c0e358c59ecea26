"""A moment of a mission at which all is under way that can be attacked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from besieged import Field, Tour, after_a_round, besieged
from callers import Caller

from flexpress.field.messages import Manifest, Payload


@dataclass(frozen=True)
class Scene:
    """Both couriers are on their way home with two parcels each: tours 3 and 4."""

    field: Field
    one: Tour
    two: Tour

    @property
    def home(self) -> Caller:
        """As courier-1."""
        return self.field.one.home

    @property
    def manifest(self) -> Manifest:
        return self.one.manifest()


@contextmanager
def out_with_updates(folder: Path, payload: Payload = "parcel") -> Iterator[Scene]:
    """Parcels are announced, and none has arrived."""
    with besieged(folder, payload) as field:
        scene = Scene(field, *after_a_round(field))
        if payload == "parcel":
            for tour in (scene.one, scene.two):
                assert tour.courier.announce(tour.manifest()).status == 200
        yield scene
