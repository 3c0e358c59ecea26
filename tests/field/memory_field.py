"""A field in memory: the server's mission, couriers and clients in plain Python, no sockets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from fleets import random_fleet
from msgspec.structs import replace

from flexpress.field.due import Brought, Due, Home, Key, Progress, Release, Situation
from flexpress.field.mission import Mission, open_mission
from flexpress.field.trainer import Trainer
from flexpress.field.training import Training
from flexpress.learning import Learner, Quadratic, Vector
from flexpress.learning.job import first_model
from flexpress.learning.summing import add_up
from flexpress.planning import Plan
from flexpress.scenario import Scenario
from flexpress.simulation.timetable import Timetable

Id = int | str


@dataclass
class MemoryClient:
    """Trains by the plan's clock between two visits, and keeps what was not taken home."""

    trainer: Trainer
    base: tuple[int, int, Vector] | None = None  # round, version, and the model it starts from
    outbox: list[tuple[Brought, Vector]] = field(default_factory=list)  # the newest first

    def visit(self, number: int, version: int, model: Vector) -> None:
        update = None
        if self.base is not None:
            before, trained_from, start = self.base
            first, steps = self.trainer.steps_between(before, number)
            if steps:
                update = self.trainer.update(start, first, steps)
                brought = Brought(self.trainer.training.client, before, trained_from, steps)
                self.outbox.insert(0, (brought, update))
        self.base = number, version, self.trainer.start(model, update)


class MemoryField:
    """Everything that a real field stores is in `stored`, `models`, `released` and `homes`."""

    def __init__(
        self,
        scenario: Scenario,
        plan: Plan,
        learner: Learner,
        trainers: Mapping[Id, Trainer],
        folder: Path,
    ) -> None:
        self.scenario, self.plan, self.learner, self.folder = scenario, plan, learner, folder
        self.tours = {k: tour.clients for k, tour in enumerate(plan.transporters, 1)}
        self.clients = {i: MemoryClient(trainer) for i, trainer in trainers.items()}
        self.models = [first_model(learner)]
        self.stored: str | None = None  # the progress, as JSON
        self.released: list[Release] = []
        self.homes: dict[Key, Home] = {}
        self.totals: dict[Key, Vector] = {}
        self.merged: list[Brought] = []  # all that are in the model
        if scenario.run.preloaded:
            for client in self.clients.values():
                client.base = -1, 0, self.models[0]

    def fly(self, release: Release, missed: frozenset[Id] = frozenset()) -> None:
        """A tour, and what it brings home."""
        k, number, version = release
        model = self.models[version]
        brought: list[tuple[Brought, Vector]] = []
        late: list[tuple[Brought, Vector]] = []
        for i in self.tours[k]:
            if i not in missed:
                client = self.clients[i]
                client.visit(number, version, model)
                fresh, client.outbox = client.outbox, []
                brought += fresh[:1]
                late += fresh[1:]
        brought += late
        self.close(release, Home(True, version, tuple(each for each, _ in brought)))
        if brought:
            self.totals[k, number] = add_up(model, (update for _, update in brought))

    def lose(self, release: Release) -> None:
        """The courier visits its clients and never comes back; they keep their updates."""
        k, number, version = release
        for i in self.tours[k]:
            self.clients[i].visit(number, version, self.models[version])
        self.close(release, Home(False, version))

    def close(self, release: Release, home: Home) -> None:
        self.homes[release.courier, release.round] = home

    def opened(self, stack: ExitStack) -> Mission:
        """The mission as it is stored."""
        progress = None if self.stored is None else Progress.from_json(self.stored)
        version = 0 if progress is None else progress.version
        mission = open_mission(
            self.scenario,
            self.plan,
            self.learner,
            self.folder,
            clock="plan",
            model=self.models[version],
            progress=progress,
            now=0.0,
        )
        return stack.enter_context(mission)

    def sums(self, due: Due) -> list[Vector]:
        return [self.totals[key] for key in due.homes if key in self.totals]

    def run(
        self,
        fly: Callable[[Release], None] | None = None,
        *,
        rng: np.random.Generator | None = None,
        deaths: float = 0.0,
    ) -> None:
        """To the end. At any moment the server may be killed, and starts again."""
        rng = rng or np.random.default_rng(0)
        while True:
            with ExitStack() as stack:
                mission = self.opened(stack)
                alive = True
                while alive and not mission.progress.over:
                    alive = self.step(mission, fly or self.fly, rng, deaths)
                if alive:
                    return

    def step(
        self,
        mission: Mission,
        fly: Callable[[Release], None],
        rng: np.random.Generator,
        deaths: float,
    ) -> bool:
        """Do what is due, or else send a courier. False: the server was killed."""
        due = mission.due(Situation(self.homes), 0.0)
        if due is None:
            assert self.released, "nothing is due, and nobody can bring anything"
            fly(self.released.pop(rng.integers(len(self.released))))
            return True
        step = mission.perform(due, self.sums(due), mission.timetable.num_clients)
        if rng.random() < deaths:
            return False
        if step.model is not None:
            self.models.append(step.model)
        self.stored = step.progress.to_json()
        self.released += due.releases
        for key in due.homes:
            self.merged += self.homes.pop(key).brought
        if rng.random() < deaths:
            return False
        mission.committed(step)
        mission.save()
        return True


PLAIN = Training(
    client=0,
    number=0,
    model="logistic",
    engine="auto",
    num_params=4,
    dtype="float64",
    image=(1, 1, 1),
    pixels="float32",
    num_classes=2,
    scale=(1.0,),
    shift=(0.0,),
    learning_rate=0.1,
    batch_size=1,
    seed=0,
    head_start=0.0,
    preloaded=False,
    clock="plan",
    slot=1.0,
    ticks_per_slot=1,
    period=1,
    offset=0,
)


def quadratic_trainers(
    scenario: Scenario, plan: Plan, learner: Quadratic
) -> dict[int | str, Trainer]:
    """Clients without data, which train as the timetable says."""
    timetable = Timetable.of(scenario, plan, scenario.run.algorithm)
    return {
        client: Trainer(
            replace(
                PLAIN,
                client=client,
                head_start=scenario.run.head_start,
                preloaded=timetable.preloaded,
                slot=timetable.slot,
                ticks_per_slot=timetable.ticks_per_slot,
                period=convoy.period,
                offset=offset,
            ),
            learner,
        )
        for convoy in timetable.convoys
        for route in convoy.routes
        for client, offset in zip(route.clients, route.offsets, strict=True)
    }


def random_field(seed: int, folder: Path, run: dict[str, object]) -> MemoryField:
    fleet = random_fleet(seed)
    every = 1 + seed % 4
    scenario = fleet.scenario.replace(run={"horizon": fleet.horizon, "eval_every": every, **run})
    learner = Quadratic.random(scenario.client_ids, params=4, seed=seed, noise=0.3)
    trainers = quadratic_trainers(scenario, fleet.plan, learner)
    return MemoryField(scenario, fleet.plan, learner, trainers, folder)
