"""Zones keep the names that a GeoJSON file, or the scenario itself, gives them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flexpress import InputError, Scenario

SQUARE = [[100, 0], [200, 0], [200, 100], [100, 100]]
BOW_TIE = [[100, 0], [200, 100], [200, 0], [100, 100]]


def load(folder: Path, *zones: tuple[object, list[list[int]]], client: int = 400) -> Scenario:
    """A scenario whose zones stand in a file, each with this value as its name."""
    features = [
        {
            "type": "Feature",
            "properties": {} if name is None else {"name": name},
            "geometry": {"type": "Polygon", "coordinates": [[*ring, ring[0]]]},
        }
        for name, ring in zones
    ]
    text = json.dumps({"type": "FeatureCollection", "features": features})
    (folder / "zones.geojson").write_text(text)
    return Scenario.from_dict(
        {
            "network": {"server": [0, 50], "clients": [[client, 50]], "no_fly": "zones.geojson"},
            "fleet": {"speeds": [10.0]},
            "link": {"transfer_time": 1.0},
        },
        base_dir=folder,
    )


def moved(ring: list[list[int]], by: int) -> list[list[int]]:
    return [[x, y + by] for x, y in ring]


def test_names_are_read_and_survive_toml(tmp_path: Path) -> None:
    scenario = load(tmp_path, ("Airport", SQUARE), (None, moved(SQUARE, 500)))
    assert scenario.zone_names == ("Airport", "")
    scenario.save(tmp_path / "again.toml")
    assert Scenario.load(tmp_path / "again.toml").zone_names == ("Airport", "")


def test_a_name_is_only_shown_and_never_refused(tmp_path: Path) -> None:
    odd: tuple[object, ...] = (" two\nlines ", 7, ["no", "name"], {}, "水")
    zones = [(name, moved(SQUARE, 500 * j)) for j, name in enumerate(odd)]
    assert load(tmp_path, *zones).zone_names == ("two lines", "7", "", "", "水")


def test_without_names_there_are_none(tmp_path: Path) -> None:
    scenario = load(tmp_path, (None, SQUARE))
    assert scenario.zone_names == ("",)
    assert scenario.network.no_fly_names is None
    assert Scenario.preset("four").zone_names == ()


@pytest.mark.parametrize(
    ("zone", "client", "words"),
    [
        (BOW_TIE, 400, "zone 2 (Reserve) crosses itself"),
        (SQUARE, 150, "client 1 lies in no-fly zone 2 (Reserve)"),
        ([[100, 0], [200, 0], [150, 0]], 400, "zone 2 (Reserve) has no area"),
    ],
)
def test_messages_name_the_zone(
    tmp_path: Path, zone: list[list[int]], client: int, words: str
) -> None:
    with pytest.raises(InputError) as caught:
        load(tmp_path, ("far", moved(SQUARE, 900)), ("Reserve", zone), client=client)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_long_name_does_not_fill_the_screen(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        load(tmp_path, (10_000 * "W", SQUARE), client=150)
    assert len(str(caught.value)) < 300


def test_names_need_zones_one_each() -> None:
    four = Scenario.preset("four")
    with pytest.raises(InputError, match=r"no_fly_names = .*: has no meaning without no_fly"):
        four.replace(network={"no_fly_names": ["Airport"]})
    with pytest.raises(InputError, match="1 names for 2 zones"):
        four.replace(network={"no_fly": [SQUARE, moved(SQUARE, 500)], "no_fly_names": ["Airport"]})


def test_names_go_with_the_zones() -> None:
    alps = Scenario.preset("alps")
    assert all(alps.zone_names)
    free = alps.replace(network={"no_fly": None, "no_fly_margin": None})
    assert free.zone_names == ()
    assert alps.replace(seed=3).zone_names == alps.zone_names


def test_names_of_a_file_stand_in_the_file(tmp_path: Path) -> None:
    network = {**load(tmp_path, ("Airport", SQUARE)).network.model_dump(exclude_none=True)}
    network |= {"no_fly": "zones.geojson", "no_fly_names": ["Other"]}
    data = {"network": network, "fleet": {"speeds": [1.0]}, "link": {"transfer_time": 1.0}}
    with pytest.raises(InputError, match=r"remove network\.no_fly_names"):
        Scenario.from_dict(data, base_dir=tmp_path)
