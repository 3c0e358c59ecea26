"""The server: hands out the model, merges what comes home, evaluates, writes a run folder.

It does what its mission says is due, one step after another. A step is one transaction; after a
kill -9 the same step is due again.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
from aiohttp import web
from msgspec.structs import replace

from flexpress.arguments import check_path
from flexpress.errors import DivergedError
from flexpress.field import store as durability
from flexpress.field.answering import serve
from flexpress.field.book import ServerBook
from flexpress.field.book_rows import (
    HOMES,
    SERVER_ROWS,
    HomeRow,
    ProgressRow,
    TourRow,
)
from flexpress.field.due import Due, Progress
from flexpress.field.identity import load_key, load_seal_key
from flexpress.field.kit import STATE, ServerKit, load_kit
from flexpress.field.log import Log
from flexpress.field.mission import Mission, Step, open_mission
from flexpress.field.office import Office
from flexpress.field.operator import OperatorDesk, member_row
from flexpress.field.overview import Overview
from flexpress.field.program import run_program
from flexpress.field.room import Room
from flexpress.field.sealing import SEAL_OVERHEAD
from flexpress.field.served_time import ServedTime
from flexpress.field.store import Files, Store, digest_of_content
from flexpress.field.tables import Change
from flexpress.field.tidying import Tidying
from flexpress.field.tls import server_context
from flexpress.field.vectors import bytes_of
from flexpress.files.disk import PLAN, SCENARIO, DiskFullError
from flexpress.learning import Learner, Vector, make_learner
from flexpress.learning.job import first_model
from flexpress.planning import load_plan
from flexpress.scenario import Scenario

RUN = "run"
"""The run folder, in the server's kit."""

_ASK_AGAIN = 2.0
"""Seconds after which a courier that waits asks again; divided by the speedup."""
_NOTE_SECONDS = 60.0
"""After which the time is noted again: a server that is killed loses no more of it."""
_LEAST_WAIT = 0.05
"""However large the speedup is: couriers that ask all the time leave no time to train."""


def run_server(folder: str | Path, *, log: Log | None = None, restored: bool = False) -> None:
    """Serve until it is stopped, also after the mission is over. DivergedError if it diverges.

    `restored`: the folder is an older copy, and the server has been at work after it was made.
    """
    folder = check_path("folder", folder)
    kit = load_kit(folder, ServerKit)
    log = log or Log(kit.name)
    scenario = Scenario.load(folder / SCENARIO)
    plan = load_plan(folder / PLAN, scenario)

    def tell(note: str) -> None:
        log("note", text=note)

    learner = make_learner(scenario, engine=kit.engine, tell=tell)
    with Store.open(folder / STATE, SERVER_ROWS) as store:
        server = _Server(folder, kit, learner, store, log)
        if restored:
            server.restore()
        mission = open_mission(
            scenario,
            plan,
            learner,
            folder / RUN,
            clock=kit.clock,
            model=server.model(),
            progress=server.progress(),
            now=server.time.now(),
            speedup=kit.speedup,
            durable=lambda step: durability.durable(step),
        )
        with mission as opened:
            run_program(lambda: server.work(opened))


