"""A client's training between visits, by the plan's clock, when couriers come that should not."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pytest
from memory_field import PLAIN
from msgspec.structs import replace

from flexpress.field.desk import BaseRow
from flexpress.field.kit import ClientKit
from flexpress.field.local_training import LOCAL, LocalTraining
from flexpress.field.store import Files, Store
from flexpress.field.tables import row_types
from flexpress.field.trainer import LocalModel, Trainer
from flexpress.learning import Quadratic

TEN_A_ROUND = replace(PLAIN, period=10, num_params=3)
KIT = ClientKit(
    run="0" * 32,
    name="client-0",
    payload="parcel",
    num_params=3,
    dtype="float64",
    speedup=1.0,
    host="127.0.0.1",
    port=0,
    server_key="0" * 64,
    seal_key="0" * 64,
    training=TEN_A_ROUND,
)


async def trained(training: LocalTraining, number: int) -> LocalModel:
    """As a courier of this round finds it; it asks until the client is ready."""
    async with asyncio.timeout(600):
        while (local := training.until(number)) is None:
            await asyncio.sleep(0.001)
    return local


@pytest.mark.parametrize("rounds", [[1], [4, 1], [1, 4, 1], [2, 3, 1], [0, 1], [4, 0]])
def test_a_round_has_its_steps_whoever_was_here_before(tmp_path: Path, rounds: list[int]) -> None:
    """Couriers of other rounds ask, and go away before the client is ready, or after."""
    trainer = Trainer(TEN_A_ROUND, Quadratic.random([0], params=3, seed=1, noise=0.3))
    model = np.arange(3.0)

    async def run() -> LocalModel:
        with Store.open(tmp_path, row_types(LOCAL)) as store:
            files = Files(tmp_path)
            training = LocalTraining(trainer, store, files, KIT, set)
            training.begin(BaseRow(1, 0, 0, files.write(model.tobytes()), 0, 0.0))
            working = asyncio.create_task(training.work())
            try:
                for number in rounds:
                    local = await trained(training, number)
            finally:
                working.cancel()
                await asyncio.gather(working, return_exceptions=True)
            return local

    local, steps = asyncio.run(run()), 10 * rounds[-1]
    assert local.num_steps == steps
    assert local.update.tobytes() == trainer.update(model, 0, steps).tobytes()
