"""The wall clock against cases worked out by hand: slots of 60 s, one a second of real time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from fleets import plan_of

from flexpress.field.due import Brought, Courier, Home, Key, Progress, Release, Situation
from flexpress.field.mission import open_mission
from flexpress.field.wall_clock import WallClock
from flexpress.learning import Quadratic
from flexpress.planning import Plan
from flexpress.report.tables.runs import summarise
from flexpress.scenario import Algorithm, Scenario
from flexpress.simulation import load_run
from flexpress.simulation.events import (
    Contribution,
    Departure,
    Evaluation,
    Event,
    Landing,
    Update,
    Visit,
)
from flexpress.simulation.timetable import Timetable

SPEEDUP = 60.0
START = 1000.0


def two_couriers(algorithm: Algorithm) -> tuple[Scenario, Plan]:
    """Clients 7 and 8, with a courier each."""
    scenario = Scenario.from_dict(
        {
            "slot": 60.0,
            "network": {"server": [0, 0], "clients": [[240, 0], [480, 0]], "ids": [7, 8]},
            "fleet": {"speeds": [8.0, 8.0]},
            "link": {"transfer_time": 0.0},
            "run": {"algorithm": algorithm, "horizon": 10, "eval_every": 4},
        }
    )
    return scenario, plan_of(scenario, [[1], [2]])


class Book:
    """What the server's book would say; the clock is made anew for every question."""

    def __init__(self, algorithm: Algorithm) -> None:
        scenario, plan = two_couriers(algorithm)
        self.timetable = Timetable.of(scenario, plan, algorithm)
        self.energies = [tour.energy for tour in plan.transporters]
        self.progress = Progress(started=START).to_json()
        self.couriers: dict[int, Courier | None] = {1: None, 2: None}
        self.homes: dict[Key, Home] = {}

    def at(self, slot: float) -> list[Event | Release]:
        """Everything that is due in this slot."""
        happened: list[Event | Release] = []
        while True:
            clock = WallClock(
                self.timetable, 10, 4, Progress.from_json(self.progress), speedup=SPEEDUP
            )
            due = clock.due(Situation(self.homes, self.couriers), START + slot)
            if due is None:
                return happened
            happened += [*due.events, *due.releases]
            for release in due.releases:
                self.couriers[release.courier] = Courier(*release[1:], "released")
            for key in due.homes:
                del self.homes[key]
            self.progress = due.progress.to_json()

    def departs(self, k: int) -> None:
        courier = self.couriers[k]
        assert courier is not None
        assert courier.state == "released"
        self.couriers[k] = replace(courier, state="out")

    def returns(self, k: int, *brought: Brought) -> None:
        self._close(k, accepted=True, brought=brought)

    def is_lost(self, k: int) -> None:
        self._close(k, accepted=False)

    def _close(self, k: int, *, accepted: bool, brought: tuple[Brought, ...] = ()) -> None:
        courier = self.couriers[k]
        assert courier is not None
        assert courier.state == "out"
        self.couriers[k] = replace(courier, state="closed")
        self.homes[k, courier.round] = Home(accepted, courier.version, brought)


