"""The page about the scenario file names every key and unit, and shows errors as they are."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from pydantic import BaseModel

from flexpress.errors import InputError
from flexpress.scenario import Scenario, preset_names, preset_text, units

PAGE = (Path(__file__).parents[2] / "docs" / "scenario.md").read_text(encoding="utf-8")
MISTAKES = [
    ("[14.0, 10.0, 8.0]", "[14.0, -3.0, 8.0]"),
    ("[14.0, 10.0, 8.0]", '["14 knots", 10.0, 8.0]'),
    ("speeds =", "speed ="),
    (', "8 kJ"]', "]"),
    ("transfer_time = 12.0", "rate = 50e6"),
    ("[150.0, 180.0]", "[150.0, nan]"),
    ("[power]", "[power"),
]


def test_every_key() -> None:
    sections = [field.annotation for field in Scenario.model_fields.values()]
    models = [s for s in sections if isinstance(s, type) and issubclass(s, BaseModel)]
    keys = [key for model in models for key in model.model_fields]
    assert len(models) == 7
    keys += ["name", "seed", "slot"]
    assert [key for key in keys if f"`{key}`" not in PAGE] == []


def test_every_unit_and_preset() -> None:
    for dimension in vars(units).values():
        if isinstance(dimension, units._Dimension) and dimension.units:
            listed = ", ".join(f"`{unit}`" for unit in dimension.units)
            assert f"| {dimension.name} | {listed} |" in PAGE
    assert [name for name in preset_names() if f"`{name}`" not in PAGE] == []


def test_the_example_is_a_scenario() -> None:
    example = PAGE.split("\n\n    from flexpress")[0].split("\n\n", 2)[2]
    text = "\n".join(line[4:] for line in example.splitlines() if line.startswith("    "))
    assert Scenario.from_dict(tomllib.loads(text)).num_clients == 3


@pytest.mark.parametrize(("old", "new"), MISTAKES)
def test_the_errors_it_shows_are_real(
    old: str, new: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("valley.toml").write_text(preset_text("valley").replace(old, new))
    with pytest.raises(InputError) as caught:
        Scenario.load("valley.toml")
    assert f"\n    {caught.value}\n" in PAGE


SENSORS = "id,x,y\nmouth,150,180\nmill,900,640\nbridge,620,410\n"
NUMBERS = "0,310,250,9\n1,0,2,3\n-280,1,0,540\n1,2,3,0\n"
LABELS = ",server,mouth,bridge,mill\n"
LINE = '{"type": "LineString", "coordinates": []}'
POINT = '{"type": "Point", "coordinates": [1, 2]}'
AROUND_BRIDGE = "[[600, 400], [640, 400], [640, 420], [600, 420], [600, 400]]"
BOW = "[[300, 160], [340, 200], [340, 160], [300, 200], [300, 160]]"
FILES = [
    ({"sensors.csv": None}, ""),
    ({"sensors.csv": "id,x,y\nmouth,150,180\nbridge,620,41O\n"}, ""),
    ({"sensors.csv": SENSORS.replace("bridge", "mouth")}, ""),
    ({"sensors.csv": "id,lat,lon\n1,95,8\n"}, "degrees"),
    ({"sensors.csv": "id,lat,lon\n1,46,8\n"}, ""),
    (
        {"sensors.geojson": f'{{"type": "FeatureCollection", "features": [{POINT}, {LINE}]}}'},
        "",
    ),
    ({"sensors.csv": SENSORS, "matrix.csv": NUMBERS}, "distances"),
    ({"sensors.csv": SENSORS, "matrix.csv": "0,1,2\n1,0,2\n1,2,0\n"}, "distances"),
    ({"sensors.csv": SENSORS, "matrix.csv": LABELS}, "distances"),
    ({"sensors.csv": SENSORS, "zones.geojson": BOW}, "no_fly"),
    ({"sensors.csv": SENSORS, "zones.geojson": AROUND_BRIDGE}, "no_fly"),
]


@pytest.mark.parametrize(("files", "more"), FILES)
def test_the_errors_in_files_it_shows_are_real(
    files: dict[str, str | None], more: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in files.items():
        polygon = f'{{"type": "Polygon", "coordinates": [{text}]}}'
        if text is not None:
            Path(name).write_text(polygon if name == "zones.geojson" else text)
    clients, *others = files
    network = f'clients = "{clients}"\n'
    network += "server = { lat = 46, lon = 8 }\n" if more == "degrees" else "server = [0, 0]\n"
    network += "".join(f'{more} = "{name}"\n' for name in others)
    rest = "[fleet]\nspeeds = [1.0]\n[link]\ntransfer_time = 1.0\n"
    Path("valley.toml").write_text(f"[network]\n{network}{rest}")
    with pytest.raises(InputError) as caught:
        Scenario.load("valley.toml")
    assert f"\n    {caught.value}\n" in PAGE
