"""A client's program without a port: a courier speaks with it directly. It trains without data."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_field import RUN

from flexpress.field import client as program
from flexpress.field.desk import CLIENT_ROWS
from flexpress.field.identity import issue, make_authority
from flexpress.field.kit import FIRST_MODEL, ClientKit
from flexpress.field.local_training import LOCAL
from flexpress.field.log import Log
from flexpress.field.store import Store
from flexpress.field.tables import row_types
from flexpress.field.trainer import Trainer
from flexpress.field.training import Training
from flexpress.learning import Quadratic

SLOT = 60.0
TRAINING = Training(
    client=1,
    number=0,
    model="logistic",
    engine="auto",
    num_params=3,
    dtype="float64",
    image=(1, 1, 1),
    pixels="uint8",
    num_classes=2,
    scale=(1.0,),
    shift=(0.0,),
    learning_rate=0.1,
    batch_size=1,
    seed=1,
    head_start=0.0,
    preloaded=True,
    clock="wall",
    slot=SLOT,
    ticks_per_slot=1,
    period=10,
    offset=5,
)
KIT = ClientKit(
    RUN, "client-1", "sum", 3, "float64", 1.0, "localhost", 1, "0" * 64, "0" * 64, TRAINING
)


@contextmanager
def lone_client(
    folder: Path, monkeypatch: pytest.MonkeyPatch, entries: list[dict[str, Any]]
) -> Iterator[program._Client]:
    """With x^0 on board, which is all ones."""
    trainer = Trainer(TRAINING, Quadratic.random((1,), params=3, seed=1))
    monkeypatch.setattr(Trainer, "in_folder", lambda *_: trainer)
    issue(make_authority(folder / "authority"), "client-1", "client", folder)
    (folder / FIRST_MODEL).write_bytes(np.ones(3).tobytes())
    log = Log("client-1", sink=entries.append)
    with Store.open(folder / "state", {**CLIENT_ROWS, **row_types(LOCAL)}) as store:
        client = program._Client(folder, KIT, store, log, lambda note: None)
        client._training.begin(client._desk.base)
        yield client
