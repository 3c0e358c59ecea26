"""The state of a simulation in one file: what is needed to go on, and nothing that the clock tells.

NumPy's .npz: the global model, the models and sums of updates under way, and a header in JSON.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import TypeAdapter, ValidationError

from flexpress.errors import InputError
from flexpress.files.disk import read_bytes, write_file
from flexpress.learning import Vector
from flexpress.simulation.deliveries import Delivery, Key
from flexpress.simulation.origin import Origin
from flexpress.simulation.simulate import Simulation

HEADER, MODEL = "header", "model"


@dataclass(frozen=True)
class Carried:
    """A delivery under way, and the array of the file that holds its vector."""

    transporter: int
    tour: int
    version: int
    array: str
    trained: bool


@dataclass(frozen=True)
class Header:
    """Where the simulation and the files of its run folder were."""

    learner: str
    origin: Origin
    slot: int
    num_events: int
    trace_bytes: int
    trace_sha256: str
    metrics_bytes: int
    metrics_sha256: str
    diverged: bool = False
    carried: tuple[Carried, ...] = ()


def save_checkpoint(path: Path, simulation: Simulation, header: Header) -> None:
    """Written beside the old one and put in its place: there is always a whole one."""
    arrays: dict[str, Any] = {MODEL: simulation.model}
    carried = []
    for (transporter, tour), delivery in simulation.deliveries.under_way.items():
        name = f"sum-{transporter}-{tour}" if delivery.trained else f"model-{delivery.version}"
        arrays[name] = delivery.vector
        carried.append(Carried(transporter, tour, delivery.version, name, delivery.trained))
    text = json.dumps(asdict(replace(header, carried=tuple(carried))))
    arrays[HEADER] = np.frombuffer(text.encode(), np.uint8)
    content = io.BytesIO()
    np.savez(content, **arrays)
    write_file(path, content.getvalue())


def load_checkpoint(path: Path) -> tuple[Header, dict[str, Vector]]:
    """The header, and the arrays by name; InputError if the file is not whole."""
    try:
        with np.load(io.BytesIO(read_bytes(path)), allow_pickle=False) as content:
            arrays = {name: content[name] for name in content.files}
        header = TypeAdapter(Header).validate_json(arrays.pop(HEADER).tobytes())
        arrays[MODEL], *(arrays[entry.array] for entry in header.carried)
    except (ValueError, KeyError, OSError, EOFError, zipfile.BadZipFile, ValidationError):
        raise InputError(
            f"{path}: damaged, or not a checkpoint; run into another folder without --resume"
        ) from None
    return header, arrays


def restore(simulation: Simulation, header: Header, arrays: Mapping[str, Vector]) -> None:
    """The simulation goes on from there."""
    for vector in arrays.values():
        vector.flags.writeable = False
    simulation.model = arrays[MODEL]
    simulation.num_events, simulation.slot = header.num_events, header.slot
    under_way: dict[Key, Delivery] = {}
    for entry in header.carried:
        vector = arrays[entry.array]
        under_way[entry.transporter, entry.tour] = Delivery(entry.version, vector, entry.trained)
    simulation.deliveries.under_way = under_way