def test_async_merges_at_once() -> None:
    book = Book("async")
    one, two = book.energies
    assert book.at(0) == [Release(1, 0, 0), Release(2, 0, 0), Evaluation(0, 0.0)]
    assert book.at(0.25) == []
    book.departs(1)
    assert book.at(0.5) == [Departure(0, 30.0, 1, 0, 0)]
    book.departs(2)
    assert book.at(1.0) == [Departure(1, 60.0, 2, 0, 0)]
    book.returns(1)  # the first tour brings nothing
    assert book.at(2.0) == [Landing(2, 120.0, 1, 0, one, 0.0), Release(1, 1, 0)]
    book.departs(1)
    assert book.at(2.5) == [Departure(2, 150.0, 1, 1, 0)]
    book.returns(1, Brought(7, 0, 0, 2))
    assert book.at(4.25) == [
        Evaluation(4, 240.0),  # was due before
        Visit(4, 255.0, 1, 1, 7, 0, 0, 0, 2),
        Landing(4, 255.0, 1, 1, one, 0.0),
        Update(5, 255.0, 1, (Contribution(1, 0, 0, 0),)),
        Release(1, 2, 1),
    ]
    assert (1, 0) not in book.homes
    book.is_lost(2)
    assert book.at(4.5) == [Release(2, 1, 1)]
    book.departs(2)
    assert book.at(4.75) == [Departure(4, 285.0, 2, 1, 1)]
    book.returns(2, Brought(8, 0, 0, 4))
    assert book.at(6.5) == [
        Visit(6, 390.0, 2, 1, 8, 1, 0, 0, 4),
        Landing(6, 390.0, 2, 1, two, 0.0),
        Update(7, 390.0, 2, (Contribution(2, 0, 0, 1),)),
        Release(1, 2, 2),  # it has not departed, and will take the newer model
        Release(2, 2, 2),
    ]
    assert (2, 0) not in book.homes
    assert book.at(9.0) == [Evaluation(8, 480.0)]
    assert book.at(11.0) == [Evaluation(10, 600.0)]  # the horizon
    book.departs(1)
    assert book.at(12.0) == []
    progress = Progress.from_json(book.progress)
    assert progress.over
    assert progress.version == 2
    assert progress.num_events == 14  # without the last measurement


def test_sync_waits_for_all_that_are_out() -> None:
    book = Book("sync")
    one, two = book.energies
    book.at(0)
    book.departs(1)
    book.departs(2)
    book.at(0.5)
    book.returns(1)
    assert book.at(1.0) == [Landing(1, 60.0, 1, 0, one, 0.0)]
    book.returns(2)
    assert book.at(1.5) == [
        Landing(1, 90.0, 2, 0, two, 0.0),
        Release(1, 1, 0),
        Release(2, 1, 0),
    ]
    book.departs(1)
    book.departs(2)
    book.at(2.0)
    book.returns(2, Brought(8, 0, 0, 2))
    assert book.at(3.0) == [
        Visit(3, 180.0, 2, 1, 8, 0, 0, 0, 2),
        Landing(3, 180.0, 2, 1, two, 0.0),
    ]
    book.is_lost(1)
    assert book.at(3.5) == [
        Update(4, 210.0, 1, (Contribution(2, 0, 0, 0),)),
        Release(1, 2, 1),
        Release(2, 2, 1),
    ]
    book.departs(2)
    book.at(3.75)
    book.returns(2, Brought(8, 1, 0, 1))  # courier 1 has not departed: nobody waits for it
    assert book.at(5.0) == [
        Evaluation(4, 240.0),
        Visit(5, 300.0, 2, 2, 8, 1, 0, 0, 1),
        Landing(5, 300.0, 2, 2, two, 0.0),
        Update(5, 300.0, 2, (Contribution(2, 1, 0, 1),)),
        Release(1, 2, 2),
        Release(2, 3, 2),
    ]


def test_leftovers_are_contributions_of_their_own() -> None:
    book = Book("async")
    book.at(0)
    book.departs(1)
    book.at(0.5)
    book.returns(1, Brought(7, 3, 2, 5), Brought(7, 1, 0, 4))
    visit, landing, update, *releases = book.at(1.0)
    assert isinstance(visit, Visit)
    assert visit.steps == 5
    assert isinstance(landing, Landing)
    assert isinstance(update, Update)
    assert [(part.tour, part.trained_from) for part in update.contributions] == [(1, 0), (3, 2)]
    assert releases == [Release(1, 1, 1), Release(2, 0, 1)]


