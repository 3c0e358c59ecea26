"""Scenarios on disk: TOML out and in again, clients from CSV, trouble with the files themselves."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flexpress.errors import InputError
from flexpress.scenario import Scenario, preset_names, preset_text

WITH_CSV = """
[network]
server = [0.0, 0.0]
clients = "data/sensors.csv"
[fleet]
speeds = [10.0]
[link]
transfer_time = 1.0
"""

coordinates = st.floats(min_value=-1e9, max_value=1e9)


@pytest.fixture
def scenario_with_csv(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    path = tmp_path / "valley.toml"
    path.write_text(WITH_CSV)
    return path


def load_csv(path: Path, content: str) -> Scenario:
    (path.parent / "data" / "sensors.csv").write_text(content)
    return Scenario.load(path)


def csv_error(path: Path, content: str) -> str:
    with pytest.raises(InputError) as caught:
        load_csv(path, content)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(str(path.parent / "data" / "sensors.csv"))
    return message


@pytest.mark.parametrize("name", preset_names())
def test_toml_round_trip(name: str, tmp_path: Path) -> None:
    scenario = Scenario.preset(name, seed=5)
    scenario.save(tmp_path / "copy.toml")
    copy = Scenario.load(tmp_path / "copy.toml")
    assert copy == scenario
    assert copy.positions.tobytes() == scenario.positions.tobytes()
    assert copy.to_toml() == scenario.to_toml()


def test_the_text_is_what_an_independent_parser_reads() -> None:
    assert tomllib.loads(Scenario.preset("valley").to_toml())["fleet"] == {
        "speeds": [14.0, 10.0, 8.0],
        "budgets": ["15 kJ", "12 kJ", "8 kJ"],
    }


def test_generated_networks_stay_generated() -> None:
    network = tomllib.loads(Scenario.preset("paper").to_toml())["network"]
    assert network == {"area": [2000.0, 2000.0], "blocks": [5, 2], "clients_per_block": 4}


@settings(deadline=None)  # a busy machine is no failure
@given(
    st.lists(st.tuples(coordinates, coordinates), min_size=1, max_size=5),
    st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1),
)
def test_any_positions_and_ids_survive_bit_for_bit(
    clients: list[tuple[float, float]], label: str
) -> None:
    ids = [label, *(f"\\{label}'{i}\"" for i in range(1, len(clients)))]
    network = {"server": [0.0, -0.0], "clients": clients, "ids": ids}
    scenario = Scenario.preset("four").replace(network=network, name=label)
    copy = Scenario.from_dict(tomllib.loads(scenario.to_toml()))
    assert copy == scenario
    assert copy.positions.tobytes() == scenario.positions.tobytes()
    assert copy.client_ids == tuple(ids)


def test_csv_is_found_beside_the_scenario_and_becomes_part_of_it(scenario_with_csv: Path) -> None:
    text = "Y, id ,note,x\n2.5,7,near,1e3\n\n-4,weir,far,0.5\n1,007,,1\n"
    scenario = load_csv(scenario_with_csv, text)
    assert scenario.client_ids == (7, "weir", "007")
    assert scenario.positions.tolist() == [[0, 0], [1000, 2.5], [0.5, -4], [1, 1]]
    copy = Scenario.from_dict(tomllib.loads(scenario.to_toml()))
    assert copy == scenario
    assert np.array_equal(copy.positions, scenario.positions)


def test_csv_with_byte_order_mark_and_windows_line_ends(scenario_with_csv: Path) -> None:
    scenario = load_csv(scenario_with_csv, "\ufeffid,x,y\r\n1,2,3\r\n")
    assert scenario.positions[1].tolist() == [2.0, 3.0]


@pytest.mark.parametrize(
    ("content", "fragments"),
    [
        ("", ["line 1", 'column "id" is missing', "id,x,y"]),
        ("id,x,y\n", ["no clients", "at least one line"]),
        ("id,x\n1,2\n", ["line 1", 'column "y" is missing', '"id,x"']),
        ("id|x|y\n1|2|3\n", ["line 1", 'column "id" is missing', '"id|x|y"']),
        ("id,x,y,x\n1,2,3,4\n", ["line 1", 'column "x" stands twice']),
        ("id,x,y\n1,2,3\n2,abc,3\n", ["line 3", 'x = "abc"', "must be a finite number (m)"]),
        ("id,x,y\n1,2,nan\n", ["line 2", 'y = "nan"', "must be a finite number"]),
        ("id,x,y\n1,inf,3\n", ["line 2", 'x = "inf"', "must be a finite number"]),
        ("id,x,y\n1,1e999,3\n", ["line 2", 'x = "1e999"', "must be a finite number"]),
        ("id,x,y\n1,,3\n", ["line 2", 'x = ""', "must be a finite number"]),
        ("id,x,y\n1,2,1e12\n", ["line 2", 'y = "1e12"', "within +-1e+09 m"]),
        ("id,x,y\n1,2,3\n2,2,3\n1,5,6\n", ["line 4", "id = 1", "also on line 2", "each id once"]),
        ("id,x,y\n,2,3\n", ["line 2", 'id = ""', "printable"]),
        ("id,x,y\n1,2\n", ["line 2", "2 cells", "3 columns"]),
        ("id,x,y\n1,2,3,4\n", ["line 2", "4 cells", "3 columns"]),
        ('id,x,y\n"1,2,3\n', ["line 2", "not valid CSV"]),
    ],
)
def test_bad_csv(scenario_with_csv: Path, content: str, fragments: list[str]) -> None:
    message = csv_error(scenario_with_csv, content)
    assert [fragment for fragment in fragments if fragment not in message] == []


def test_missing_csv_names_scenario_key_and_file(scenario_with_csv: Path) -> None:
    with pytest.raises(InputError) as caught:
        Scenario.load(scenario_with_csv)
    csv = scenario_with_csv.parent / "data" / "sensors.csv"
    assert str(caught.value) == (
        f'{scenario_with_csv}: network.clients = "data/sensors.csv": '
        f"{csv}: no such file; check the name and the folder"
    )


def test_ids_beside_a_csv_file(scenario_with_csv: Path) -> None:
    text = WITH_CSV.replace("[fleet]", "ids = [1]\n[fleet]")
    scenario_with_csv.write_text(text)
    with pytest.raises(InputError, match=r"valley.toml: network.clients = .* remove network.ids"):
        Scenario.load(scenario_with_csv)


def test_scenario_with_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "four.toml"
    path.write_bytes(b"\xef\xbb\xbf" + preset_text("four").replace("\n", "\r\n").encode())
    assert Scenario.load(path) == Scenario.preset("four")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"seed = 0\nslot = \n", "not valid TOML: Invalid value (at line 2"),
        (b"seed = 0\nseed = 1\n", "not valid TOML: Cannot overwrite a value (at line 2"),
        (b'seed = 0\nname = "caf\xe9"\n', "line 2: not UTF-8 text; save the file as UTF-8"),
        (b"x = " + b"[" * 100_000, "not a scenario: brackets are nested too deeply"),
        (b"seed = " + b"9" * 5000, "not valid TOML: Exceeds the limit"),
    ],
)
def test_files_that_are_no_toml(tmp_path: Path, content: bytes, expected: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        Scenario.load(path)
    assert str(caught.value).startswith(f"{path}: {expected}")
    assert "\n" not in str(caught.value)


def test_missing_file_and_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere.toml: no such file; check the name"):
        Scenario.load(tmp_path / "nowhere.toml")
    with pytest.raises(InputError, match=r": is a folder; give the name of a file"):
        Scenario.load(tmp_path)
    with pytest.raises(InputError, match=r"cannot be read: embedded null byte"):
        Scenario.load("a\0b.toml")


def test_file_within_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"cannot be read: Not a directory"):
        Scenario.load(tmp_path / "file" / "x.toml")


def test_saving_where_it_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"copy.toml: cannot be written: No such file"):
        Scenario.preset("four").save(tmp_path / "nowhere" / "copy.toml")
