"""The Plan tab's other half: changes the draft, searches, proves, and finds remedies."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from flexpress.control import messages
from flexpress.control.draft import EMPTY, Draft
from flexpress.control.folder import Folder
from flexpress.control.planning_tasks import Diagnosis, Proof, Search, warm_up
from flexpress.control.remedies import remedy_changes
from flexpress.control.sites import Sites
from flexpress.control.topics import Topics
from flexpress.control.uploads import read_upload, with_upload
from flexpress.control.worker import Worker
from flexpress.errors import FlexpressError, InputError
from flexpress.files.disk import PLAN, SCENARIO, read_text, write_file
from flexpress.planning import load_plan
from flexpress.planning.diagnosis import Remedy
from flexpress.report.texts import cost_text, gap_text
from flexpress.report.web_map.data import map_data
from flexpress.scenario import Scenario, preset_names, preset_text
from flexpress.scenario.fields import as_array

Faults = list[tuple[str, str]]
"""Keys, and what is wrong with each."""

_OTHERS = (messages.New, messages.Preset, messages.Open, messages.Save, messages.Remedy)

_IDLE: dict[str, Any] = {"state": "idle"}
_NOT_SHOWN = ("clients", "ids", "names", "altitudes", "no_fly", "no_fly_names", "distances")
"""Keys of [network] that are on the map, not in the form."""


class PlanDesk:
    """One draft, one search at a time."""

    def __init__(self, folder: Folder, topics: Topics) -> None:
        self._folder, self._topics = folder, topics
        self.draft = Draft(folder.state, folder.root)
        self.worker = Worker(warm_up)
        self._search: dict[str, Any] = dict(_IDLE)
        self._remedies: list[Remedy] = []
        self._asked: Scenario | None = None
        self._task: asyncio.Task[None] | None = None
        self._checked: tuple[str, Scenario | None, Faults] = ("", None, [])
        self._summaries: dict[tuple[str, int], dict[str, Any]] = {}

    def publish(self) -> None:
        """All topics of this desk."""
        self._topics.publish("document", self._document())
        self._topics.publish("search", self._search)
        self.publish_files()

    def publish_files(self) -> None:
        files = {"scenarios": self._folder.scenarios(), "presets": preset_names()}
        self._topics.publish("files", files)
        self._topics.publish("plans", [self._summary(name) for name in self._folder.plans()])

    def _summary(self, name: str) -> dict[str, Any]:
        """Read again only if its file is another."""
        key = name, (self._folder.plan(name) / PLAN).stat().st_mtime_ns
        if key not in self._summaries:
            self._summaries[key] = _summary(self._folder, name)
        return self._summaries[key]

    def _check(self) -> tuple[Scenario | None, Faults]:
        """The draft's scenario, or what is wrong with it; large ones take time, so once only."""
        if self._checked[0] != self.draft.version:
            try:
                self._checked = self.draft.version, self.draft.scenario(), []
            except InputError:
                self._checked = self.draft.version, None, self.draft.faults()
        return self._checked[1:]

    def _document(self) -> dict[str, Any]:
        draft = self.draft
        data = draft.data
        sites = Sites.of(data, draft.base)
        scenario, faults = self._check()
        return {
            "version": draft.version,
            "openings": draft.openings,
            "text": draft.text,
            "file": draft.file,
            "saved": draft.is_saved,
            "undo": draft.can_undo,
            "redo": draft.can_redo,
            "faults": faults,
            "values": _form(data),
            "blocks": scenario.blocks if scenario else [],
            "transfer_time": scenario.transfer_time if scenario else None,
            **_drawn(sites),
        }

    def change_sites(self, changed: Sites, before: Sites) -> None:
        self.draft.change(changed.changes(before))

    def perform(self, wish: messages.Command) -> None:
        """InputError if it cannot be done; nothing has changed then."""
        if isinstance(wish, messages.Plan | messages.Prove | messages.Stop):
            self._work(wish)
        elif isinstance(wish, _OTHERS):
            self._open(wish)
            self.publish()
        else:
            self._edit(wish)
            self._topics.publish("document", self._document())

    def _edit(self, wish: messages.Command) -> None:
        sites = Sites.of(self.draft.data, self.draft.base)
        match wish:
            case messages.Set(values):
                self.draft.change(values)
            case messages.Move(node, at, plane):
                _check_node(node, sites)
                place = sites.place_at(at) if plane else sites.own(at)
                self.change_sites(sites.moved(node, place), sites)
            case messages.Add(at):
                self.change_sites(sites.added(sites.place_at(at)), sites)
            case messages.Delete(nodes):
                self.change_sites(sites.without(nodes), sites)
            case messages.Zone(corners):
                ring = tuple(sites.place_at(corner) for corner in corners)
                self.change_sites(sites.with_zone(ring), sites)
            case messages.DeleteZone(number):
                self.change_sites(sites.without_zone(number), sites)
            case messages.Undo():
                self.draft.undo()
            case messages.Redo():
                self.draft.redo()

    def _work(self, wish: messages.Command) -> None:
        match wish:
            case messages.Plan(seconds):
                self._begin(self._plan(seconds))
            case messages.Prove(plan, seconds):
                self._begin(self._prove(self._folder.plan(plan), seconds))
            case messages.Stop():
                self.worker.stop()

    def _open(self, wish: messages.Command) -> None:
        """Another draft, or the same in another place."""
        match wish:
            case messages.New(around):
                self.draft.opened("", EMPTY)
                if around is not None:
                    server = {"lat": around[0], "lon": around[1]}
                    self.draft.change({"network": {"server": server}})
            case messages.Preset(name):
                self.draft.opened("", preset_text(name))
            case messages.Open(file):
                path = self._folder.scenario_file(file)
                self.draft.opened(path.name, read_text(path))
            case messages.Save(file):
                self._save(file)
            case messages.Remedy(number):
                self._apply(number)

    def upload(self, name: str, content: bytes) -> str:
        """What came of it, in one line."""
        if name.lower().endswith(".toml"):
            text = content.decode("utf-8-sig", errors="replace")
            self.draft.opened("", text)
            note = "the scenario is opened; save it to keep it as a file"
        else:
            sites = Sites.of(self.draft.data, self.draft.base)
            changed, note = with_upload(sites, read_upload(name, content, sites))
            self.change_sites(changed, sites)
            self.draft.note_opening()
        self.publish()
        return note

    def _save(self, file: str) -> None:
        path = self._folder.scenario_file(file)
        if path.exists() and path.name != self.draft.file:
            raise InputError(f"{path.name}: exists already; choose another name, or open it first")
        if path.exists() and read_text(path) != self.draft.saved_text:
            raise InputError(f"{path.name}: was changed since it was opened; choose another name")
        write_file(path, self.draft.text)
        self.draft.saved_as(path.name)

    def _begin(self, work: Any) -> None:
        """One at a time."""
        if self._task is not None and not self._task.done():
            work.close()
            raise InputError("the planner is at work; stop it first")
        self._task = asyncio.create_task(work)

    async def _plan(self, seconds: float | None) -> None:
        """A search as news come; then the folder of its plan, or what binds and what would help."""
        scenario, faults = self._check()
        if scenario is None:
            self._show(state="failed", message=faults[0][1])
            return
        folder = self._folder.free(scenario, scenario.plan.objective)
        self._asked, self._remedies = scenario, []
        serial = self._search.get("serial", 0) + 1
        self._search = {"version": self.draft.version, "serial": serial, "curve": []}
        self._show(state="planning")
        try:
            done = await self.worker.perform(Search(scenario, folder, seconds), self._hear)
        except FlexpressError as error:
            self._show(state="failed", message=str(error))
            return
        if "infeasible" in done:
            self._show(state="diagnosing", **done["infeasible"])
            await self._diagnose(scenario)
            return
        self._show(state="done", plan=self._folder.name_of(folder))
        self.publish_files()

    async def _diagnose(self, scenario: Scenario) -> None:
        try:
            found = await self.worker.perform(Diagnosis(scenario), self._hear)
        except FlexpressError as error:
            self._show(state="failed", message=str(error))
            return
        self._remedies = found["remedies"]
        shown = [
            {"change": r.change, "text": r.text, "possible": r.factor is not None}
            for r in self._remedies
        ]
        self._show(state="infeasible", remedies=shown)

    async def _prove(self, folder: Path, seconds: float) -> None:
        before = self._search
        self._search = {**before, "state": "proving", "bounds": []}
        self._show(state="proving", proving=self._folder.name_of(folder))
        try:
            done = await self.worker.perform(Proof(folder, seconds), self._hear)
            self._show(state="done", gap=done["gap"])
        except FlexpressError as error:
            self._show(state="done", message=str(error))
        self.publish_files()

    def _hear(self, news: Mapping[str, Any]) -> None:
        search = dict(self._search)
        if "point" in news:
            search["curve"] = [*search["curve"], news["point"]]
        search |= {key: value for key, value in news.items() if key != "point"}
        if "map" in news:
            search.pop("note", None)
        self._search = search
        self._topics.publish("search", search)

    def _show(self, **changes: Any) -> None:
        self._search = {**self._search, **changes}
        self._topics.publish("search", self._search)

    def _apply(self, number: int) -> None:
        if self._asked is None or number >= len(self._remedies):
            raise InputError("there is no such remedy any more; plan again")
        self.draft.change(remedy_changes(self._asked, self._remedies[number]))
        self._search = {**_IDLE, "serial": self._search["serial"]}