def test_a_courier_that_joins_is_released() -> None:
    book = Book("async")
    book.at(0)
    book.couriers[3] = None
    assert book.at(0.5) == [Release(3, 0, 0)]
    book.departs(3)
    book.returns(3, Brought(9, -1, 0, 1))
    assert book.at(1.5)[0] == Departure(1, 90.0, 3, 0, 0)  # learnt of both at once
    del book.couriers[3]  # revoked
    assert Progress.from_json(book.progress).version == 1


def test_the_mission_does_not_go_back_in_time() -> None:
    book = Book("async")
    book.at(0)
    book.departs(1)
    assert book.at(3.0) == [Departure(3, 180.0, 1, 0, 0)]
    book.departs(2)
    assert book.at(1.0) == [Departure(3, 180.0, 2, 0, 0)]  # somebody has set the clock


def test_evaluations_that_were_due_while_the_server_was_down() -> None:
    book = Book("async")
    book.at(0)
    assert book.at(100.0) == [Evaluation(4, 240.0), Evaluation(8, 480.0), Evaluation(10, 600.0)]


def test_what_is_home_at_the_end_still_counts() -> None:
    book = Book("async")
    book.at(0)
    book.departs(1)
    book.at(1)
    book.returns(1, Brought(7, -1, 0, 1))
    kinds = [type(each) for each in book.at(15.0)]
    assert kinds == [Evaluation, Evaluation, Visit, Landing, Update, Evaluation]


def test_it_wakes_for_evaluations() -> None:
    book = Book("async")
    book.at(0)
    clock = WallClock(book.timetable, 10, 4, Progress.from_json(book.progress), speedup=SPEEDUP)
    assert clock.wakes() == START + 4
    book.at(9)
    clock = WallClock(book.timetable, 10, 4, Progress.from_json(book.progress), speedup=SPEEDUP)
    assert clock.wakes() == START + 10
    book.at(10)
    assert WallClock(book.timetable, 10, 4, Progress.from_json(book.progress)).wakes() is None


@pytest.mark.parametrize("num_clients", [2, 5])
def test_its_run_folder_tells_what_happened(tmp_path: Path, num_clients: int) -> None:
    """Merged by hand: x <- x - u / N, with as many clients as are enrolled by then."""
    scenario, plan = two_couriers("async")
    learner = Quadratic.random((7, 8), params=3, seed=1)
    start, update = learner.initial_model(), np.array([1.0, 2.0, 3.0])
    book = Book("async")
    opened = open_mission(
        scenario,
        plan,
        learner,
        tmp_path,
        clock="wall",
        model=start,
        progress=None,
        now=START,
        speedup=SPEEDUP,
    )
    with opened as mission:

        def go_on(slot: float) -> None:
            while due := mission.due(Situation(book.homes, book.couriers), START + slot):
                step = mission.perform(due, [update] if due.update else [], num_clients)
                for release in due.releases:
                    book.couriers[release.courier] = Courier(*release[1:], "released")
                for key in due.homes:
                    del book.homes[key]
                mission.committed(step)
                mission.save()

        go_on(0)
        book.departs(1)
        go_on(0.5)
        book.returns(1)
        go_on(2)
        book.departs(1)
        go_on(2.5)
        book.returns(1, Brought(7, 0, 0, 2))
        go_on(4.25)
        mission.checkpoint()
        assert load_run(tmp_path).state == "unfinished"
        assert load_run(tmp_path).trace.updates[0].seconds == 255.0
        go_on(20)
    found = load_run(tmp_path)
    assert found.state == "complete"
    assert found.trace.complete
    np.testing.assert_array_equal(found.trace.model, start - update / num_clients)
    assert [event.seconds for event in found.trace.departures] == [30.0, 150.0]
    assert [landing.waiting for landing in found.trace.landings] == [30.0, 0.0]
    assert [measured.slot for measured in found.trace.metrics] == [0, 4, 8, 10]
    summary = summarise(found.trace)
    assert (summary.updates, summary.tours, summary.slot) == (1, 2, 10)
    assert summary.energy == 2 * book.energies[0]
