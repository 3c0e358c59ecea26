"""The draft: sites change, can be undone, and survive on disk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from flexpress.control.draft import Draft
from flexpress.control.sites import Sites
from flexpress.control.uploads import read_upload, with_upload
from flexpress.errors import InputError
from flexpress.scenario import preset_names, preset_text


@pytest.fixture
def draft(tmp_path: Path) -> Draft:
    return Draft(tmp_path / "state", tmp_path)


def change(draft: Draft, act: Callable[[Sites], Sites]) -> Sites:
    before = Sites.of(draft.data, draft.base)
    draft.change(act(before).changes(before))
    return Sites.of(draft.data, draft.base)


def test_an_empty_map_lacks_its_places(draft: Draft) -> None:
    assert [key for key, _ in draft.faults()] == ["network"]
    change(draft, lambda sites: sites.moved(0, (1.0, 2.0)))
    sites = change(draft, lambda sites: sites.added((3.0, 4.0)))
    assert (sites.server, sites.clients) == ((1.0, 2.0), ((3.0, 4.0),))
    assert draft.faults() == []
    assert draft.scenario().num_clients == 1


@pytest.mark.parametrize("name", preset_names())
def test_every_preset_can_be_edited_and_undone(name: str, draft: Draft) -> None:
    draft.opened("", preset_text(name))
    number = draft.scenario().num_clients
    sites = change(draft, lambda sites: sites.added(sites.place_at((10.0, 20.0))))
    assert len(sites.clients) == number + 1
    (x, y), *_ = sites.plane([sites.clients[-1]])
    assert [x, y] == pytest.approx([10, 20], abs=0.02)
    assert draft.scenario().num_clients == number + 1
    assert len(change(draft, lambda sites: sites.without([1, 2])).clients) == number - 1
    draft.undo()
    draft.undo()
    assert draft.text == preset_text(name)
    draft.redo()
    assert draft.scenario().num_clients == number + 1


def test_zones_come_and_go_with_their_margin(draft: Draft) -> None:
    draft.opened("", preset_text("valley"))
    zone = ((1000.0, 1000.0), (1010.0, 1000.0), (1010.0, 1010.0))
    change(draft, lambda sites: sites.with_zone(zone))
    draft.change({"network": {"no_fly_margin": 1.0}})
    assert draft.scenario().no_fly == (zone,)
    change(draft, lambda sites: sites.without_zone(0))
    assert "no_fly" not in draft.text


def test_a_restart_loses_nothing(draft: Draft, tmp_path: Path) -> None:
    draft.opened("mine.toml", preset_text("four"))
    draft.change({"": {"seed": 7}})
    again = Draft(tmp_path / "state", tmp_path)
    assert (again.text, again.file, again.is_saved) == (draft.text, "mine.toml", False)
    again.undo()
    assert again.text == preset_text("four")
    assert again.is_saved


def test_a_damaged_draft(draft: Draft, tmp_path: Path) -> None:
    draft.change({"": {"seed": 7}})
    (tmp_path / "state" / "draft.json").write_text("{")
    with pytest.raises(InputError, match="not a draft; delete it to begin anew"):
        Draft(tmp_path / "state", tmp_path)


def test_all_faults_are_told_with_their_keys(draft: Draft) -> None:
    draft.opened("", preset_text("four"))
    draft.change({"fleet": {"speeds": [-3.0, "x"]}, "plan": {"solver": "guess"}})
    assert [key for key, _ in draft.faults()] == [
        "fleet.speeds[0]",
        "fleet.speeds[1]",
        "plan.solver",
    ]
    assert draft.faults()[0][1].startswith("fleet.speeds[0] = -3.0: must be greater than 0")


def test_sensors_in_other_coordinates_begin_anew(draft: Draft) -> None:
    draft.opened("", preset_text("valley"))
    sites = Sites.of(draft.data, draft.base)
    changed, note = with_upload(sites, read_upload("a.csv", b"id,lat,lon\na,46.5,8\n", sites))
    draft.change(changed.changes(sites))
    assert note == (
        "1 sensors; the map was in another kind of coordinates and begins anew; "
        "the server is in their middle: drag it to its place"
    )
    assert draft.scenario().network.geographic


def test_sensors_in_the_same_coordinates_keep_the_server(draft: Draft) -> None:
    draft.opened("", preset_text("valley"))
    sites = Sites.of(draft.data, draft.base)
    changed, note = with_upload(sites, read_upload("a.csv", b"id,x,y\na,1,2\nb,3,4\n", sites))
    assert (note, changed.server) == ("2 sensors", sites.server)
