"""Updates that the server does not take: not finite, forged, tampered with, or seen before."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from besieged import Field, Tour, check_refused
from callers import until
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from forging import INCARNATION, tampered, update_of
from msgspec.structs import replace
from scenes import Scene, out_with_updates

from flexpress.field.kit import STATE
from flexpress.field.messages import Manifest, Missing, Parcel, decode
from flexpress.field.office import Office
from flexpress.field.store import Files

Update = tuple[Parcel, bytes]


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    with out_with_updates(tmp_path) as scene:
        yield scene


@pytest.fixture
def summing(tmp_path: Path) -> Iterator[Scene]:
    with out_with_updates(tmp_path, "sum") as scene:
        yield scene


def bad_updates(kits: Path) -> dict[str, Update]:
    """In the name of a client each; all but the first three are forged."""
    thief, box = Ed25519PrivateKey.generate(), X25519PrivateKey.generate().public_key()
    good, content = update_of(kits, "client-1", sequence=8)
    return {
        "nan": update_of(kits, "client-1", value=float("nan")),
        "inf": update_of(kits, "client-1", value=float("inf"), sequence=2),
        "-inf": update_of(kits, "client-1", value=float("-inf"), sequence=3),
        "another key": update_of(kits, "client-1", sequence=4, key=thief),
        "another run": update_of(kits, "client-1", sequence=5, run="0" * 32),
        "another box": update_of(kits, "client-1", sequence=6, seal_to=box),
        "a bit": tampered(*update_of(kits, "client-1", sequence=7)),
        "more steps": (replace(good, steps=99), content),
        "the box of another": (replace(good, name=replace(good.name, sequence=9)), content),
    }


def brought_along(tour: Tour, *updates: Update) -> Tour:
    """The same tour with these as well."""
    parcels = (*tour.parcels, *(parcel for parcel, _ in updates))
    contents = (*tour.contents, *(content for _, content in updates))
    return Tour(tour.courier, tour.orders, tour.model, parcels, contents)


def latest_model(field: Field) -> np.ndarray:
    """Of version 1."""
    until(lambda: field.server.said("merged", version=1))
    row = field.server_rows("versions")["1"]
    content = Files(field.kits / "server" / STATE).read(row.split('"')[3])
    return np.frombuffer(content, "<f4")


def test_only_good_updates_count(scene: Scene) -> None:
    """Those that are not finite get a verdict, forged ones leave no trace; the others count."""
    field, updates = scene.field, bad_updates(scene.field.kits)
    field.come_home(brought_along(scene.one, *updates.values()))
    field.come_home(scene.two)
    refused = {f"client-1/{INCARNATION}/{sequence}" for sequence in (1, 2, 3)}
    assert field.server_rows("refused").keys() == refused
    assert '"upto":3,"beyond":[]' in field.server_rows("seen")[f"client-1/{INCARNATION}"]
    total = np.zeros_like(latest_model(field))
    for tour in (scene.one, scene.two):
        total += field.sum_of(tour)
    model = np.frombuffer(scene.one.model, "<f4") - total / 4
    assert latest_model(field).tobytes() == model.tobytes()


def test_forged_contents_are_not_even_asked_for(scene: Scene) -> None:
    """A courier cannot fill the server's disk with updates that no client has made."""
    unsigned = {"another key", "another run", "more steps", "the box of another"}
    updates = bad_updates(scene.field.kits)
    tour = brought_along(scene.one, *updates.values())
    answer = scene.field.one.announce(tour.manifest())
    missing = {sha for sha, _ in decode(answer.content, Missing).contents}
    asked = {name for name, (parcel, _) in updates.items() if parcel.content in missing}
    assert asked == updates.keys() - unsigned
    for name in ("another key", "another run"):
        assert scene.field.one.upload(tour.number, updates[name][1]).status == 404


def test_a_forged_update_does_not_look_as_if_it_had_come(scene: Scene) -> None:
    """The operator sees when each client's last update came home."""
    forged = update_of(scene.field.kits, "client-1", key=Ed25519PrivateKey.generate())
    scene.field.come_home(brought_along(scene.one, forged))
    assert scene.field.server_rows("last").keys() == {"client-3", "client-4"}


def test_what_the_last_manifest_does_not_name_goes(scene: Scene) -> None:
    """One manifest after another, with contents for each, do not fill the disk either."""
    field, number = scene.field, scene.one.number
    for _ in range(3):
        update = update_of(field.kits, "client-1")  # sealed anew each time
        tour = brought_along(scene.one, update)
        assert field.one.announce(tour.manifest()).status == 200
        assert field.one.upload(number, update[1]).status == 204
    files = [key for key in field.states()["server"] if key.startswith("file state/")]
    assert len(files) == 2  # the model, and the last of the three


