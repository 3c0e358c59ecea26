"""By the plan's clock: tours that are lost, clients that are missed, and what comes later."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from memory_field import Id, MemoryField, random_field

from flexpress.errors import DivergedError, InputError
from flexpress.field.due import Brought, Release, Situation
from flexpress.simulation import load_run


def disturbed(tmp_path: Path, run: dict[str, object], seed: int) -> MemoryField:
    return random_field(seed, tmp_path, {"horizon": 60, **run})


RUNS: list[dict[str, object]] = [
    {"algorithm": "sync"},
    {"algorithm": "async", "head_start": 0.5},
    {"algorithm": "async", "preloaded": True, "clock": "exact"},
    {"algorithm": "sync", "preloaded": True, "head_start": 0.5},
]


@pytest.mark.parametrize("run", RUNS, ids=str)
@pytest.mark.parametrize("seed", [2, 5])
def test_every_update_counts_once_whatever_is_lost(
    seed: int, run: dict[str, object], tmp_path: Path
) -> None:
    field = disturbed(tmp_path, run, seed)
    chance = np.random.default_rng(seed)

    def fly(release: Release) -> None:
        clients = field.tours[release.courier]
        if chance.random() < 0.3:
            field.lose(release)
        else:
            missed: frozenset[Id] = frozenset(i for i in clients if chance.random() < 0.2)
            field.fly(release, missed)

    field.run(fly)
    times = Counter((each.client, each.round) for each in field.merged)
    assert times
    assert set(times.values()) == {1}
    for i in field.clients:  # no step is in two updates, and none is left out
        updates = sorted(all_updates(field, i))
        rounds = [each.round for each in updates] + [base_round(field, i)]
        trainer = field.clients[i].trainer
        expected = [trainer.steps_between(*pair)[1] for pair in pairwise(rounds)]
        assert [each.steps for each in updates] == expected
    assert load_run(tmp_path).state == "complete"


def all_updates(field: MemoryField, client: Id) -> list[Brought]:
    """In the model, at the server, or still at the client."""
    late = [each for each, _ in field.clients[client].outbox]
    home = [each for home in field.homes.values() for each in home.brought]
    return [each for each in (*field.merged, *home, *late) if each.client == client]


def base_round(field: MemoryField, client: Id) -> int:
    base = field.clients[client].base
    assert base is not None
    return base[0]


def test_the_trace_says_what_was_lost_and_what_came_later(tmp_path: Path) -> None:
    """Courier k loses its round 1. Round 2 brings what was trained in rounds 0 and 1."""
    field = disturbed(tmp_path, {"algorithm": "async"}, 3)
    k = min(each for each, clients in field.tours.items() if clients)
    lost = []

    def fly(release: Release) -> None:
        if release[:2] == (k, 1):
            lost.append(release)
            field.lose(release)
        else:
            field.fly(release)

    field.run(fly)
    assert len(lost) == 1
    updates = load_run(tmp_path).trace.updates
    mine = [part for update in updates for part in update.contributions if part.transporter == k]
    assert [part.tour for part in mine[:3]] == [1, 0, 2]
    versions = [update.version for update in updates]
    assert versions == list(range(1, len(versions) + 1))
    of_round_2 = next(u for u in updates if mine[0] in u.contributions)
    assert mine[1] in of_round_2.contributions
    assert mine[1].staleness == of_round_2.version - 1 - mine[1].trained_from


def test_a_version_without_a_contribution_is_the_model_before(tmp_path: Path) -> None:
    field = disturbed(tmp_path, {"algorithm": "sync"}, 4)
    field.run(field.lose)
    assert len(field.models) > 2
    assert {model.tobytes() for model in field.models} == {field.models[0].tobytes()}
    updates = load_run(tmp_path).trace.updates
    assert [update.contributions for update in updates] == [()] * (len(field.models) - 1)


def test_lines_that_were_not_committed_are_cut_off(tmp_path: Path) -> None:
    field = random_field(6, tmp_path / "field", {"horizon": 40})
    whole = random_field(6, tmp_path / "whole", {"horizon": 40})
    whole.run()
    with ExitStack() as stack:
        mission = field.opened(stack)
        for _ in range(12):
            field.step(mission, field.fly, np.random.default_rng(1), 0.0)
    for name in ("trace.jsonl", "metrics.csv"):
        with (field.folder / name).open("ab") as file:
            file.write(b'{"event": "torn')
    field.run()
    for name in ("trace.jsonl", "metrics.csv", "model.npy"):
        assert (field.folder / name).read_bytes() == (whole.folder / name).read_bytes()


def test_a_step_that_cannot_be_committed_is_done_again(tmp_path: Path) -> None:
    field = random_field(6, tmp_path / "field", {"horizon": 40})
    whole = random_field(6, tmp_path / "whole", {"horizon": 40})
    whole.run()
    with ExitStack() as stack:
        mission = field.opened(stack)
        while not mission.progress.over:
            due = mission.due(Situation(field.homes), 0.0)
            if due is not None:
                mission.perform(due, field.sums(due), mission.timetable.num_clients)
            field.step(mission, field.fly, np.random.default_rng(1), 0.0)
    for name in ("trace.jsonl", "metrics.csv", "model.npy"):
        assert (field.folder / name).read_bytes() == (whole.folder / name).read_bytes()


def test_files_that_were_changed_are_refused(tmp_path: Path) -> None:
    field = random_field(6, tmp_path / "field", {"horizon": 40})
    with ExitStack() as stack:
        mission = field.opened(stack)
        for _ in range(12):
            field.step(mission, field.fly, np.random.default_rng(1), 0.0)
    trace = (field.folder / "trace.jsonl").read_bytes()
    (field.folder / "trace.jsonl").write_bytes(trace[:-10])
    with pytest.raises(InputError, match="was changed after its run wrote it"):
        field.run()
    (field.folder / "trace.jsonl").write_bytes(trace)
    toml = (field.folder / "scenario-used.toml").read_text()
    (field.folder / "scenario-used.toml").write_text(f"{toml}\n# mine\n")
    with pytest.raises(InputError, match="was changed since `flexpress server` wrote it"):
        field.run()


def test_a_mission_that_diverges_ends(tmp_path: Path) -> None:
    field = random_field(3, tmp_path, {"algorithm": "sync", "horizon": 60})

    def explode(release: Release) -> None:
        field.fly(release)
        key = release[:2]
        if key in field.totals:
            field.totals[key] = np.full(4, np.inf)

    for _ in range(2):  # also after another start
        with pytest.raises(DivergedError, match=r"no longer finite at slot .*; all before is in"):
            field.run(explode)
        found = load_run(tmp_path)
        assert found.state == "diverged"
        assert found.trace.num_events == len(list(found.trace.events())) > 0


def test_a_mission_under_way_can_be_read(tmp_path: Path) -> None:
    field = random_field(6, tmp_path / "field", {"horizon": 40})
    with ExitStack() as stack:
        mission = field.opened(stack)
        assert load_run(tmp_path / "field").trace.num_events == 0
        for _ in range(30):
            field.step(mission, field.fly, np.random.default_rng(1), 0.0)
        mission.checkpoint()
        found = load_run(tmp_path / "field")
        assert found.state == "unfinished"
        assert list(found.trace.events()) == list(mission.trace().events())
        assert found.trace.metrics == tuple(mission.metrics)
        assert found.trace.model.tobytes() == mission.model.tobytes()


def test_a_server_that_is_stopped_before_its_first_step_begins_again(tmp_path: Path) -> None:
    field = random_field(6, tmp_path / "field", {"horizon": 40})
    with ExitStack() as stack:
        field.opened(stack).checkpoint()
    field.run()
    assert load_run(tmp_path / "field").state == "complete"


def test_one_that_is_stopped_in_the_middle_of_a_step_can_be_read(tmp_path: Path) -> None:
    field = random_field(6, tmp_path / "field", {"horizon": 40})
    with ExitStack() as stack:
        mission = field.opened(stack)
        due = mission.due(Situation(field.homes), 0.0)
        while due is None or due.evaluation is None:
            field.step(mission, field.fly, np.random.default_rng(1), 0.0)
            due = mission.due(Situation(field.homes), 0.0)
        mission.perform(due)
        mission.checkpoint()
        mission.trace()
    for _ in range(2):  # before and after the next start cuts the lines off
        found = load_run(tmp_path / "field").trace
        assert found.num_events == len(list(found.events())) == mission.progress.num_events
        assert found.metrics == tuple(mission.metrics)
        with ExitStack() as stack:
            field.opened(stack)


def test_a_mission_that_diverged_stays_so_when_its_server_stops(tmp_path: Path) -> None:
    field = random_field(3, tmp_path, {"algorithm": "sync", "horizon": 60})
    with ExitStack() as stack:
        mission = field.opened(stack)
        while (due := mission.due(Situation(field.homes), 0.0)) is None or due.update is None:
            field.step(mission, field.fly, np.random.default_rng(1), 0.0)
        with pytest.raises(DivergedError):
            mission.perform(due, [np.full(4, np.nan)], 2)
        mission.checkpoint()
    assert load_run(tmp_path).state == "diverged"