class _Server:
    def __init__(
        self, folder: Path, kit: ServerKit, learner: Learner, store: Store, log: Log
    ) -> None:
        self._kit, self._store, self._log = kit, store, log
        self._room = Room(log)
        self._context = server_context(folder)
        self._files = Files(folder / STATE)
        self._dtype = np.dtype(kit.dtype).newbyteorder("<")
        sealed = SEAL_OVERHEAD if kit.payload == "parcel" else 0
        self._book = ServerBook(
            store.tables,
            kit.run,
            kit.payload,
            kit.model_size,
            content_size=kit.model_size + sealed,
            wait_seconds=max(_LEAST_WAIT, _ASK_AGAIN / max(1.0, kit.speedup)),
        )
        self._overview = Overview(store.tables, self._book)
        self._changed = asyncio.Event()
        self._stopped = asyncio.Event()
        self.time = ServedTime(self._last_time())
        self._noted = self.time.now()
        seal_key = load_seal_key(folder) if sealed else None
        self._tidying = Tidying(self._files, self._book.files)
        self._office = Office(
            kit,
            store,
            self._files,
            self._book,
            load_key(folder),
            seal_key,
            log,
            self._changed.set,
            self._tidying,
            self.time.now,
        )
        self._begin(learner)

    def _begin(self, learner: Learner) -> None:
        """Once: the members of the kit, and x^0 as version 0. Files that nobody needs go."""
        if self._book.counter.version < 0:
            sha = self._files.write(bytes_of(first_model(learner), self._dtype))
            first = self._book.merged(0, sha, (), ProgressRow())
            roster = [self._book.enrol(each.name, member_row(each)) for each in self._kit.roster]
            self._store.commit([change for each in (*roster, first) for change in each.changes])
        self._files.remove_unless(self._book.files())

    def restore(self) -> None:
        """Once, after an older copy has taken the place of what was lost."""
        void = list(self._book.open_tours())
        decided = self._book.restored(time.time())
        self._store.commit(decided.changes)
        self._log("restored", next_tour=decided.answer, void=void)

    def model(self) -> Vector:
        """The global model of the latest version."""
        sha = self._book.model(self._book.counter.version)
        model: Vector = np.frombuffer(self._files.read(sha), self._dtype)
        return model.astype(np.dtype(self._kit.dtype), copy=False)

    def progress(self) -> Progress | None:
        """As it was committed; None before the first step."""
        notes = self._book.progress.notes
        return Progress.from_json(notes) if notes else None

    def _last_time(self) -> float:
        """Of the mission, as it was noted last; before the first start, that of the computer."""
        if self._book.progress.time:
            return self._book.progress.time
        before = self.progress()  # of a version that did not note it
        return before.started + before.seconds / self._kit.speedup if before else time.time()

    def _note_time(self) -> None:
        self._noted = self.time.now()
        self._store.commit(self._book.note(replace(self._book.progress, time=self._noted)).changes)

    async def work(self, mission: Mission) -> None:
        app = web.Application()
        app.add_subapp("/courier", self._office.app())
        desk = OperatorDesk(
            self._kit,
            self._store,
            self._book,
            self._log,
            self._members_changed,
            lambda: _how_far(mission),
            self._stopped.set,
        )
        app.add_subapp("/operator", desk.app())
        runner, port = await serve(app, self._context, self._kit.host, self._kit.port)
        self._log("started", port=port, version=self._book.counter.version)
        flying = asyncio.ensure_future(self._fly(mission))
        tidying = asyncio.ensure_future(self._tidying.work())
        stopped = asyncio.ensure_future(self._stopped.wait())
        try:
            await asyncio.wait([flying, tidying, stopped], return_when=asyncio.FIRST_COMPLETED)
            for working in (flying, tidying):
                if working.done():
                    working.result()  # raises if the mission cannot go on
        finally:
            for task in (flying, tidying, stopped):
                task.cancel()
            await asyncio.gather(flying, tidying, stopped, return_exceptions=True)
            await runner.cleanup()
            self._last_notes(mission)
            self._log("stopped")

    def _last_notes(self, mission: Mission) -> None:
        """Nothing that counts: without room for them, the server stops all the same."""
        try:
            self._note_time()
            mission.checkpoint()
        except DiskFullError as error:
            self._room.tell(error)

    def _members_changed(self) -> None:
        self._overview.forget()
        self._changed.set()

    async def _fly(self, mission: Mission) -> None:
        """Do what is due, wait for what is not; after the mission, only answer."""
        while not mission.progress.over:
            await self._room.insist(lambda: self._go_on(mission))
            await self._room.insist(lambda: self._save(mission))
        self._log("mission-over", version=self._book.counter.version)
        await asyncio.Event().wait()

    async def _go_on(self, mission: Mission) -> None:
        """One step, or a wait. If it fails, the same is due again, as after a kill -9."""
        self._changed.clear()
        self._void_late_tours()
        due = mission.due(self._overview.situation(), self.time.now())
        if due is None:
            await self._pause(mission.wakes(), self._next_void(), self._noted + _NOTE_SECONDS)
            if self.time.now() >= self._noted + _NOTE_SECONDS:
                self._note_time()
            return
        homes = [HOMES.rows(self._store.tables)[self._overview.home_key(key)] for key in due.homes]
        try:
            step = await self._perform(mission, due, homes)
        except DivergedError as error:
            self._log("diverged", reason=str(error))
            raise
        await self._commit_step(mission, step)
        self._report(step, sum(len(home.parcels) for home in homes))

    async def _save(self, mission: Mission) -> None:
        """For those who read the run folder."""
        mission.save()

    def _void_late_tours(self) -> None:
        """S3: couriers that have been out for too long do not keep the others waiting."""
        for tour, row in self._book.open_tours().items():
            if self._kit.longest_tour and self.time.now() >= self._end_of(
                row, self._kit.longest_tour
            ):
                self._store.commit(self._book.void(tour).changes)
                self._log("voided", tour=tour, courier=row.courier, reason="out for too long")

    def _next_void(self) -> float | None:
        limit, tours = self._kit.longest_tour, self._book.open_tours().values()
        return min((self._end_of(row, limit) for row in tours), default=None) if limit else None

    def _end_of(self, tour: TourRow, limit: float) -> float:
        return tour.since + limit / self._kit.speedup

    async def _pause(self, *until: float | None) -> None:
        """Until somebody departs or comes home, or until the first of these times."""
        times = [each for each in until if each is not None]
        seconds = max(0.0, min(times) - self.time.now()) if times else None
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._changed.wait()

    def _has_departed(self, name: str, number: int) -> bool:
        """Meanwhile, in the round for which a newer model was due: then it flies with the old."""
        courier = self._overview.courier(name)
        return courier is not None and courier.round == number and courier.state != "released"

    async def _perform(self, mission: Mission, due: Due, homes: list[HomeRow]) -> Step:
        """In a thread: merging and evaluating take their time, and members may join meanwhile."""
        num_clients = self._num_clients(mission)

        def perform() -> Step:
            sums = [self._office.total_of(home.total, home.parcels) for home in homes]
            brought = [total for total in sums if total is not None]
            return mission.perform(due, brought, num_clients)

        return await asyncio.to_thread(perform)

    def _num_clients(self, mission: Mission) -> int:
        """N: by the plan's clock all that are visited, by the wall clock all that are enrolled."""
        if self._kit.clock == "plan":
            return mission.timetable.num_clients
        return max(1, self._overview.num_clients)

    async def _commit_step(self, mission: Mission, step: Step) -> None:
        """A new version is a file first, and a thread writes it."""
        if step.model is None:
            self._commit_with(mission, step, None)
            return
        content = bytes_of(step.model, self._dtype)
        sha = await asyncio.to_thread(digest_of_content, content)
        async with self._tidying.holding([sha]):
            await asyncio.to_thread(self._files.write, content, sha)
            self._commit_with(mission, step, sha)
        self._tidying.ask()

    def _commit_with(self, mission: Mission, step: Step, sha: str | None) -> None:
        """One transaction: the new version, what it is made of, who may depart, how far we are."""
        due, progress = step.due, step.progress
        now = self.time.now()
        row = ProgressRow(progress.num_events, progress.over, progress.to_json(), now)
        changes: list[Change] = []
        if sha is not None:
            keys = [self._overview.home_key(key) for key in due.homes]
            changes += self._book.merged(progress.version, sha, keys, row).changes
        else:
            changes += self._book.note(row).changes
        for release in due.releases:
            name = self._overview.name(release.courier)
            if not self._has_departed(name, release.round):
                changes += self._book.release(name, *release[1:]).changes
        self._store.commit(changes)
        mission.committed(step)

    def _report(self, step: Step, updates: int) -> None:
        update, measured = step.due.update, step.measured
        if update is not None:
            self._log("merged", version=update.version, slot=update.slot, updates=updates)
        if measured is not None:
            self._log("evaluated", slot=measured.slot, accuracy=measured.accuracy)


def _how_far(mission: Mission) -> tuple[int, int, float | None]:
    """Slot, horizon and accuracy."""
    last = mission.metrics[-1] if mission.metrics else None
    slot, accuracy = (last.slot, last.accuracy) if last else (0, None)
    return slot, mission.scenario.run.horizon, accuracy
