"""The Learn tab's other half: simulations in run folders, which the command line can go on with."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec

from flexpress.control import messages
from flexpress.control.draft import Draft
from flexpress.control.folder import Folder
from flexpress.control.learning_tasks import Learning, Page, stored_progress, warm_up
from flexpress.control.topics import Topics
from flexpress.control.worker import Worker
from flexpress.errors import FlexpressError, InputError
from flexpress.files.disk import SCENARIO, read_bytes, write_file
from flexpress.scenario import Algorithm, Scenario

_ASKED = "runs.json"

_MOST_POINTS = 300
"""Of a curve."""

_Algorithms = list[Algorithm] | None


class LearnDesk:
    """One simulation at a time; all runs in the folder are shown."""

    def __init__(self, folder: Folder, topics: Topics, draft: Draft) -> None:
        self._folder, self._topics, self._draft = folder, topics, draft
        self.worker = Worker(warm_up)
        self._runs: dict[str, dict[str, Any]] = {}
        self._running = ""
        self._task: asyncio.Task[None] | None = None

    def publish(self) -> None:
        """All runs that are on disk; the one under way is as its news say."""
        for name in self._folder.runs():
            if name not in self._runs:
                self._runs[name] = self._stored(name)
        self._publish_runs()

    def _publish_runs(self) -> None:
        """Long curves with fewer points: nobody sees more."""
        folders = {
            name: {**folder, "runs": {each: _thinned(run) for each, run in folder["runs"].items()}}
            for name, folder in self._runs.items()
        }
        self._topics.publish("runs", {"running": self._running, "folders": folders})

    def _stored(self, name: str) -> dict[str, Any]:
        try:
            return stored_progress(self._folder.run(name))
        except FlexpressError as error:
            return {"state": "failed", "note": str(error), "runs": {}}

    def perform(self, wish: messages.Command) -> None:
        match wish:
            case messages.Simulate():
                self._begin(wish)
            case messages.Pause():
                self.worker.stop()
                if self._running:
                    self._runs[self._running]["state"] = "pausing"
            case messages.GoOn(run):
                self._go_on(run)
            case messages.Report(run):
                self._start(run, Page(self._folder.run(run)), report=True)
        self.publish()

    def _begin(self, wish: messages.Simulate) -> None:
        plan = self._folder.plan(wish.plan) if wish.plan else None
        scenario = Scenario.load(plan / SCENARIO) if plan else self._draft.scenario()
        run = scenario.replace(run=self._settings(wish)).run
        given = self._draft.data.get("learning", {}) if plan else {}
        scenario = scenario.replace(learning=given, run=run.model_dump(exclude_none=True))
        algorithms: _Algorithms = None if wish.every else list(wish.algorithms) or [run.algorithm]
        folder = self._folder.free(scenario, "run")
        self._remember(folder.name, algorithms)
        task = Learning(scenario, folder, plan, _fixed(algorithms), resume=False)
        self._runs[folder.name] = {"state": "running", "runs": {}}
        self._start(folder.name, task)

    def _settings(self, wish: messages.Simulate) -> dict[str, object]:
        """Of [run]: what the draft says, and what the page asks for."""
        asked = {"horizon": wish.horizon, "head_start": wish.head_start}
        chosen = {"algorithm": wish.algorithms[0]} if wish.algorithms else {}
        given = self._draft.data.get("run", {})
        return {**given, **chosen, **{key: v for key, v in asked.items() if v is not None}}

    def _go_on(self, name: str) -> None:
        folder = self._folder.run(name)
        place = (
            folder if (folder / SCENARIO).exists() else next(folder.glob(f"*/{SCENARIO}")).parent
        )
        scenario = Scenario.load(place / SCENARIO)
        asked = self._asked().get(name, [scenario.run.algorithm])
        self._start(name, Learning(scenario, folder, None, _fixed(asked), resume=True))

    def _start(self, name: str, work: Any, *, report: bool = False) -> None:
        if self._task is not None and not self._task.done():
            raise InputError("a simulation is under way; pause it first")
        if not report:
            self._running = name
            self._runs[name] |= {"state": "running", "note": ""}
        self._task = asyncio.create_task(self._perform(name, work))

    async def _perform(self, name: str, work: Any) -> None:
        try:
            done = await self.worker.perform(work, lambda news: self._hear(name, news))
            stored = self._stored(name)
            if isinstance(done, str):
                self._runs[name] = {**self._runs[name], "report": f"/run/{name}/{done}"}
            else:
                self._runs[name] = {**self._runs[name], **stored, **done, "note": ""}
        except FlexpressError as error:
            self._runs[name] |= {"state": "failed", "note": str(error)}
        self._running = ""
        self.publish()

    def _hear(self, name: str, news: dict[str, Any]) -> None:
        known = self._runs[name]
        if "note" in news:
            known["note"] = news["note"]
        else:
            run = known["runs"].setdefault(news["name"], {"points": []})
            seen = {point[0] for point in news["points"]}
            run["points"] = [p for p in run["points"] if p[0] not in seen] + news["points"]
            run |= {"slot": news["slot"], "horizon": news["horizon"]}
            known["note"] = ""
            known["now"] = news["name"]
        self._publish_runs()

    def _asked(self) -> dict[str, _Algorithms]:
        """Which algorithms were asked for, by folder: a restart must not forget it."""
        path = self._folder.state / _ASKED
        if not path.exists():
            return {}
        try:
            return msgspec.json.decode(read_bytes(path), type=dict[str, _Algorithms])
        except msgspec.DecodeError:
            return {}

    def _remember(self, name: str, algorithms: _Algorithms) -> None:
        path: Path = self._folder.state / _ASKED
        write_file(path, msgspec.json.encode({**self._asked(), name: algorithms}))


def _thinned(run: dict[str, Any]) -> dict[str, Any]:
    points = run["points"]
    return {**run, "points": [*points[:: 1 + len(points) // _MOST_POINTS], *points[-1:]]}


def _fixed(algorithms: _Algorithms) -> tuple[Algorithm, ...] | None:
    return None if algorithms is None else tuple(algorithms)
