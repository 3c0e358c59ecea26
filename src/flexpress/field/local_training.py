"""A client's training while its program serves couriers: in a thread, and resumed after a crash.

By the plan's clock the steps until the next visit are known, and trained at once. By the wall clock
a step is due each slot; what is trained is stored now and then, and it goes on from there when the
program is started again. Only the time in which it runs counts: a sensor's clock may jump by years
when it is set, and that is no reason to do the steps of years.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import numpy as np

from flexpress.field.desk import BaseRow
from flexpress.field.kit import ClientKit
from flexpress.field.messages import Count, Positive, Sha256
from flexpress.field.store import Files, Store
from flexpress.field.tables import Row, Table
from flexpress.field.trainer import LocalModel, Trainer
from flexpress.field.vectors import bytes_of
from flexpress.files.disk import DiskFullError
from flexpress.learning import Vector

_PORTION = 64
"""Steps in one call of the thread: a visit is answered between two of them."""
_SAVE_SECONDS = 60.0
"""Time between two copies of a local model on disk, by the wall clock."""
_WAIT_SECONDS = 0.1
"""When a courier should ask again, if the steps it wants are not done."""


class LocalRow(Row, frozen=True):
    """A local model that was stored: after so many steps from the model of this tour."""

    tour: Count
    num_steps: Positive
    model: Sha256


LOCAL = Table("local", LocalRow)


class LocalTraining:
    """The local model of the present base, and the loop that trains it."""

    def __init__(
        self,
        trainer: Trainer,
        store: Store,
        files: Files,
        kit: ClientKit,
        needed: Callable[[], set[str]],
        now: Callable[[], float] = time.monotonic,
        tell: Callable[[DiskFullError], None] = lambda error: None,
    ) -> None:
        """`needed` says which files others need; the clock must not jump.

        `tell` hears that there is no room for a copy of the local model.
        """
        self._trainer, self._store, self._files, self._now = trainer, store, files, now
        self._needed, self._tell = needed, tell
        self._dtype = np.dtype(kit.dtype).newbyteorder("<")
        self._by_plan = kit.training.clock == "plan"
        self._base: BaseRow | None = None
        self._local: LocalModel | None = None
        self._goal = 0
        self._since = 0.0  # when the first step would have begun, by our clock
        self._changed = asyncio.Event()
        self._saved = 0.0
        self.wait = _WAIT_SECONDS

    def begin(self, base: BaseRow | None) -> None:
        """Train from this base; from where it was stored, if it was."""
        self._base = self._local = None  # whatever happens, that of another base is not handed over
        if base is None:
            return
        last = None
        if self._trainer.training.head_start and base.last_update is not None:
            last = self._vector(base.last_update)
        start = self._trainer.start(self._vector(base.model), last)
        local = self._trainer.begin(start, base.first_step)
        row = LOCAL.rows(self._store.tables).get("")
        if row is not None and row.tour == base.tour:
            local = LocalModel(start, self._vector(row.model), base.first_step, row.num_steps)
        if self._by_plan:
            self._goal = self._trainer.steps_between(base.round, base.round + 1)[1]
        self._base, self._local, self._saved = base, local, self._now()
        self._since = self._saved - self._trainer.due_at(0.0, local.num_steps)
        self._changed.set()

    def until(self, number: int) -> LocalModel | None:
        """What is handed over at the visit of this round; None if it is not done yet."""
        base, local = self._base, self._local
        assert base is not None
        assert local is not None
        if not self._by_plan:
            return local
        goal = max(0, self._trainer.steps_between(base.round, number)[1])
        if local.num_steps > goal:  # another courier, of a later round, was here
            local = self._local = self._trainer.begin(local.base, local.first_step)
        self._goal = goal
        self._changed.set()
        return local if local.num_steps == goal else None

    def first_step(self, number: int, local: LocalModel | None) -> int:
        """Local steps that the client has done when it starts again at the visit of this round."""
        if self._by_plan:
            return self._trainer.steps_between(number, number)[0]
        return 0 if local is None else local.first_step + local.num_steps

    async def work(self) -> None:
        """Train what is due, for ever."""
        while True:
            self._changed.clear()
            missing = self._missing()
            if missing > 0:
                await self._advance(min(missing, _PORTION))
            else:
                await self._pause()

    async def _advance(self, steps: int) -> None:
        """Nobody keeps a local model while there is nothing to do: it is large."""
        local = self._local
        assert local is not None
        trained = await asyncio.to_thread(self._trainer.advance, local, steps)
        if self._local is local:  # otherwise a courier has come meanwhile
            self._local = trained
            if not self._by_plan and self._now() - self._saved > _SAVE_SECONDS:
                self.save()

    def save(self) -> None:
        """Keep what was trained by the wall clock. By the plan's clock it is trained again.

        On a full disk the last copy stays, and training goes on.
        """
        try:
            self._save()
        except DiskFullError as error:
            self._tell(error)
        self._saved = self._now()

    def _save(self) -> None:
        base, local = self._base, self._local
        if self._by_plan or base is None or local is None or not local.num_steps:
            return
        before = LOCAL.rows(self._store.tables).get("")
        model = self._files.write(bytes_of(local.model, self._dtype))
        self._store.commit([LOCAL.put("", LocalRow(base.tour, local.num_steps, model))])
        if before is not None and before.model not in {model, *self._needed()}:
            self._files.remove([before.model])  # a courier may not come for long

    def files(self) -> set[str]:
        """Digests of the files that it needs."""
        base, row = self._base, LOCAL.rows(self._store.tables).get("")
        return {row.model} if base and row and row.tour == base.tour else set()

    def _missing(self) -> int:
        base, local = self._base, self._local
        if base is None or local is None:
            return 0
        if not self._by_plan:
            self._goal = self._trainer.steps_due(self._since, self._now())
        return self._goal - local.num_steps

    async def _pause(self) -> None:
        """Until there is something to do."""
        seconds = None
        if not self._by_plan and self._base is not None:
            seconds = max(0.0, self._trainer.due_at(self._since, self._goal + 1) - self._now())
        try:
            async with asyncio.timeout(seconds):
                await self._changed.wait()
        except TimeoutError:
            pass

    def _vector(self, sha: str) -> Vector:
        vector: Vector = np.frombuffer(self._files.read(sha), self._dtype)
        return vector
