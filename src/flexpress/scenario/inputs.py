"""The files that a scenario names: clients, no-fly zones and distances are read into their keys.

The folder of the data set is not read here, but its name is made absolute: like the other names
it is relative to the scenario's file.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from math import prod
from pathlib import Path

from flexpress.errors import InputError
from flexpress.files.disk import decode, parse_toml, read_bytes, read_text
from flexpress.scenario.fields import is_geographic, label
from flexpress.scenario.geojson import parse_points, parse_polygons
from flexpress.scenario.kml import KML, parse_placemarks, parse_zones
from flexpress.scenario.matrix import parse_csv, parse_npy
from flexpress.scenario.sensors import parse_sensors
from flexpress.scenario.validation_errors import show_value

_GEOJSON = (".geojson", ".json")
_NUMPY = ".npy"
_BESIDE = {"clients": ("ids", "names", "altitudes"), "no_fly": ("no_fly_names",)}
"""Further keys that come from the file which the key names."""

_Table = Mapping[str, object]


def input_files(path: Path) -> list[Path]:
    """The scenario's file, and the files that it names."""
    network = parse_toml(read_text(path), str(path)).get("network")
    names = network.values() if isinstance(network, Mapping) else ()
    return [path, *(path.parent / name for name in names if isinstance(name, str))]


def read_inputs(data: _Table, base_dir: Path, source: str) -> _Table:
    """The scenario's data, with the names of files replaced by their contents."""
    data = _place_data_dir(data, base_dir)
    network = data.get("network")
    if not isinstance(network, Mapping):
        return data
    for key, read in (("clients", _clients), ("no_fly", _zones), ("distances", _distances)):
        name = network.get(key)
        if isinstance(name, str):
            where = f"{source}: network.{key} = {show_value(name)}"
            _check_alone(key, network, where)
            path, content = _open(name, base_dir, where)
            network = {**network, **read(path, content, network)}
    return {**data, "network": network}


def _place_data_dir(data: _Table, base_dir: Path) -> _Table:
    """Make `learning.data_dir` absolute; wrong values are reported later."""
    learning = data.get("learning")
    if not isinstance(learning, Mapping):
        return data
    try:
        path = Path(os.path.expanduser(label(learning.get("data_dir"))))
    except ValueError:
        return data
    absolute = (base_dir / path).absolute()
    return {**data, "learning": {**learning, "data_dir": str(absolute)}}


def _open(name: str, base_dir: Path, where: str) -> tuple[Path, bytes]:
    try:
        path = base_dir / label(name)
        return path, read_bytes(path)
    except (InputError, ValueError) as error:
        raise InputError(f"{where}: {error}") from None


def _check_alone(key: str, network: _Table, where: str) -> None:
    for other in _BESIDE.get(key, ()):
        if other in network:
            raise InputError(f"{where}: the {other} stand in that file; remove network.{other}")


def _clients(path: Path, content: bytes, network: _Table) -> _Table:
    geographic = is_geographic(network.get("server"))
    if path.suffix.lower() in KML:
        _check_degrees(path, geographic)
        return parse_placemarks(content, str(path))
    parse = parse_points if path.suffix.lower() in _GEOJSON else parse_sensors
    return parse(decode(content, path), str(path), geographic)


def _zones(path: Path, content: bytes, network: _Table) -> _Table:
    geographic = is_geographic(network.get("server"))
    if path.suffix.lower() in KML:
        _check_degrees(path, geographic)
        return parse_zones(content, str(path))
    return parse_polygons(decode(content, path), str(path), geographic)


def _check_degrees(path: Path, geographic: bool) -> None:
    if not geographic:
        raise InputError(f"{path}: is in degrees, but network.server is [x, y] in metres")


def _distances(path: Path, content: bytes, network: _Table) -> _Table:
    if path.suffix.lower() == _NUMPY:
        return {"distances": parse_npy(content, str(path))}
    return {"distances": parse_csv(decode(content, path), str(path), _ids(network))}


def _ids(network: _Table) -> Sequence[object]:
    """The ids that the scenario will have, if its keys about clients are valid."""
    ids, clients = network.get("ids"), network.get("clients")
    if isinstance(ids, list | tuple):
        return ids
    if isinstance(clients, list | tuple):
        return range(1, len(clients) + 1)
    blocks, each = network.get("blocks"), network.get("clients_per_block")
    sizes = [*blocks, each] if isinstance(blocks, list | tuple) else [each]
    return range(1, prod(size if isinstance(size, int) else 0 for size in sizes) + 1)