def _check_node(node: int, sites: Sites) -> None:
    if node > len(sites.clients):
        raise InputError(f"sensor {node}: there are {len(sites.clients)}")


def _drawn(sites: Sites) -> dict[str, Any]:
    """Points of the map, and the coordinates as the draft gives them."""
    given = as_array(sites.clients).tolist()
    ids = [str(each) for each in sites.ids] or [str(i + 1) for i in range(len(given))]
    names = [name or each for name, each in zip(sites.names or ids, ids, strict=True)]
    return {
        "geographic": sites.geographic,
        "origin": as_array([sites.server])[0].tolist()
        if sites.geographic and sites.server
        else None,
        "server": next(iter(sites.plane([sites.server])), None) if sites.server else None,
        "clients": sites.plane(sites.clients),
        "ids": ids,
        "names": names,
        "server_place": as_array([sites.server])[0].tolist() if sites.server else None,
        "places": given,
        "zones": [sites.plane(zone) for zone in sites.zones],
        "zone_names": sites.zone_names or [""] * len(sites.zones),
    }


def _form(data: Mapping[str, Any]) -> dict[str, Any]:
    """The keys that the page shows in forms, as they are written."""
    form: dict[str, Any] = {"": {k: v for k, v in data.items() if not isinstance(v, Mapping)}}
    for table, keys in data.items():
        if isinstance(keys, Mapping):
            form[table] = {key: v for key, v in keys.items() if key not in _NOT_SHOWN}
    return form


def _summary(folder: Folder, name: str) -> dict[str, Any]:
    """A stored plan as a row: it is read as it is on disk, without being checked again."""
    place = folder.plan(name)
    try:
        scenario = Scenario.load(place / SCENARIO)
        plan = load_plan(place / PLAN, scenario)
    except InputError as error:
        return {"name": name, "fault": str(error)}
    trips: Sequence[float] = [tour.round_trip for tour in plan.transporters]
    return {
        "name": name,
        "objective": plan.objective,
        "cost": cost_text(plan.objective, plan.cost, plan.round_trips),
        "value": plan.cost,
        "gap": None if plan.gap is None else gap_text(plan.gap),
        "longest": max(trips),
        "total": sum(trips),
        "energy": sum(tour.energy for tour in plan.transporters),
        "clients": scenario.num_clients,
        "geographic": scenario.network.geographic,
    }


def stored_map(place: Path) -> dict[str, object]:
    """The plan in a folder as the map draws it."""
    scenario = Scenario.load(place / SCENARIO)
    return map_data(scenario, load_plan(place / PLAN, scenario))
