"""The server: hands out the model, merges what comes home, evaluates, writes a run folder."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import TypeVar

import numpy as np
from aiohttp import web

from flexpress.field.answering import serve
from flexpress.field.book import ServerBook
from flexpress.field.book_rows import HOMES, MEMBERS, SERVER_ROWS, VERSIONS, home_key
from flexpress.field.identity import load_key, load_seal_key
from flexpress.field.kit import STATE, ServerKit, load_kit
from flexpress.field.log import Log
from flexpress.field.office import Office
from flexpress.field.operator import OperatorDesk, member_row
from flexpress.field.program import run_program
from flexpress.field.sealing import SEAL_OVERHEAD
from flexpress.field.store import Files, Store
from flexpress.field.tables import Decision
from flexpress.field.tls import server_context
from flexpress.learning import make_learner
from flexpress.planning import load_plan
from flexpress.files.disk import PLAN, SCENARIO
from flexpress.scenario import Scenario
from flexpress.simulation.clock import events
from flexpress.simulation.events import Departure, Evaluation, Update
from flexpress.simulation.merging import merge
from flexpress.simulation.timetable import Timetable

_A = TypeVar("_A")
RUN = "run"


def run_server(folder: Path, *, log: Log | None = None) -> None:
    kit = load_kit(folder, ServerKit)
    log = log or Log(kit.name)
    scenario = Scenario.load(folder / SCENARIO)
    plan = load_plan(folder / PLAN, scenario)
    learner = make_learner(scenario, engine=kit.engine)
    with Store.open(folder / STATE, SERVER_ROWS) as store:
        server = _Server(folder, kit, scenario, plan, learner, store, log)
        run_program(server.work)


class _Server:
    def __init__(self, folder, kit, scenario, plan, learner, store, log):
        self._kit, self._store, self._log = kit, store, log
        self._scenario, self._plan, self._learner = scenario, plan, learner
        self._files = Files(folder / STATE)
        self._context = server_context(folder)
        size = kit.model_size + (SEAL_OVERHEAD if kit.payload == "parcel" else 0)
        self._book = ServerBook(store.tables, kit.run, kit.payload, kit.model_size, content_size=size, wait_seconds=0.05)
        self._changed = asyncio.Event()
        self._office = Office(kit, store, self._files, self._book, load_key(folder), load_seal_key(folder), log, self._changed.set)
        self._folder = folder
        for entry in kit.roster:
            if entry.name not in MEMBERS.rows(store.tables):
                self._commit(self._book.enrol(entry.name, member_row(entry)))
        if not VERSIONS.rows(store.tables):
            sha = self._files.write(learner.initial_model().tobytes())
            self._commit(self._book.merged(0, sha, (), self._book.progress))

    async def work(self):
        app = web.Application()
        app.add_subapp("/courier", self._office.app())
        runner, port = await serve(app, self._context, self._kit.host, self._kit.port)
        self._log("started", port=port)
        try:
            await self._mission()
            self._log("mission-over")
            await asyncio.Event().wait()
        finally:
            await runner.cleanup()
            self._log("stopped")

    async def _mission(self):
        run = self._scenario.run
        timetable = Timetable.of(self._scenario, self._plan, run.algorithm)
        model = self._learner.initial_model()
        for event in events(timetable, run.horizon, run.eval_every):
            if isinstance(event, Departure):
                while any(t.courier == f"courier-{event.transporter}" for t in self._book.open_tours().values()) or (event.tour and self._store.tables["released"][f"courier-{event.transporter}"].tour is None):
                    self._changed.clear()
                    await self._changed.wait()
                self._commit(self._book.release(f"courier-{event.transporter}", event.tour, event.version))
            elif isinstance(event, Evaluation):
                loss, accuracy = await asyncio.to_thread(self._learner.evaluate, model)
                self._log("evaluated", slot=event.slot, accuracy=accuracy)
            elif isinstance(event, Update):
                keys = [home_key(f"courier-{c.transporter}", c.tour + 1) for c in event.contributions]
                while not all(key in HOMES.rows(self._store.tables) for key in keys):
                    self._changed.clear()
                    await self._changed.wait()
                homes = [HOMES.rows(self._store.tables)[key] for key in keys]
                sums = [self._office.total_of(h.total, h.parcels) for h in homes]
                model = merge(model, [s for s in sums if s is not None], timetable.num_clients)
                sha = self._files.write(model.tobytes())
                self._commit(self._book.merged(event.version, sha, keys, self._book.progress))
                self._log("merged", version=event.version, slot=event.slot, updates=sum(len(h.parcels) for h in homes))
        np.save(self._folder / "model.npy", model)

    def _commit(self, decision: Decision[_A]) -> _A:
        self._store.commit(decision.changes)
        return decision.answer