def test_another_manifest_while_one_is_looked_at(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it does not name is gone by then: nothing is accepted without its content."""
    field, examine, go_on = scene.field, Office._examine, threading.Event()
    looking = threading.Event()

    def examine_slowly(self: Office, *arguments: object) -> object:
        found = examine(self, *arguments)  # type: ignore[arg-type]  # passed on
        looking.set()
        assert go_on.wait(600)
        return found

    monkeypatch.setattr(Office, "_examine", examine_slowly)
    for content in scene.one.contents:
        assert field.one.upload(scene.one.number, content).status == 204
    answers = []
    returning = threading.Thread(
        target=lambda: answers.append(field.one.finish(scene.one.manifest()))
    )
    returning.start()
    assert looking.wait(600)
    assert field.one.announce(replace(scene.manifest, parcels=())).status == 200
    go_on.set()
    returning.join(600)
    assert (answers[0].status, "has not arrived" in answers[0].problem) == (422, True)
    field.come_home(scene.one)
    field.come_home(scene.two)
    until(lambda: field.server.said("merged", version=1))


def test_an_update_that_was_seen_comes_again(scene: Scene) -> None:
    """In a later tour: it is left out, and not added again."""
    field = scene.field
    for tour in (scene.one, scene.two):
        field.come_home(tour)
    before = latest_model(field).copy()
    seen = field.server_rows("seen")
    for courier, tour in ((field.one, scene.one), (field.two, scene.two)):
        orders = courier.depart()
        again = Tour(courier, orders, b"", tour.parcels, tour.contents)
        courier.bring(again.manifest(), *tour.contents)
    until(lambda: field.server.said("merged", version=2))
    assert field.server_rows("seen") == seen
    row = field.server_rows("versions")["2"]
    content = Files(field.kits / "server" / STATE).read(row.split('"')[3])
    assert content == before.tobytes()


# Sums


def summed(scene: Scene, *parcels: Parcel, value: float = 0.0) -> tuple[Manifest, bytes]:
    total = scene.field.sum_of(scene.one) + np.float32(value)
    sha = hashlib.sha256(total.tobytes()).hexdigest()
    manifest = scene.one.manifest(sha)
    return replace(manifest, parcels=(*manifest.parcels, *parcels)), total.tobytes()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_a_sum_that_is_not_finite(summing: Scene, value: float) -> None:
    manifest, content = summed(summing, value=value)
    courier = summing.field.one
    assert courier.announce(manifest).status == 200
    assert courier.upload(manifest.tour, content).status == 204
    check_refused(summing.field, lambda: courier.finish(manifest), 422, "not finite; void the tour")


def test_a_sum_with_an_update_that_nobody_has_signed(summing: Scene) -> None:
    """It is named, so that the operator knows which client to look at."""
    forged, _ = update_of(summing.field.kits, "client-1", key=Ed25519PrivateKey.generate())
    manifest, _ = summed(summing, forged)
    reason = f"client-1/{INCARNATION}/1 in the sum is not what its client has signed"
    check_refused(summing.field, lambda: summing.field.one.announce(manifest), 422, reason)


def test_a_sum_that_is_another_one(summing: Scene) -> None:
    manifest, content = summed(summing)
    courier, path = summing.field.one, f"/courier/tours/{manifest.tour}/contents/{manifest.total}"
    assert courier.announce(manifest).status == 200
    other = bytes(len(content))
    check_refused(
        summing.field, lambda: courier.push(courier.home, path, other), 422, "send it again"
    )
    check_refused(summing.field, lambda: courier.finish(manifest), 422, "has not arrived")


def test_a_sum_with_an_update_that_was_seen(summing: Scene) -> None:
    field = summing.field
    for tour in (summing.one, summing.two):
        total = field.sum_of(tour).tobytes()
        sha = hashlib.sha256(total).hexdigest()
        tour.courier.bring(tour.manifest(sha), total)
    again = Tour(field.one, field.one.depart(), b"", summing.one.parcels, summing.one.contents)
    total = field.sum_of(again).tobytes()
    manifest = again.manifest(hashlib.sha256(total).hexdigest())
    until(lambda: field.server.said("merged", version=1))
    for send in (field.one.announce, field.one.finish):
        check_refused(field, partial(send, manifest), 422, "has an update twice")
