"""A courier that is stolen on its way home: its whole folder, with all that it carries."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from besieged import Field, Tour, besieged, running
from callers import HandCourier, until

from flexpress.field.courier import run_courier
from flexpress.field.hold import COURIER_ROWS, CourierHold
from flexpress.field.kit import STATE, CourierKit, load_kit
from flexpress.field.messages import Payload
from flexpress.field.store import Files, Store


@dataclass(frozen=True)
class Theft:
    """Courier-1 is in other hands, with tour 3 sealed; courier-2 is out with tour 4."""

    field: Field
    kit: Path  # the thief's copy of its folder
    tour: Tour  # what the thief found in it, and his calls with its certificate
    other: Tour

    @property
    def thief(self) -> HandCourier:
        return self.tour.courier

    def files(self) -> list[bytes]:
        """All that the thief can read."""
        return [path.read_bytes() for path in sorted(self.kit.rglob("*")) if path.is_file()]


@contextmanager
def stolen(folder: Path, payload: Payload = "parcel") -> Iterator[Theft]:
    with besieged(folder, payload) as field:
        seal = {"event": "sealed", "parcels": 2}
        with running(run_courier, field.kits / "courier-1", **seal) as courier:
            field.come_home(field.fly(field.two))
            until(lambda: courier.has_started() and courier.said("sealed", parcels=2))
        kit = folder / "thief"
        shutil.copytree(field.kits / "courier-1", kit)
        yield Theft(field, kit, _looted(field.kits, kit), field.fly(field.two))


def _looted(kits: Path, kit: Path) -> Tour:
    files, settings = Files(kit / STATE), load_kit(kit, CourierKit)
    with Store.open(kit / STATE, COURIER_ROWS) as store:
        hold = CourierHold(store.tables, settings.run, settings.name, 0)
        orders, parcels = hold.orders, hold.parcels()
        assert orders is not None
        contents = tuple(files.read(parcel.content) for parcel in parcels)
        model = files.read(hold.snapshot.model)
    return Tour(HandCourier(kits, settings.name, kit), orders, model, parcels, contents)
