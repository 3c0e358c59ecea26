"""What a client's program does at a visit, beyond the rules of its desk."""

from __future__ import annotations

import asyncio
import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lone_client import lone_client
from small_field import RUN

from flexpress.field.messages import Snapshot
from flexpress.field.trainer import LocalModel

ONES = hashlib.sha256(np.ones(3).tobytes()).hexdigest()
FIRST = Snapshot(RUN, 1, "courier-1", 0, 0, ONES, 2, (1,), (), ())


@pytest.mark.parametrize("number", [1.5, np.nan, np.inf])
def test_an_update_that_is_not_finite_is_not_handed_over(
    number: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries: list[dict[str, Any]] = []
    with lone_client(tmp_path, monkeypatch, entries) as client:
        client._training._local = LocalModel(np.ones(3), np.array([0.0, 1.0, number]), 0, 4)
        answer = asyncio.run(client._met("courier-1", FIRST))
        base = client._desk.base
    finite = bool(np.isfinite(number))
    assert (answer.status, len(answer.parcels)) == ("ready", int(finite))
    assert base is not None
    assert (base.tour, base.first_step, base.last_update is None) == (1, 4, not finite)
    assert ("not-finite" in [entry["event"] for entry in entries]) is not finite
