"""Members that join a mission under way: a kit of the same authority, made known to the server."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from msgspec.structs import replace

from flexpress.arguments import check_path
from flexpress.errors import InputError
from flexpress.field.identity import issue, load_authority
from flexpress.field.kit import (
    ClientKit,
    CourierKit,
    Entry,
    OperatorKit,
    ServerKit,
    load_kit,
    save_kit,
)
from flexpress.field.operator import Enrol, call_server
from flexpress.field.provisioning import AUTHORITY_KIT, SERVER_KIT, parse_address
from flexpress.field.training import SAMPLES, load_samples
from flexpress.files.disk import read_bytes, write_file

_NAME = re.compile("(courier|client)-[a-z0-9]([a-z0-9-]{0,48}[a-z0-9])?")


def add_courier(folder: str | Path, name: str) -> Path:
    """A new courier; `folder` is the operator's kit, beside that of the authority.

    It has no clients until some are given to it (`add_client` again, with its name).
    """
    folder = check_path("folder", folder)
    kits, operator = _kits(folder, name, "courier")
    example = load_kit(_example(kits, "courier"), CourierKit)
    place = kits / name
    try:
        member = issue(load_authority(kits / AUTHORITY_KIT), name, "courier", place)
        save_kit(place, replace(example, name=name))
        entry = Entry(name, "courier", member.public_key, 0)  # the server gives it a number
        call_server(folder, operator, "enrol", Enrol(operator.run, entry))
    except BaseException:
        shutil.rmtree(place, ignore_errors=True)
        raise
    return place


def add_client(
    folder: str | Path, name: str, *, courier: str, at: str, samples: str | Path
) -> Path:
    """A new client with these samples, at HOST:PORT, at the end of the tour of this courier."""
    folder = check_path("folder", folder)
    kits, operator = _kits(folder, name, "client")
    source = check_path("samples", samples)
    example = load_kit(_example(kits, "client"), ClientKit)
    host, port = parse_address("at", at)
    training = replace(
        example.training,
        client=name.removeprefix("client-"),
        number=_next_number(kits),
        preloaded=False,
        samples=SAMPLES,
    )
    place = kits / name
    try:
        member = issue(load_authority(kits / AUTHORITY_KIT), name, "client", place)
        write_file(place / SAMPLES, read_bytes(source))
        load_samples(training, place)  # InputError if they do not fit
        kit = replace(example, name=name, host="0.0.0.0", port=port, training=training)
        save_kit(place, kit)
        entry = Entry(
            name,
            "client",
            member.public_key,
            training.number,
            training.client,
            courier,
            host,
            port,
            order=training.number,
        )
        call_server(folder, operator, "enrol", Enrol(operator.run, entry))
    except BaseException:
        shutil.rmtree(place, ignore_errors=True)
        raise
    return place


def _kits(folder: Path, name: str, role: str) -> tuple[Path, OperatorKit]:
    """The folder of all kits, and the operator's."""
    operator, kits = load_kit(folder, OperatorKit), folder.resolve().parent
    found = _NAME.fullmatch(name)
    if not found or found[1] != role:
        raise InputError(f"{name}: must be {role}- and a name of a-z, 0-9 and hyphens")
    if (kits / name).exists():
        raise InputError(f"{kits / name}: exists already; choose another name")
    if not (kits / AUTHORITY_KIT).is_dir():
        raise InputError(
            f"{kits / AUTHORITY_KIT}: is missing; new members need the authority's key, "
            "so do this where the kits were made"
        )
    return kits, operator


def _example(kits: Path, role: str) -> Path:
    """Any kit of this role: a new member has the same settings."""
    found = next(iter(sorted(kits.glob(f"{role}-*"))), None)
    if found is None:
        raise InputError(f"{kits}: has no kit of a {role} to go by")
    return found


def _next_number(kits: Path) -> int:
    """One that nobody has, as far as kits are here: no two clients draw the same mini-batches."""
    roster = load_kit(kits / SERVER_KIT, ServerKit).roster
    joined = [load_kit(each, ClientKit).training.number for each in kits.glob("client-*")]
    joined += [entry.number for entry in roster]
    return 1 + max(*joined, sum(1 for _ in kits.iterdir()))
